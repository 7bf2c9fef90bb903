"""`alive_at` says when a partition was last served; a longer silence is given back once."""

import asyncio
from dataclasses import dataclass, field

import pytest
from aiokafka import TopicPartition

from spades_runtime.alive import Fetches
from tests.runtime.corner import Corner
from tests.runtime.counter import CounterProcessor
from tests.runtime.processes import worker_process


def _alive(corner: Corner) -> list[int]:
    return [int(alive or 0) for (alive,) in corner.query("SELECT alive_at_ms FROM partition ORDER BY part")]


@pytest.mark.real
async def test_the_heartbeat_moves_each_second_without_traffic(corner: Corner) -> None:
    async with corner.working(CounterProcessor()):
        await corner.until(lambda: all(_alive(corner)), "a first heartbeat")
        before = _alive(corner)
        await corner.until(lambda: all(new > old for new, old in zip(_alive(corner), before, strict=True)), "a second")
        after = _alive(corner)
    assert max(after) - min(before) < 5_000


@pytest.mark.real
async def test_an_outage_is_told_once_before_any_input_and_a_take_alone_hides_none_of_it(corner: Corner) -> None:
    async with corner.working(CounterProcessor()):
        await corner.until(lambda: all(_alive(corner)), "a first heartbeat")
    ended_ms = _alive(corner)
    corner.query("UPDATE partition SET alive_at_ms = alive_at_ms - 60000")
    processor = CounterProcessor()
    async with corner.working(processor):
        await corner.until(lambda: len(processor.outages) == 2, "both outages told")
        for part, alive_at_ms, outage_ms in processor.outages:
            assert alive_at_ms == ended_ms[part] - 60_000
            assert outage_ms >= 60_000
        await corner.until(lambda: min(_alive(corner)) > max(ended_ms), "the outage's end is written")
        await asyncio.sleep(2.2)
        assert len(processor.outages) == 2


@pytest.mark.real
@pytest.mark.slow
async def test_a_lone_frozen_worker_gives_the_frozen_time_back(corner: Corner) -> None:
    with worker_process(corner) as process:
        await process.until_ready()
        await corner.until(lambda: all(_alive(corner)), "a first heartbeat")
        process.freeze()
        frozen = _alive(corner)
        await asyncio.sleep(4)
        assert _alive(corner) == frozen
        process.thaw()
        await corner.until(lambda: min(_alive(corner)) - max(frozen) >= 4_000, "alive again")
        process.stop()
        assert "outage_ended" in process.said()


@dataclass
class Fetched:
    """Stands for the consumer's notes: when each partition last answered, in wall time."""

    timestamps: dict[TopicPartition, int | None]
    buffered: dict[TopicPartition, object] = field(default_factory=dict)

    @property
    def _fetcher(self) -> "Fetched":
        return self

    @property
    def _records(self) -> dict[TopicPartition, object]:
        return self.buffered

    def assignment(self) -> list[TopicPartition]:
        return list(self.timestamps)

    def last_poll_timestamp(self, partition: TopicPartition) -> int | None:
        return self.timestamps[partition]


A, B = TopicPartition("a", 0), TopicPartition("b", 0)


def test_a_partition_is_fresh_only_when_every_input_answered_within_the_second() -> None:
    fetches, consumer = Fetches(), Fetched({A: 1, B: None})
    fetches.look(consumer, 1_000)
    assert fetches.all_at_ms([A, B], 1_000) is None
    consumer.timestamps = {A: 2, B: 2}
    fetches.look(consumer, 1_500)
    assert fetches.all_at_ms([A, B], 1_500) is not None
    for now_ms in range(1_600, 3_000, 100):
        fetches.look(consumer, now_ms)
    assert fetches.all_at_ms([A, B], 2_900) is None


def test_a_jump_of_the_wall_clock_makes_no_partition_fresher_than_its_last_change() -> None:
    hour_ms = 3_600_000
    fetches, consumer = Fetches(), Fetched({A: 10**15 + hour_ms})
    fetches.look(consumer, 10_000)
    for now_ms in range(10_100, 12_500, 100):
        fetches.look(consumer, now_ms)
    assert fetches.all_at_ms([A], 12_400) is None


def test_records_that_wait_in_our_own_buffer_are_no_outage() -> None:
    fetches, consumer = Fetches(), Fetched({A: 1})
    fetches.look(consumer, 1_000)
    consumer.buffered[A] = object()
    fetches.look(consumer, 5_000)
    assert fetches.all_at_ms([A], 5_000) == 5_000
