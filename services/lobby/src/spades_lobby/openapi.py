"""The REST interface as an OpenAPI document: `python -m spades_lobby.openapi` writes it."""

import sys
from pathlib import Path
from typing import Any, Final

from spades_events.asyncapi import text_of
from spades_lobby.rest.public import interface

FILE: Final = Path(__file__).with_name("openapi.json")


def document() -> dict[str, Any]:
    """The document as `/v1/openapi.json` gives it."""
    return interface().openapi()


def main() -> int:
    FILE.write_text(text_of(document()), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
