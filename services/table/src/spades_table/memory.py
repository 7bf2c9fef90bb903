"""Memory: the live tables of the taken partitions, the last answers, a poll's overlay on both."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from spades_events.clock import TimedOut
from spades_runtime import Answer, AnswerId
from spades_table.phases import Ended, Opened

ANSWERS_KEPT_MAX: Final = 20_000
"""Answers in memory, so that a repeated command costs no query; the database has all of them."""


class Answered(NamedTuple):
    """What a command got, without its events."""

    fingerprint: bytes
    first_version: int
    last_version: int
    refusal: bytes | None


def answered_of(answer: Answer) -> Answered:
    last = answer.first_version + len(answer.events) - 1
    return Answered(answer.fingerprint, answer.first_version, last, answer.refusal)


class Waiting(NamedTuple):
    """A timeout that was put off to the next poll."""

    part: int
    table_id: str
    timeout: TimedOut


@dataclass(slots=True)
class _Overlay:
    tables: dict[tuple[int, str], Opened] = field(default_factory=dict)
    answered: dict[AnswerId, Answered] = field(default_factory=dict)
    waiting: list[Waiting] | None = None
    """The timeouts that wait from now on; None: those that waited before."""
    unreadable: set[tuple[int, str]] | None = None


class Memory:
    """Reads see the overlay first; `committed` merges it, `discard` drops it."""

    def __init__(self) -> None:
        self._live: dict[int, dict[str, Opened]] = {}
        # Ordered: the first key of a plain dict is behind the holes of all that were forgotten before it.
        self._answered: OrderedDict[AnswerId, Answered] = OrderedDict()
        self._waiting: list[Waiting] = []
        self._unreadable: set[tuple[int, str]] = set()
        self._corrupt: dict[int, set[str]] = {}
        self._new = _Overlay()

    # partitions

    def take(self, part: int, tables: dict[str, Opened]) -> None:
        self.drop(part)
        self._live[part] = tables

    def drop(self, part: int) -> None:
        self._live.pop(part, None)
        self._corrupt.pop(part, None)
        self._waiting = [one for one in self._waiting if one.part != part]
        self._unreadable = {one for one in self._unreadable if one[0] != part}
        self._new = _Overlay()

    def note_corrupt(self, part: int, table_id: str) -> None:
        self._corrupt.setdefault(part, set()).add(table_id)

    def note_unreadable(self, part: int, table_id: str) -> None:
        self._unreadable.add((part, table_id))

    def is_corrupt(self, part: int, table_id: str) -> bool:
        return table_id in self._corrupt.get(part, ())

    # tables

    def table(self, part: int, table_id: str) -> Opened | None:
        """The table as the poll has made it so far; None where it is not in memory."""
        changed = self._new.tables.get((part, table_id))
        if changed is not None:
            return changed
        live = self._live.get(part)
        return None if live is None else live.get(table_id)

    def is_unknown(self, part: int, table_id: str) -> bool:
        """Whether only the store can say what has become of the table, if there was one."""
        return self.table(part, table_id) is None and not self.is_corrupt(part, table_id)

    def put(self, part: int, table_id: str, table: Opened) -> None:
        self._new.tables[part, table_id] = table

    def tables_of(self, part: int) -> Iterator[tuple[str, Opened]]:
        """Every live table of a partition, as it was before this poll."""
        return iter(list(self._live.get(part, {}).items()))

    @property
    def live(self) -> int:
        return sum(len(tables) for tables in self._live.values())

    # answers

    def answered(self, answer_id: AnswerId) -> Answered | None:
        found = self._new.answered.get(answer_id)
        return self._answered.get(answer_id) if found is None else found

    def note_answer(self, answer: Answer) -> None:
        self._new.answered[answer.id] = answered_of(answer)

    def recall(self, answers: Iterable[Answer]) -> None:
        """Stored answers that were not in memory; no overlay, for they are durable."""
        for answer in answers:
            self._answered[answer.id] = answered_of(answer)
        self._forget_oldest()

    # what the next poll does first

    @property
    def waiting(self) -> list[Waiting]:
        return self._waiting if self._new.waiting is None else self._new.waiting

    def wait(self, waiting: list[Waiting]) -> None:
        self._new.waiting = waiting

    @property
    def unreadable(self) -> list[tuple[int, str]]:
        """Tables that have to be cancelled, because their cards cannot be read."""
        found = self._unreadable if self._new.unreadable is None else self._new.unreadable
        return sorted(found)

    def cancelled_unreadable(self) -> None:
        self._new.unreadable = set()

    # what becomes of the poll

    def committed(self) -> None:
        new = self._new
        for (part, table_id), table in new.tables.items():
            live = self._live.get(part)
            if live is None:
                continue
            if isinstance(table, Ended) and table.settled:
                live.pop(table_id, None)
            else:
                live[table_id] = table
        if new.answered:
            self._answered.update(new.answered)
            self._forget_oldest()
        if new.waiting is not None:
            self._waiting = new.waiting
        if new.unreadable is not None:
            self._unreadable = new.unreadable
        self._new = _Overlay()

    def discard(self) -> None:
        self._new = _Overlay()

    def _forget_oldest(self) -> None:
        while len(self._answered) > ANSWERS_KEPT_MAX:
            self._answered.popitem(last=False)
