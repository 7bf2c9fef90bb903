"""What the supervisor needs to know of a program to run it."""

import re
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field


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
    # Which of its lines a person wants to see; all of them are in its log file.
    shown: re.Pattern[str] = field(default=re.compile(""))
    port: int | None = None
