"""A fact: one public event of a table, with what only the table itself may read of it."""

from typing import NamedTuple

import spades_rules as rules
from spades_events.events import TableEvent


class Fact(NamedTuple):
    """`secret` is stored sealed: the chain's root, an opened seed, the cards of a swap."""

    event: TableEvent
    secret: bytes | None = None
    cause: rules.Event | None = None
    """The rules' own form of the event, at hand while it is new; never stored."""

    def __repr__(self) -> str:
        # A secret, and hands in a cause, stay out of every log and error text.
        return f"<Fact {type(self.event).__name__}>"


class CorruptStream(Exception):
    """A bug: an event that cannot follow its table. The text names kinds only, never a card."""


def corrupt(table: object, event: object) -> CorruptStream:
    """Return the error for an event that cannot follow a table."""
    return CorruptStream(f"{type(event).__name__} cannot follow {type(table).__name__}")
