"""Reading past a record that aiokafka cannot decode, for consumers beside the worker.

A header whose name is no UTF-8 makes aiokafka give up a whole fetch, again at every fetch. Here that
one record is stepped over, counted and told by its place; what the same fetch had of others is read
again.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition

from spades_runtime import kafka, logging, metrics

_log = logging.get(__name__)


class SteppingReader:
    """`getmany` of a consumer whose user keeps its positions.

    `stepped` is told where a partition goes on behind a bad record; `go_back` seeks every partition to
    where it goes on: behind what was handed out, and behind what was stepped over.
    """

    def __init__(
        self,
        client: AIOKafkaConsumer,
        stepped: Callable[[TopicPartition, int], None],
        go_back: Callable[[], Awaitable[None]],
    ) -> None:
        self._client = client
        self._stepped = stepped
        self._go_back = go_back
        self._is_lost = False
        self._reads_singly = False

    async def getmany(self, timeout_ms: int, max_records: int) -> Mapping[TopicPartition, Sequence[Any]]:
        """Return the next records; none where one had to be looked for or stepped over. Raises KafkaError."""
        if self._is_lost:
            await self._go_back()
            self._is_lost = False
        try:
            found: Mapping[TopicPartition, Sequence[Any]] = await self._client.getmany(
                timeout_ms=timeout_ms, max_records=1 if self._reads_singly else max_records
            )
        except UnicodeDecodeError:
            place = step_over(self._client) if self._reads_singly else None
            if place is None:
                # What the same fetch had of other partitions is lost with it: read up to the bad one, one by one.
                self._is_lost = self._reads_singly = True
            else:
                self._reads_singly = False
                partition, offset = place
                self._stepped(partition, offset + 1)
            return {}
        return found


async def getone(client: AIOKafkaConsumer, read: Callable[[], Awaitable[Any]]) -> Any:
    """Return the next record by `read`, the client's own `getone`, stepping over what cannot be decoded."""
    while True:
        try:
            return await read()
        except UnicodeDecodeError:
            step_over(client)


def step_over(client: AIOKafkaConsumer) -> tuple[TopicPartition, int] | None:
    """Go on behind the record that could not be decoded just now; its place, None if the client has moved on."""
    place = kafka.undecodable_place(client)
    if place is not None:
        partition, offset = place
        client.seek(partition, offset + 1)
        metrics.STEPPED_OVER.labels(partition.topic).inc()
        _log.error("record_stepped_over", topic=partition.topic, partition=partition.partition, offset=offset)
    return place
