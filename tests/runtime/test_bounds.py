"""When Kafka or Postgres stalls, the worker waits too: what it holds is bounded, and nothing is lost."""

import asyncio
from typing import Any

import psycopg
import pytest

from spades_runtime.kafka import FETCH_BYTES_MAX
from spades_runtime.schema import quoted
from tests.runtime.corner import SERVICE, Corner
from tests.runtime.counter import CounterProcessor

pytestmark = pytest.mark.real

POLL_MAX = 20
COMMANDS = 400


class StalledProducer:
    """Takes batches and does not send them, until it is told to."""

    def __init__(self, producer: Any) -> None:
        self._producer = producer
        self._held: list[tuple[Any, str, int, asyncio.Future[Any]]] = []

    def create_batch(self) -> Any:
        return self._producer.create_batch()

    async def send_batch(self, batch: Any, topic: str, *, partition: int) -> "asyncio.Future[Any]":
        acknowledged: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._held.append((batch, topic, partition, acknowledged))
        return acknowledged

    async def go_on(self) -> None:
        for batch, topic, partition, acknowledged in self._held:
            sent = await self._producer.send_batch(batch, topic, partition=partition)
            acknowledged.set_result(await sent)


async def turns(worker: Any, count: int) -> None:
    """Wait until the worker's loop has turned so many times more."""
    for _ in range(count):
        before = worker._turned_s
        async with asyncio.timeout(30):
            while worker._turned_s == before:
                await asyncio.sleep(0.01)


def wanted() -> dict[str, dict[str, int]]:
    return {f"c{stream}": {f"k{number}": 1 for number in range(COMMANDS // 8)} for stream in range(8)}


def all_commands() -> list[tuple[str, str, int]]:
    return [(stream, command_id, 1) for stream, ids in wanted().items() for command_id in ids]


async def test_while_kafka_takes_nothing_no_more_is_judged_than_may_be_on_its_way(corner: Corner) -> None:
    processor = CounterProcessor()
    async with corner.working(processor, poll_records_max=POLL_MAX, in_flight_max=2, poll_ms=50) as worker:
        publisher = worker._links.publisher
        stalled = StalledProducer(publisher._producer)
        publisher._producer = stalled  # type: ignore[assignment]
        await corner.add_many(all_commands())
        await corner.until(lambda: publisher.in_flight == 2, "as many on their way as may be")
        await turns(worker, 5)
        assert publisher.in_flight == 2
        assert sum(processor.polls) <= 2 * POLL_MAX
        publisher._producer = stalled._producer
        await stalled.go_on()
        await corner.until_answered(COMMANDS)
    await corner.assert_exactly_once(wanted())


async def test_while_postgres_does_not_answer_one_poll_waits_and_the_rest_stays_in_kafka(corner: Corner) -> None:
    processor = CounterProcessor()
    database = corner.namespace.databases[SERVICE]
    async with corner.working(processor, poll_records_max=POLL_MAX) as worker:
        with psycopg.connect(database.owner_url) as owner:
            owner.execute(f"LOCK TABLE {quoted(database.schema)}.partition IN ACCESS EXCLUSIVE MODE".encode())
            await corner.add_many(all_commands())
            buffered = worker._links.consumer._fetcher._records
            # aiokafka reads one fetch a partition ahead, so large at most, and no further.
            await corner.until(lambda: len(buffered) == corner.partitions, "what is read ahead")
            assert worker._links.consumer._fetcher._max_partition_fetch_bytes == FETCH_BYTES_MAX
            assert sum(processor.polls) <= POLL_MAX
            owner.rollback()
        await corner.until_answered(COMMANDS)
    await corner.assert_exactly_once(wanted())
