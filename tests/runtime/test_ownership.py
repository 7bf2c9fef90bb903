"""Kafka says who owns a partition; the epoch in its row says who may write."""

import asyncio

import pytest

from spades_runtime import Commit, Fenced, PartitionWorker
from tests.runtime.corner import Corner
from tests.runtime.counter import CounterProcessor
from tests.runtime.processes import worker_process

pytestmark = pytest.mark.real


async def test_partitions_are_taken_without_any_traffic(corner: Corner) -> None:
    async with corner.working(CounterProcessor()) as worker:
        assert worker.partitions == [0, 1]
    assert corner.query("SELECT part, epoch, seq FROM partition ORDER BY part") == [(0, 1, 0), (1, 1, 0)]


async def test_a_restarted_member_takes_its_partitions_at_once_and_goes_on(corner: Corner) -> None:
    async with corner.working(CounterProcessor()):
        await corner.add("c1", "k1", 2)
        await corner.until_answered(1)
    processor = CounterProcessor()
    async with corner.working(processor):
        assert processor.counters["c1"].total == 2
        await corner.add("c1", "k2", 3)
        await corner.until_answered(2)
    assert corner.query("SELECT DISTINCT epoch FROM partition") == [(2,)]
    await corner.assert_exactly_once({"c1": {"k1": 2, "k2": 3}})


async def test_a_fenced_worker_writes_nothing_and_ends(corner: Corner) -> None:
    worker = PartitionWorker(CounterProcessor(), corner.settings(), commit=Commit.STATEMENT)
    task = asyncio.create_task(worker.run())
    await corner.until(lambda: worker.problem is None, "worker ready")
    await corner.add("c1", "k1")
    await corner.until_answered(1)
    corner.query("UPDATE partition SET epoch = epoch + 1")
    await corner.add("c1", "k2")
    with pytest.raises(Fenced):
        await asyncio.wait_for(task, 20)
    assert corner.answered() == 1
    # The command was not lost: the next owner answers it.
    async with corner.working(CounterProcessor()):
        await corner.until_answered(2)
    await corner.assert_exactly_once({"c1": {"k1": 1, "k2": 1}})


@pytest.mark.slow
async def test_a_frozen_owner_that_wakes_is_fenced_and_writes_nothing(corner: Corner) -> None:
    session = {"SPADES_SESSION_MS": "2000"}
    with worker_process(corner, "table-0", **session) as frozen:
        await corner.add_many((f"c{number}", "k1", 1) for number in range(8))
        await corner.until_answered(8)
        frozen.freeze()
        await corner.add_many((f"c{number}", "k2", 1) for number in range(8))
        with worker_process(corner, "table-1", **session) as heir:
            await corner.until_answered(16)
            frozen.thaw()
            assert await asyncio.to_thread(frozen.ends) == 3, frozen.said()
            await corner.add_many((f"c{number}", "k3", 1) for number in range(8))
            await corner.until_answered(24)
            assert heir.stop() == 0
    await corner.assert_exactly_once({f"c{number}": {"k1": 1, "k2": 1, "k3": 1} for number in range(8)})


async def test_two_members_share_the_partitions_and_nothing_is_judged_twice(corner: Corner) -> None:
    one, other = CounterProcessor(), CounterProcessor()
    async with corner.working(one, member_id="table-0") as first:
        await corner.add_many((f"c{number}", "k1", 1) for number in range(8))
        await corner.until_answered(8)
        async with corner.working(other, member_id="table-1") as second:
            await corner.until(lambda: len(first.partitions) == 1 and len(second.partitions) == 1, "one each")
            await corner.add_many((f"c{number}", "k2", 1) for number in range(8))
            await corner.until_answered(16)
            assert {*first.partitions, *second.partitions} == {0, 1}
            assert not one.counters.keys() & other.counters.keys()
    await corner.assert_exactly_once({f"c{number}": {"k1": 1, "k2": 1} for number in range(8)})
