"""The worker's Kafka clients and their settings."""

import asyncio
import inspect
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.errors import KafkaTimeoutError, OffsetOutOfRangeError

from spades_runtime.publisher import BATCH_BYTES
from spades_runtime.settings import RuntimeSettings
from spades_runtime.types import Input

FETCH_BYTES_MAX = 256 * 1024
"""A partition's share of one fetch: bounds memory, and how old a record gets in our buffer."""
MAX_POLL_INTERVAL_MS = 3_600_000
"""Whether we live is the probes' question (`PartitionWorker.healthy`), not that of aiokafka's poll timer."""
HEARTBEAT_MS_MAX = 3_000
REVOKE_LIMIT_S = 10.0
OFFSETS_LIMIT_S = 10.0


class RebalanceListener(ConsumerRebalanceListener):  # type: ignore[misc]
    """Notes rebalances; the loop acts on them. Heartbeats stop while a callback runs, so none works here."""

    def __init__(self) -> None:
        self.generation = -1
        self.rebalancing = False
        self.assigned = asyncio.Event()
        self.idle = asyncio.Event()
        """Set while the loop holds no batch."""
        self.idle.set()

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """Let the running batch finish before others take the partitions; the epoch protects the rest."""
        self.rebalancing = True
        self.assigned.clear()
        try:
            await asyncio.wait_for(self.idle.wait(), REVOKE_LIMIT_S)
        except TimeoutError:
            return

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self.generation += 1
        self.rebalancing = False
        self.assigned.set()


async def consumer(settings: RuntimeSettings, inputs: Iterable[str], listener: RebalanceListener) -> AIOKafkaConsumer:
    """Start the one consumer: a static member that Kafka gives partition n of every input."""
    client = AIOKafkaConsumer(
        bootstrap_servers=settings.kafka_bootstrap,
        client_id=settings.member_name,
        group_id=settings.group,
        group_instance_id=settings.member_name,
        session_timeout_ms=settings.session_ms,
        heartbeat_interval_ms=min(HEARTBEAT_MS_MAX, settings.session_ms // 3),
        max_poll_interval_ms=MAX_POLL_INTERVAL_MS,
        partition_assignment_strategy=(RangePartitionAssignor,),
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        fetch_max_wait_ms=settings.fetch_wait_ms,
        max_partition_fetch_bytes=FETCH_BYTES_MAX,
    )
    client.subscribe([settings.topic(topic) for topic in inputs], listener=listener)
    try:
        await client.start()
    except BaseException:
        await client.stop()
        raise
    return client


async def producer(settings: RuntimeSettings) -> AIOKafkaProducer:
    """Start the producer: every replica acknowledges, nothing is written twice by a retry."""
    client = AIOKafkaProducer(
        bootstrap_servers=settings.kafka_bootstrap,
        client_id=settings.member_name,
        acks="all",
        enable_idempotence=True,
        linger_ms=0,
        max_batch_size=BATCH_BYTES,
    )
    try:
        await client.start()
    except BaseException:
        await client.stop()
        raise
    return client


async def cluster_id(settings: RuntimeSettings) -> str:
    """Return the id of the Kafka cluster: another id, another cluster, other offsets."""
    admin = AIOKafkaAdminClient(
        bootstrap_servers=settings.kafka_bootstrap, client_id=settings.member_name, request_timeout_ms=5_000
    )
    try:
        await admin.start()
        return str((await admin.describe_cluster())["cluster_id"])
    finally:
        await admin.close()


async def end_offsets(client: AIOKafkaConsumer, partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, int]:
    """Return the offset behind the last record of each partition; raises KafkaTimeoutError."""
    try:
        async with asyncio.timeout(OFFSETS_LIMIT_S):
            ends: Mapping[TopicPartition, int] = await client.end_offsets(list(partitions))
    except TimeoutError:
        raise KafkaTimeoutError("Kafka did not tell the ends of partitions") from None
    return ends


async def read_again(settings: RuntimeSettings, topic: str, part: int, offset: int) -> Input | None:
    """Return a record by its place; None where Kafka no longer has it, or cannot hand it out. Raises KafkaError."""
    partition = TopicPartition(settings.topic(topic), part)
    client = AIOKafkaConsumer(
        bootstrap_servers=settings.kafka_bootstrap,
        client_id=f"{settings.member_name}-again",
        enable_auto_commit=False,
        auto_offset_reset="none",
    )
    await client.start()
    try:
        client.assign([partition])
        ends = await end_offsets(client, [partition])
        if offset >= ends[partition]:
            return None
        client.seek(partition, offset)
        async with asyncio.timeout(OFFSETS_LIMIT_S):
            record = await client.getone(partition)
    except (OffsetOutOfRangeError, UnicodeDecodeError, TimeoutError):
        return None
    finally:
        await client.stop()
    if record.offset != offset:
        return None
    headers = [(name, value or b"") for name, value in record.headers]
    return Input(topic, part, offset, record.key, record.value or b"", headers)


class Undecodable(NamedTuple):
    """A record that aiokafka cannot decode: only its place is known."""

    offset: int
    timestamp: int
    key: None = None
    value: None = None
    headers: tuple[()] = ()


def undecodable_place(client: AIOKafkaConsumer) -> tuple[TopicPartition, int] | None:
    """Where the record lies that made `getmany` raise UnicodeDecodeError; None if the client has moved on.

    aiokafka decodes the names of headers and gives up a whole fetch at one that is no UTF-8. It
    then holds an iterator that ended early, under private names only.
    """
    for partition, fetched in client._fetcher._records.items():
        records: Any = getattr(fetched, "_partition_records", None)
        if records is None or records._records_iterator is None:
            continue
        if inspect.getgeneratorstate(records._records_iterator) == inspect.GEN_CLOSED:
            return partition, int(records.next_fetch_offset)
    return None
