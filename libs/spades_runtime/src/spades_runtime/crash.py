"""Named points at which a test kills the process: `CRASH_AT=after_commit:3` dies at the third passage."""

import os
import signal
from collections import Counter

VARIABLE = "CRASH_AT"

_passages: Counter[str] = Counter()
_name, _, _nth = os.environ.get(VARIABLE, "").partition(":")
_wanted = int(_nth or 1)


def crash_at(name: str) -> None:
    """Die here by SIGKILL if the environment says so; without effect otherwise."""
    if name == _name:
        _passages[name] += 1
        if _passages[name] == _wanted:
            os.kill(os.getpid(), signal.SIGKILL)
