"""What the stack on this machine gave a service, for that service's commands: they need no address then."""

import json
import os
from collections.abc import MutableMapping
from pathlib import Path
from typing import Final

GIVEN: Final = "given.json"


def adopt(service: str, needed: str, environ: MutableMapping[str, str] = os.environ) -> bool:
    """Take the settings of `service` from the stack that runs here, unless `needed` is set; whether it is now.

    All or none: half of somebody's own settings beside half of the stack's would name a third thing.
    """
    if environ.get(needed):
        return True
    file = Path(environ.get("SPADES_STATE_DIR") or ".spades").expanduser() / GIVEN
    try:
        given = json.loads(file.read_bytes())[service]
        environ.update({str(name): str(value) for name, value in given.items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    return bool(environ.get(needed))
