"""What the supervisor needs to know of a program to run it."""

import re
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass


def only(shown: re.Pattern[str]) -> Callable[[str], str | None]:
    """Tell the lines in which `shown` is found, as they are."""
    return lambda line: line if shown.search(line) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """One child process: how to start it, tell that it is ready, and stop it."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    ready: Callable[[], Awaitable[bool]]
    uid: int | None = None
    gid: int | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    # Stopped before all others: a command that comes in while they stop would wait for nobody.
    faces_people: bool = False
    ready_limit_s: float = 60.0
    stop_limit_s: float = 15.0
    # What a person is told of a line, or None; all lines are in its log file.
    told: Callable[[str], str | None] = str
    port: int | None = None
