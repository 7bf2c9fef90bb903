"""A draft: the facts that one cause brings, as they are told, and the table after each of them."""

from typing import NamedTuple, TypeVar

import spades_rules as rules
from spades_events.events import DeadlineSet, TableEvent
from spades_events.values import DeadlineKind
from spades_table.evolving import evolve
from spades_table.facts import Fact
from spades_table.phases import Opened, Seating, Seeds, Starting, Table
from spades_table.seats import Reserved

Phase = TypeVar("Phase")


class Decision(NamedTuple):
    """What one cause brings: its facts in order, and the table that they make."""

    facts: tuple[Fact, ...]
    table: Table
    before_deal: Table | None = None
    """The table just before the hand that these facts deal: what a snapshot keeps."""


class Draft:
    """Facts told so far, the table they make, and the time at which all of them happen."""

    __slots__ = ("before_deal", "facts", "now_ms", "table")

    def __init__(self, table: Table, now_ms: int) -> None:
        self.table: Table = table
        self.now_ms = now_ms
        self.facts: list[Fact] = []
        self.before_deal: Table | None = None

    def tell(self, event: TableEvent, secret: bytes | None = None, cause: rules.Event | None = None) -> None:
        self.tell_fact(Fact(event, secret, cause))

    def tell_fact(self, fact: Fact) -> None:
        self.facts.append(fact)
        self.table = evolve(self.table, fact)

    def at(self, phase: type[Phase]) -> Phase:
        """The table, which the caller knows to be in this phase."""
        assert isinstance(self.table, phase), f"{type(self.table).__name__} is no {phase.__name__}"
        return self.table

    def set_deadline(self, due_ms: int, kind: DeadlineKind) -> None:
        """A new earliest deadline; its id is its own version."""
        version = self.table.version + 1
        self.tell(DeadlineSet(deadline_id=version, due_ms=due_ms, kind=kind))

    def keep_deadline(self, due_ms: int, kind: DeadlineKind) -> None:
        """Set the earliest deadline, unless just this one runs already."""
        running = self.table.deadline
        if running is None or running.due_ms != due_ms or running.kind is not kind:
            self.set_deadline(due_ms, kind)

    def decision(self) -> Decision:
        return Decision(tuple(self.facts), self.table, self.before_deal)


def waits(table: Opened) -> list[tuple[int, DeadlineKind]]:
    """Every wait of a table before its game, by due time."""
    match table:
        case Seating():
            due = [(chair.due_ms, DeadlineKind.RESERVATION) for chair in table.chairs if isinstance(chair, Reserved)]
            if table.closing_ms is not None:
                due.append((table.closing_ms, DeadlineKind.CLOSING))
            return sorted(due)
        case Starting():
            due = [(table.start_due_ms, DeadlineKind.START)]
            if not isinstance(table.seeding, Seeds):
                due.append((table.seeds_due_ms, DeadlineKind.SEEDS))
            return sorted(due)
        case _:
            return []
