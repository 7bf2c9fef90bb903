"""What a verification finds.

ReplayError
├── Illegal       the record breaks a rule, a proof or the counting of its events
└── NoSource      the records cannot be read from where they are said to be
"""

from typing import NamedTuple


class ReplayError(Exception):
    """Root of everything raised here on purpose."""


class Illegal(ReplayError):
    """This event cannot stand where it stands; the text says why."""


class NoSource(ReplayError):
    """The source is not there, or not one we know."""


class Fault(NamedTuple):
    """One thing that is wrong: in which stream, at which version, in which hand, and what."""

    stream: str
    version: int
    hand_no: int
    text: str

    def __str__(self) -> str:
        hand = f" hand {self.hand_no}" if self.hand_no else ""
        return f"{self.stream}{hand} (event {self.version}): {self.text}"
