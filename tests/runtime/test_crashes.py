"""Whatever kills a worker, every command has its effect once, and everybody is told."""

import asyncio
import random

import pytest

from tests.runtime.corner import Corner
from tests.runtime.counter import EVENTS, CounterProcessor
from tests.runtime.processes import worker_process

pytestmark = pytest.mark.real

STREAMS = 5


def _commands(first: int, count: int) -> list[tuple[str, str, int]]:
    return [(f"c{number % STREAMS}", f"k{number}", number) for number in range(first, first + count)]


def _by_stream(commands: list[tuple[str, str, int]]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for stream, command_id, amount in commands:
        found.setdefault(stream, {})[command_id] = amount
    return found


@pytest.mark.parametrize("point", ["in_take:1", "before_commit:2", "after_commit:2", "after_publish:2"])
async def test_a_kill_at_any_point_loses_and_repeats_nothing(corner: Corner, point: str) -> None:
    first, second = _commands(0, 10), _commands(10, 10)
    await corner.add_many(first)
    with worker_process(corner, CRASH_AT=point) as doomed:
        if not point.startswith("in_take"):
            await corner.until_answered(1)
            await corner.add_many(second)
        assert await asyncio.to_thread(doomed.ends) == -9, doomed.said()
    if point.startswith("in_take"):
        await corner.add_many(second)
    with worker_process(corner) as heir:
        await heir.until_ready()
        await corner.until_answered(20)
        assert heir.stop() == 0
    await corner.assert_exactly_once(_by_stream(first + second))


async def test_what_was_committed_and_not_published_is_published_by_the_next_take(corner: Corner) -> None:
    await corner.add_many(_commands(0, 10))
    with worker_process(corner, CRASH_AT="after_commit:1") as doomed:
        assert await asyncio.to_thread(doomed.ends) == -9
    stored = corner.answered()
    assert stored > 0
    assert await corner.records(EVENTS) == []
    async with corner.working(CounterProcessor()):
        await corner.until_answered(10)
        await corner.until(lambda: _events(corner, 10), "every event in the topic")
    await corner.assert_exactly_once(_by_stream(_commands(0, 10)))


async def _events(corner: Corner, count: int) -> bool:
    return len({(record.key, record.headers["ce_sequence"]) for record in await corner.records(EVENTS)}) == count


@pytest.mark.slow
async def test_random_kills_under_load_lose_and_repeat_nothing(corner: Corner) -> None:
    draw = random.Random(7)
    sent: list[tuple[str, str, int]] = []
    for _ in range(5):
        with worker_process(corner) as process:
            await corner.until_answered(len(sent))
            until = len(sent) + 300
            while len(sent) < until:
                batch = _commands(len(sent), 30)
                await corner.add_many(batch)
                sent += batch
                await asyncio.sleep(0)
            await corner.until_answered(len(sent) - draw.randrange(10, 290))
            process.kill()
    with worker_process(corner) as process:
        await process.until_ready()
        await corner.until_answered(len(sent))
        assert process.stop() == 0
    await corner.assert_exactly_once(_by_stream(sent))
