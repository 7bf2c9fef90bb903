"""A poll's effects: decided, committed, published, and nothing twice."""

import pytest

from tests.runtime.corner import Corner
from tests.runtime.counter import COMMANDS, EVENTS, GIFTS, PRIVATE, CounterProcessor, command

pytestmark = pytest.mark.real


async def test_a_command_is_answered_on_disk_and_in_the_topic(corner: Corner) -> None:
    async with corner.working(CounterProcessor()):
        await corner.add("c1", "k1", 5)
        await corner.until_answered(1)
    assert corner.query("SELECT stream, account, command_id, first_version, last_version FROM answer") == [
        ("c1", "ann", "k1", 1, 1)
    ]
    events = await corner.records(EVENTS)
    assert [(record.key, record.value, record.headers["ce_sequence"]) for record in events] == [
        ("c1", b'{"by": 5, "total": 5}', b"1")
    ]
    assert [record.value for record in await corner.records(PRIVATE)] == [b"answered"]


async def test_a_refusal_is_an_answer_without_an_event(corner: Corner) -> None:
    async with corner.working(CounterProcessor()):
        await corner.add("c1", "k1", -5)
        await corner.until_answered(1)
    assert corner.query("SELECT first_version, last_version, events, refusal FROM answer") == [
        (0, -1, None, b'{"code":"negative"}')
    ]
    assert await corner.records(EVENTS) == []


async def test_everything_delivered_twice_has_one_effect_and_the_same_answer(corner: Corner) -> None:
    wanted = [(f"c{number % 3}", f"k{number}", number - 1) for number in range(30)]
    async with corner.working(CounterProcessor()):
        await corner.add_many(wanted)
        await corner.until_answered(30)
        await corner.add_many(wanted)
        await corner.add_many([*wanted, ("c1", "last", 1)])
        await corner.until_answered(31)
        await corner.until(lambda: _said_again(corner, 60), "every repetition answered")
    accepted: dict[str, dict[str, int]] = {}
    for stream, command_id, amount in [*wanted, ("c1", "last", 1)]:
        if amount >= 0:
            accepted.setdefault(stream, {})[command_id] = amount
    await corner.assert_exactly_once(accepted)


async def _said_again(corner: Corner, count: int) -> bool:
    return sum(record.value == b"again" for record in await corner.records(PRIVATE)) == count


async def test_a_poll_without_effects_writes_nothing_and_its_offsets_follow_within_the_second(corner: Corner) -> None:
    async with corner.working(CounterProcessor()):
        await corner.add("c1", "k1")
        await corner.until_answered(1)
        part = corner.query("SELECT part FROM answer")[0][0]
        await corner.send(COMMANDS, "c1", *command("c1", "r1", b'{"read": true}'))
        await corner.until(lambda: _offset(corner, part) == 2, "the offset of the read")
    assert corner.answered() == 1
    assert [record.value for record in await corner.records(PRIVATE)] == [b"answered", b"1"]


def _offset(corner: Corner, part: int) -> int:
    return int(corner.query("SELECT next_offsets->>'table.commands' FROM partition WHERE part = %s", [part])[0][0])


async def test_commands_are_judged_before_the_events_of_the_same_poll(corner: Corner) -> None:
    # Sent first, judged second: an in-time command never loses to an event beside it.
    await corner.send(GIFTS, "c1", *command("c1", "g1", b'{"gift": 7}', "gift"))
    await corner.add("c1", "k1", 1)
    processor = CounterProcessor()
    async with corner.working(processor):
        await corner.until_answered(2)
    assert corner.query("SELECT command_id FROM answer ORDER BY seq") in ([("k1",), ("g1",)], [("g1",), ("k1",)])
    if 2 in processor.polls:
        assert corner.query("SELECT command_id FROM answer ORDER BY seq") == [("k1",), ("g1",)]


async def test_published_seq_follows_the_acknowledgements(corner: Corner) -> None:
    async with corner.working(CounterProcessor()):
        await corner.add_many((f"c{number}", "k", 1) for number in range(20))
        await corner.until_answered(20)
        await corner.until(
            lambda: corner.query("SELECT bool_and(seq = published_seq) FROM partition") == [(True,)], "all published"
        )
    assert corner.query("SELECT sum(seq) FROM partition") == [(20,)]
