"""What time it is at the tables: how far their clock is from ours, learned from their events.

Deadlines are in the time of the table service, whose clock need not be ours: another machine, or
this one before somebody set its clock. An event made at `made_ms` there and read at `read_ms` here
took some time to come, never less than none. So the smallest difference of late is our lead
over the tables, and a little travel time.
"""

from typing import Final

LEAD_MS_MAX: Final = 40
"""A greater difference is taken for a backlog, not for a lead: a timeout waits no longer than this for it.
Should our clock really be that far ahead, the table refuses what comes too early and gets it again."""

WINDOW_MS: Final = 30_000


class TableTime:
    """The tables' clock of one partition, beside ours."""

    def __init__(self) -> None:
        self._lead_ms = 0
        self._window_least_ms: int | None = None
        self._window_ends_ms = 0

    def learn(self, *, read_ms: int, made_ms: int) -> None:
        """Take an event's time of making and of reading into account."""
        difference_ms = read_ms - made_ms
        if self._window_least_ms is None or read_ms >= self._window_ends_ms:
            if self._window_least_ms is not None:
                self._lead_ms = self._window_least_ms
            self._window_least_ms = difference_ms
            self._window_ends_ms = read_ms + WINDOW_MS
        self._window_least_ms = min(self._window_least_ms, difference_ms)

    @property
    def lead_ms(self) -> int:
        """How far our clock is ahead of the tables'; negative where theirs is ahead of ours."""
        least_ms = self._lead_ms
        if self._window_least_ms is not None:
            least_ms = min(least_ms, self._window_least_ms)
        return min(least_ms, LEAD_MS_MAX)

    def at_tables(self, now_ms: int) -> int:
        """Our time as the tables' clock shows it."""
        return now_ms - self.lead_ms

    def here(self, tables_ms: int) -> int:
        """A time of the tables' as our clock shows it."""
        return tables_ms + self.lead_ms
