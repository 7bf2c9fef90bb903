"""The clock's processor: what it folds, what it fires, what it saves, and what holds up a stream."""

import pytest

from spades_clock.domain import Timer
from spades_clock.handlers import Deadlines, Partition
from spades_events import CE_TYPES, Envelope, encode, envelope_of, headers_of
from spades_events.clock import TimedOut
from spades_events.events import BidMade, DeadlineSet, TableEvent
from spades_events.values import DeadlineKind
from spades_runtime import Database, Input, Output, Poll

NO_DATABASE: Database = None  # type: ignore[assignment]
HOUR_MS = 3_600_000


def deadline(deadline_id: int, due_ms: int) -> DeadlineSet:
    return DeadlineSet(deadline_id=deadline_id, due_ms=due_ms, kind=DeadlineKind.TURN)


def told(table: str, version: int, event: TableEvent, *, made_ms: int, part: int = 0, body: bytes = b"") -> Input:
    envelope = Envelope(
        id=f"{table}:{version}",
        type=CE_TYPES[type(event)],
        source="/spades/table",
        subject=table,
        sequence=version,
        time_ms=made_ms,
    )
    return Input("table.events", part, version, table.encode(), body or encode(event), headers_of(envelope))


def owning(*parts: int, timers: tuple[Timer, ...] = ()) -> Deadlines:
    processor = Deadlines()
    for part in parts:
        processor._partitions[part] = Partition(timers)
    return processor


async def fired(processor: Deadlines, now_ms: int, *inputs: Input) -> list[Output]:
    effects = await processor.process(Poll(list(inputs), now_ms), NO_DATABASE)
    assert effects.quarantined == []
    processor.committed()
    return effects.outputs


async def test_a_deadline_comes_back_as_a_timeout_of_its_table_on_its_partition() -> None:
    processor = owning(0, 3)
    assert await fired(processor, 1_000, told("t", 5, deadline(5, 91_000), made_ms=1_000, part=3)) == []
    assert processor.next_due_ms() == 91_000
    (output,) = await fired(processor, 91_002)
    assert (output.topic, output.part, output.key) == ("clock.events", 3, "t")
    assert output.value == encode(TimedOut(deadline_id=5, due_ms=91_000))
    envelope = envelope_of(output.headers)
    assert (envelope.id, envelope.subject, envelope.time_ms) == ("t:5", "t", 91_002)
    assert envelope.source == "/spades/clock"


async def test_a_repetition_has_the_same_id() -> None:
    processor = owning(0)
    await fired(processor, 0, told("t", 5, deadline(5, 1_000), made_ms=0))
    first = await fired(processor, 1_000)
    again = await fired(processor, 2_000)
    assert [envelope_of(output.headers).id for output in first + again] == ["t:5", "t:5"]


async def test_a_deadline_that_the_same_poll_replaces_is_silent() -> None:
    processor = owning(0)
    await fired(processor, 0, told("t", 5, deadline(5, 1_000), made_ms=0))
    assert await fired(processor, 1_000, told("t", 9, deadline(9, 91_000), made_ms=999)) == []


async def test_no_deadline_fires_early_whatever_the_moment_of_the_poll() -> None:
    processor = owning(0)
    inputs = [told(f"t{n}", 5, deadline(5, 1_000 + 7 * n), made_ms=0) for n in range(300)]
    await fired(processor, 0, *inputs)
    seen: dict[str, int] = {}
    for now_ms in range(0, 4_000, 13):
        for output in await fired(processor, now_ms):
            seen.setdefault(output.key, now_ms)
    assert len(seen) == 300
    lateness_ms = [seen[f"t{n}"] - (1_000 + 7 * n) for n in range(300)]
    assert min(lateness_ms) >= 0
    assert max(lateness_ms) < 13


async def test_everything_delivered_twice_fires_once() -> None:
    once, twice = owning(0), owning(0)
    inputs = [told("t", 5, deadline(5, 1_000), made_ms=0), told("t", 9, deadline(9, 2_000), made_ms=500)]
    await fired(once, 500, *inputs)
    await fired(twice, 500, *inputs, *inputs)
    await fired(twice, 501, *inputs)
    assert await fired(once, 2_000) == await fired(twice, 2_000)
    assert len(await fired(twice, 2_500)) == 0


@pytest.mark.parametrize("jump_ms", [HOUR_MS, -HOUR_MS], ids=["ours is ahead", "ours is behind"])
async def test_a_clock_set_by_an_hour_moves_no_deadline(jump_ms: int) -> None:
    # Ours was set while it was down; the tables' process runs on with its old time.
    processor = owning(0)
    at_tables_ms = 10 * HOUR_MS
    for version in range(1, 80):
        now_ms = at_tables_ms + version * 1_000 + jump_ms
        due_ms = at_tables_ms + version * 1_000 + 90_000
        await fired(processor, now_ms + 3, told("t", version, deadline(version, due_ms), made_ms=now_ms - jump_ms))
    last_due_ms = at_tables_ms + 79_000 + 90_000
    outputs: list[int] = []
    for tables_ms in range(last_due_ms - 2_000, last_due_ms + 1_500, 10):
        if await fired(processor, tables_ms + jump_ms):
            outputs.append(tables_ms)
    if jump_ms < 0:
        assert outputs[0] - last_due_ms in range(50)
    # Ahead, it repeats each second until the table says that it is time.
    assert any(last_due_ms <= tables_ms < last_due_ms + 1_000 for tables_ms in outputs)


async def test_a_clock_set_back_while_it_was_down_is_noticed_before_any_event() -> None:
    due_ms = 10 * HOUR_MS + 5_000
    processor = Deadlines()
    timer = Timer(table_id="t", version=5, deadline_id=5, due_ms=due_ms)
    processor._partitions[0] = Partition((timer,), last_alive_ms=10 * HOUR_MS)
    now_ms = 9 * HOUR_MS + 2_000
    assert processor.next_due_ms() == 0
    assert await fired(processor, now_ms) == []
    # Late by no more than it was down.
    assert processor.next_due_ms() == now_ms + 5_000
    assert [output.key for output in await fired(processor, now_ms + 5_000)] == ["t"]


async def test_time_that_passed_while_it_was_down_is_no_lead() -> None:
    processor = Deadlines()
    timer = Timer(table_id="t", version=5, deadline_id=5, due_ms=9_000)
    processor._partitions[0] = Partition((timer,), last_alive_ms=1_000)
    assert await fired(processor, 4_000) == []
    assert processor.next_due_ms() == 9_000


async def test_an_event_that_moves_no_deadline_is_not_even_decoded() -> None:
    unreadable = told("t", 4, BidMade(turn_id="1:1", seat=0, bid=3), made_ms=0, body=b"{")
    assert await fired(owning(0), 1_000, unreadable) == []


@pytest.mark.parametrize("fault", ["body", "version", "sequence"])
async def test_a_deadline_that_cannot_be_read_holds_up_its_stream(fault: str) -> None:
    good = told("u", 5, deadline(5, 500), made_ms=0)
    bad = told("t", 5, deadline(5, 500), made_ms=0)
    match fault:
        case "body":
            bad = bad._replace(value=b'{"deadline_id":"5"}')
        case "version":
            bad = bad._replace(headers=[(n, v.replace(b".v1", b".v2")) for n, v in bad.headers])
        case _:
            bad = bad._replace(headers=[(n, v) for n, v in bad.headers if n != "ce_sequence"])
    processor = owning(0)
    effects = await processor.process(Poll([good, bad], 1_000), NO_DATABASE)
    assert [parked.source for parked in effects.quarantined] == [bad]
    assert effects.outputs == []
    processor.discard()
    assert [output.key for output in await fired(processor, 1_000, good)] == ["u"]


async def test_timers_that_were_saved_fire_after_a_restart() -> None:
    processor = owning(2, timers=(Timer(table_id="t", version=5, deadline_id=5, due_ms=1_000),))
    assert processor.next_due_ms() == 1_000
    assert [output.key for output in await fired(processor, 70_000)] == ["t"]
    processor.drop(2)
    assert processor.next_due_ms() is None
