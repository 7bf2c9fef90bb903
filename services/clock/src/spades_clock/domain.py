"""The running deadlines of one partition's tables, and what is due of them.

No time is read here: `now_ms` comes in, in the tables' own time.
"""

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Final, assert_never

from spades_events.clock import TimedOut
from spades_events.events import ClockExtended, DeadlineSet, GameEnded, GameSettled, TableCancelled

REPEAT_MS: Final = 1_000
"""A deadline that the table has not answered fires again."""

SLACK_ENTRIES: Final = 1_024
"""Replaced deadlines stay in the heap until there are more of them than running ones, and this many."""

ClockedEvent = DeadlineSet | ClockExtended | TableCancelled | GameEnded | GameSettled
"""All that moves a deadline; the clock passes over everything else."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Timer:
    """What is known of one table: its running deadline, or that none runs, as of `version` of its stream."""

    table_id: str
    version: int
    deadline_id: int | None
    due_ms: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Firing:
    """One timeout to publish."""

    table_id: str
    event: TimedOut
    is_first: bool = True
    """Whether this deadline has not fired before, as far as is known since the partition was taken."""


class Timers:
    """The timers of a partition. Deterministic: the same calls give the same firings in the same order."""

    def __init__(self, timers: tuple[Timer, ...] = ()) -> None:
        self._timers = {timer.table_id: timer for timer in timers}
        self._heap: list[tuple[int, str, int]] = []
        """(when it fires next, table, deadline); of replaced deadlines too."""
        self._rebuild_heap()

    def __len__(self) -> int:
        return len(self._timers)

    def timer(self, table_id: str) -> Timer | None:
        """The table's timer; None where the table is unknown or has ended."""
        return self._timers.get(table_id)

    def react(self, table_id: str, version: int, event: ClockedEvent) -> bool:
        """Fold one event; whether it changed the timer. What was folded before changes nothing."""
        known = self._timers.get(table_id)
        if known is not None and version <= known.version:
            return False
        match event:
            case DeadlineSet() | ClockExtended():
                self._set(Timer(table_id=table_id, version=version, deadline_id=event.deadline_id, due_ms=event.due_ms))
                return True
            case TableCancelled() | GameEnded() | GameSettled():
                return self._timers.pop(table_id, None) is not None
            case never:
                assert_never(never)

    def due(self, now_ms: int) -> tuple[Firing, ...]:
        """The deadlines passed at `now_ms`, the earliest first; each comes again REPEAT_MS later while it runs."""
        firings = []
        while self._heap and self._heap[0][0] <= now_ms:
            fires_ms, table_id, deadline_id = heappop(self._heap)
            timer = self._timers.get(table_id)
            if timer is None or timer.deadline_id != deadline_id or timer.due_ms is None:
                continue
            event = TimedOut(deadline_id=deadline_id, due_ms=timer.due_ms)
            firings.append(Firing(table_id=table_id, event=event, is_first=fires_ms == timer.due_ms))
            heappush(self._heap, (now_ms + REPEAT_MS, table_id, deadline_id))
        return tuple(firings)

    def next_due_ms(self) -> int | None:
        """When `due` has something to say next, unless an event comes before."""
        while self._heap:
            due_ms, table_id, deadline_id = self._heap[0]
            timer = self._timers.get(table_id)
            if timer is not None and timer.deadline_id == deadline_id:
                return due_ms
            heappop(self._heap)
        return None

    def _set(self, timer: Timer) -> None:
        self._timers[timer.table_id] = timer
        if timer.deadline_id is not None and timer.due_ms is not None:
            heappush(self._heap, (timer.due_ms, timer.table_id, timer.deadline_id))
            if len(self._heap) > 2 * len(self._timers) + SLACK_ENTRIES:
                self._rebuild_heap()

    def _rebuild_heap(self) -> None:
        # A deadline that fired already fires once more at once: a repetition has no effect.
        self._heap = [
            (timer.due_ms, timer.table_id, timer.deadline_id)
            for timer in self._timers.values()
            if timer.deadline_id is not None and timer.due_ms is not None
        ]
        heapify(self._heap)
