"""A deadline runs until the table sets another one or ends; it fires on time, and again each second."""

from hypothesis import given
from hypothesis import strategies as st

from spades_clock.domain import REPEAT_MS, ClockedEvent, Firing, Timer, Timers
from spades_events.clock import TimedOut
from spades_events.events import ClockExtended, DeadlineSet, GameEnded, GameSettled, SeatResult, TableCancelled
from spades_events.values import DeadlineKind

SEATS = tuple(SeatResult(seat=seat, account_id="bot", reservation_id=None) for seat in range(4))
ENDED = GameEnded(winner=0, reason="target", scores=(510, 300), hands=9, stake_coins=0, seats=SEATS)
CANCELLED = TableCancelled(reason="not_started", stake_coins=0, seats=())
SETTLED = GameSettled(payouts=())


def deadline(deadline_id: int, due_ms: int) -> DeadlineSet:
    return DeadlineSet(deadline_id=deadline_id, due_ms=due_ms, kind=DeadlineKind.TURN)


def extended(deadline_id: int, due_ms: int) -> ClockExtended:
    return ClockExtended(
        outage_ms=5_000,
        deadline_id=deadline_id,
        due_ms=due_ms,
        kind=DeadlineKind.TURN,
        turn_id="1:1",
        turn_deadline_ms=due_ms,
    )


NO_DEADLINE = DeadlineSet(deadline_id=None, due_ms=None, kind=None)


def fired(table: str, deadline_id: int, due_ms: int, *, is_first: bool = True) -> Firing:
    return Firing(table_id=table, event=TimedOut(deadline_id=deadline_id, due_ms=due_ms), is_first=is_first)


def after(*history: tuple[str, int, ClockedEvent]) -> Timers:
    timers = Timers()
    for table, version, event in history:
        timers.react(table, version, event)
    return timers


def test_a_deadline_fires_at_its_moment_and_never_before() -> None:
    timers = after(("t", 5, deadline(5, 1_000)))
    assert timers.next_due_ms() == 1_000
    assert timers.due(999) == ()
    assert timers.due(1_000) == (fired("t", 5, 1_000),)


def test_a_deadline_that_nobody_answers_fires_again_each_second() -> None:
    timers = after(("t", 5, deadline(5, 1_000)))
    assert timers.due(1_003) == (fired("t", 5, 1_000),)
    assert timers.next_due_ms() == 1_003 + REPEAT_MS
    assert timers.due(2_002) == ()
    assert timers.due(2_003) == (fired("t", 5, 1_000, is_first=False),)
    assert timers.due(60_000) == (fired("t", 5, 1_000, is_first=False),)


def test_the_earliest_deadline_fires_first() -> None:
    timers = after(("a", 5, deadline(5, 3_000)), ("b", 7, deadline(7, 1_000)), ("c", 2, deadline(2, 2_000)))
    assert [firing.table_id for firing in timers.due(5_000)] == ["b", "c", "a"]


def test_the_next_deadline_replaces_the_one_before_earlier_or_later() -> None:
    for due_ms in (500, 9_000):
        timers = after(("t", 5, deadline(5, 1_000)), ("t", 9, deadline(9, due_ms)))
        assert timers.due(due_ms - 1) == ()
        assert timers.due(due_ms) == (fired("t", 9, due_ms),)


def test_a_deadline_that_fired_and_was_replaced_is_silent() -> None:
    timers = after(("t", 5, deadline(5, 1_000)))
    timers.due(1_000)
    timers.react("t", 6, deadline(6, 90_000))
    assert timers.due(2_000) == ()
    assert timers.next_due_ms() == 90_000


def test_time_given_back_counts_as_a_new_deadline() -> None:
    timers = after(("t", 5, deadline(5, 1_000)), ("t", 6, extended(6, 6_000)))
    assert timers.due(5_999) == ()
    assert timers.due(6_000) == (fired("t", 6, 6_000),)


def test_a_table_where_none_runs_is_known_and_silent() -> None:
    timers = after(("t", 5, deadline(5, 1_000)), ("t", 6, NO_DEADLINE))
    assert timers.due(10**15) == ()
    assert timers.next_due_ms() is None
    assert timers.timer("t") == Timer(table_id="t", version=6, deadline_id=None, due_ms=None)


def test_the_end_of_a_table_forgets_it() -> None:
    for end in (ENDED, CANCELLED, SETTLED):
        timers = after(("t", 5, deadline(5, 1_000)), ("t", 6, end))
        assert timers.due(10**15) == ()
        assert timers.timer("t") is None
        assert len(timers) == 0


def test_an_ended_coin_table_may_still_set_deadlines_until_it_is_settled() -> None:
    timers = after(("t", 5, deadline(5, 1_000)), ("t", 6, ENDED), ("t", 7, deadline(7, 3_000)))
    assert timers.due(3_000) == (fired("t", 7, 3_000),)
    assert timers.react("t", 8, SETTLED)
    assert timers.due(10**15) == ()


def test_an_event_read_twice_has_one_effect() -> None:
    history = [("t", 5, deadline(5, 1_000)), ("t", 8, deadline(8, 2_000)), ("t", 9, extended(9, 4_000))]
    once, twice = Timers(), Timers()
    for table, version, event in history:
        assert once.react(table, version, event)
        assert twice.react(table, version, event)
        assert not twice.react(table, version, event)
    for table, version, event in history:
        assert not twice.react(table, version, event)
    assert once.due(10_000) == twice.due(10_000) == (fired("t", 9, 4_000),)


def test_a_stream_read_again_from_its_start_ends_where_it_ended() -> None:
    history = [("t", 5, deadline(5, 1_000)), ("t", 6, ENDED)]
    timers = after(*history, *history)
    assert timers.timer("t") is None


def test_overdue_deadlines_fire_at_once_after_a_restart() -> None:
    timers = Timers((Timer(table_id="t", version=5, deadline_id=5, due_ms=1_000),))
    assert timers.next_due_ms() == 1_000
    assert timers.due(70_000) == (fired("t", 5, 1_000),)
    assert timers.due(70_000) == ()


def test_replaced_deadlines_do_not_pile_up() -> None:
    timers = Timers()
    for version in range(1, 50_000):
        timers.react("t", version, deadline(version, 10**9 + version))
    assert len(timers._heap) < 2_000
    assert timers.due(10**9 + 60_000) == (fired("t", 49_999, 10**9 + 49_999),)


TABLES = st.sampled_from(["a", "b", "c"])
STEPS = st.lists(
    st.tuples(TABLES, st.sampled_from(["set", "set", "extend", "none", "end"]), st.integers(0, 5_000)), max_size=60
)


@given(STEPS, st.integers(0, 5_000))
def test_what_fires_is_what_a_plain_list_would_find(steps: list[tuple[str, str, int]], now_ms: int) -> None:
    timers = Timers()
    model: dict[str, tuple[int, int]] = {}
    for version, (table, step, due_ms) in enumerate(steps, start=1):
        match step:
            case "set" | "extend":
                timers.react(table, version, (deadline if step == "set" else extended)(version, due_ms))
                model[table] = (due_ms, version)
            case "none":
                timers.react(table, version, NO_DEADLINE)
                model.pop(table, None)
            case _:
                timers.react(table, version, ENDED)
                model.pop(table, None)
    expected = sorted((due_ms, table, version) for table, (due_ms, version) in model.items())
    assert timers.next_due_ms() == (expected[0][0] if expected else None)
    assert timers.due(now_ms) == tuple(fired(t, version, due) for due, t, version in expected if due <= now_ms)
    rebuilt = Timers(tuple(timer for table in "abc" if (timer := timers.timer(table)) is not None))
    assert rebuilt.due(10_000) == tuple(fired(t, version, due) for due, t, version in expected)
