"""What a client may be told instead of what it asked for.

SpadesError
├── Refused            the gateway says no to a request, and would say no again
├── Rejected           the table says no to a command, by the rules or by its state
├── NoAnswer           nobody said anything for so long that asking on makes no sense
└── PlayedElsewhere    the same person plays this seat on a newer connection
"""

from typing import Any


class SpadesError(Exception):
    """Any of them."""


class Refused(SpadesError):
    """A problem as of RFC 9457; `code` is its slug."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(f"{status} {problem.get('code')}: {problem.get('message')}")
        self.status = status
        self.code = str(problem.get("code"))
        self.problem = problem


class Rejected(SpadesError):
    """A `command_rejected`; `frame` has what to show beside its code."""

    def __init__(self, kind: str, frame: dict[str, Any]) -> None:
        super().__init__(f"{kind}: {frame.get('code')}: {frame.get('message')}")
        self.code = str(frame.get("code"))
        self.frame = frame


class NoAnswer(SpadesError):
    """However often it was asked."""


class PlayedElsewhere(SpadesError):
    """The newest connection plays; here one could only watch."""
