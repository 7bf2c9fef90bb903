"""Which lines of a service a person at the terminal is told, and in which words."""

import json
import time
from collections.abc import Callable

TOLD_LEVELS = ("warning", "error", "critical")
# An outage is one line a service, not one a partition or a second; all of them are in the log file.
REPEATED_EVERY_S = 10.0
SAID_OTHERWISE = frozenset({"event", "level", "timestamp", "service", "member", "exception"})


class Telling:
    """Turns a line of a service's log into what is told, or into None."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._told_s: dict[str, float] = {}

    def __call__(self, line: str) -> str | None:
        """Words for a warning or an error, the line as it is where it is no structured one."""
        try:
            said = json.loads(line)
        except ValueError:
            return line
        if not isinstance(said, dict) or "event" not in said:
            return line
        if said.get("level") not in TOLD_LEVELS or self._was_just_told(str(said["event"])):
            return None
        keys = " ".join(f"{name}={value}" for name, value in said.items() if name not in SAID_OTHERWISE)
        error = str(said.get("exception", "")).strip().rpartition("\n")[2]
        return " ".join(part for part in (f"{said['level']}: {said['event']}", keys, error) if part)

    def _was_just_told(self, event: str) -> bool:
        now_s = self._now_s()
        if now_s - self._told_s.get(event, -REPEATED_EVERY_S) < REPEATED_EVERY_S:
            return True
        self._told_s[event] = now_s
        return False
