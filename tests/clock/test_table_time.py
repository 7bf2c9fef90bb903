"""Deadlines are in the tables' time; the clock learns from events how far that is from its own."""

from spades_clock.table_time import LEAD_MS_MAX, WINDOW_MS, TableTime

HOUR_MS = 3_600_000


def test_without_an_event_both_clocks_are_taken_for_equal() -> None:
    assert TableTime().at_tables(1_000) == 1_000
    assert TableTime().here(1_000) == 1_000


def test_tables_whose_clock_is_ahead_are_timed_by_their_own() -> None:
    # Our machine's clock was set back an hour, and we restarted since.
    time = TableTime()
    time.learn(read_ms=5, made_ms=HOUR_MS)
    assert time.here(HOUR_MS + 90_000) == 5 + 90_000


def test_a_clock_ahead_of_the_tables_waits_for_them() -> None:
    time = TableTime()
    for read_ms in range(0, 2 * WINDOW_MS, 1_000):
        time.learn(read_ms=read_ms + 12, made_ms=read_ms)
    assert time.here(90_000) == 90_012
    assert time.at_tables(90_012) == 90_000


def test_an_old_event_is_a_backlog_and_no_lead() -> None:
    time = TableTime()
    time.learn(read_ms=60_000, made_ms=0)
    assert time.lead_ms == 0
    time.learn(read_ms=60_001 + WINDOW_MS, made_ms=1)
    assert time.lead_ms == LEAD_MS_MAX


def test_the_least_difference_of_late_counts() -> None:
    time = TableTime()
    for travel_ms in (9, 4, 30, 2, 7):
        time.learn(read_ms=1_000 + travel_ms, made_ms=1_000)
    time.learn(read_ms=1_000 + WINDOW_MS + 20, made_ms=1_000 + WINDOW_MS)
    assert time.lead_ms == 2


def test_the_tables_clock_may_step_both_ways() -> None:
    time = TableTime()
    time.learn(read_ms=0, made_ms=HOUR_MS)
    assert time.lead_ms == -HOUR_MS
    for read_ms in range(WINDOW_MS, 4 * WINDOW_MS, WINDOW_MS // 2):
        time.learn(read_ms=read_ms, made_ms=read_ms - 3)
    assert time.lead_ms == 3
