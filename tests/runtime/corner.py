"""Real servers for one test of the worker: topics, a schema with the worker's tables, and looks at both."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import psycopg
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from spades_local.testing import Namespace
from spades_runtime import Commit, PartitionWorker, Processor, RuntimeSettings, partition_of
from spades_runtime.schema import create_redriven_table, create_worker_tables, quoted
from tests.runtime.counter import COMMANDS, EVENTS, command

SERVICE = "table"
SOON_S = 30.0


@dataclass
class Record:
    """One record of a topic."""

    part: int
    offset: int
    key: str
    value: bytes
    headers: dict[str, bytes]


@dataclass
class Corner:
    """Where a worker under test works."""

    namespace: Namespace
    partitions: int = 2
    _producer: AIOKafkaProducer | None = field(default=None, repr=False)

    def prepare(self) -> None:
        self.namespace.create_topics(self.partitions)
        database = self.namespace.databases[SERVICE]
        with psycopg.connect(database.owner_url, autocommit=True) as owner:
            owner.execute(f"SET search_path = {quoted(database.schema)}")
            create_worker_tables(owner, database.app_role)
            create_redriven_table(owner, database.app_role)

    def settings(self, **changes: Any) -> RuntimeSettings:
        database = self.namespace.databases[SERVICE]
        return RuntimeSettings(
            **{
                "service": SERVICE,
                "member_id": "table-0",
                "kafka_bootstrap": self.namespace.bootstrap,
                "topic_prefix": self.namespace.topic_prefix,
                "group_prefix": self.namespace.group_prefix,
                "partitions": self.partitions,
                "database_url": database.app_url,
                "database_schema": database.schema,
                "log_format": "console",
            }
            | changes
        )

    def env(self, **changes: str) -> dict[str, str]:
        """The same as an environment, for a worker in a process of its own."""
        return self.namespace.service_env(SERVICE, SPADES_LOG_FORMAT="console", **changes)

    # Kafka.

    async def producer(self) -> AIOKafkaProducer:
        if self._producer is None:
            self._producer = AIOKafkaProducer(
                bootstrap_servers=self.namespace.bootstrap, acks="all", enable_idempotence=True
            )
            await self._producer.start()
        return self._producer

    async def close(self) -> None:
        if self._producer is not None:
            await self._producer.stop()

    async def send(
        self,
        topic: str,
        key: str | bytes | None,
        value: bytes,
        headers: list[tuple[str, bytes]] | None = None,
        part: int | None = None,
    ) -> int:
        """Send one record to its partition; its offset."""
        encoded = key.encode() if isinstance(key, str) else key
        if part is None:
            part = 0 if encoded is None else partition_of(encoded.decode(), self.partitions)
        producer = await self.producer()
        sent = await producer.send_and_wait(
            self.namespace.topic(topic), value, key=encoded, partition=part, headers=headers or []
        )
        return int(sent.offset)

    async def add(self, stream: str, command_id: str, amount: int = 1, account: str = "ann") -> None:
        """Send the command to add."""
        await self.send(COMMANDS, stream, *command(stream, command_id, b'{"add": %d}' % amount, account))

    async def add_many(self, wanted: Iterable[tuple[str, str, int]]) -> None:
        """Send many at once: (stream, command id, amount)."""
        producer = await self.producer()
        sent = []
        for stream, command_id, amount in wanted:
            value, headers = command(stream, command_id, b'{"add": %d}' % amount)
            sent.append(
                await producer.send(
                    self.namespace.topic(COMMANDS),
                    value,
                    key=stream.encode(),
                    partition=partition_of(stream, self.partitions),
                    headers=headers,
                )
            )
        await asyncio.gather(*sent)

    async def records(self, topic: str) -> list[Record]:
        """Everything that the topic holds now, by partition and offset."""
        consumer = AIOKafkaConsumer(bootstrap_servers=self.namespace.bootstrap, auto_offset_reset="earliest")
        await consumer.start()
        try:
            partitions = [TopicPartition(self.namespace.topic(topic), part) for part in range(self.partitions)]
            consumer.assign(partitions)
            ends = await consumer.end_offsets(partitions)
            starts = await consumer.beginning_offsets(partitions)
            for partition, start in starts.items():
                consumer.seek(partition, start)
            found: list[Record] = []
            missing = {partition for partition, end in ends.items() if end > starts[partition]}
            while missing:
                for partition, batch in (await consumer.getmany(timeout_ms=200)).items():
                    found += [_record(one) for one in batch if one.offset < ends[partition]]
                    if batch[-1].offset >= ends[partition] - 1:
                        missing.discard(partition)
            return sorted(found, key=lambda record: (record.part, record.offset))
        finally:
            await consumer.stop()

    # Postgres.

    def query(self, sql: str, parameters: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows of the worker's schema, read as the owner."""
        database = self.namespace.databases[SERVICE]
        with psycopg.connect(database.owner_url, autocommit=True) as owner:
            owner.execute(f"SET search_path = {quoted(database.schema)}")
            cursor = owner.execute(sql.encode(), list(parameters))
            return cursor.fetchall() if cursor.description else []

    def answered(self) -> int:
        return int(self.query("SELECT count(*) FROM answer")[0][0])

    async def until(
        self, condition: Callable[[], bool | Awaitable[bool]], what: str = "", limit_s: float = SOON_S
    ) -> None:
        """Wait for a condition; fail with its name."""
        deadline_s = time.monotonic() + limit_s
        while True:
            holds = condition()
            if isinstance(holds, Awaitable):
                holds = await holds
            if holds:
                return
            assert time.monotonic() < deadline_s, f"not within {limit_s:g} s: {what}"
            await asyncio.sleep(0.02)

    async def until_answered(self, count: int, limit_s: float = SOON_S) -> None:
        await self.until(lambda: self.answered() >= count, f"{count} answers, have {self.answered()}", limit_s)

    async def assert_exactly_once(self, wanted: dict[str, dict[str, int]]) -> None:
        """Every command (stream -> id -> amount) had its effect once, on disk and in the topic."""
        rows = self.query(
            "SELECT stream, command_id, first_version, events FROM answer WHERE refusal IS NULL ORDER BY seq"
        )
        ids: dict[str, list[str]] = {}
        versions: dict[str, list[int]] = {}
        for stream, command_id, version, _ in rows:
            ids.setdefault(stream, []).append(command_id)
            versions.setdefault(stream, []).append(version)
        assert {stream: sorted(found) for stream, found in ids.items()} == {
            stream: sorted(by_id) for stream, by_id in wanted.items()
        }
        for stream, found in versions.items():
            assert found == list(range(1, len(found) + 1)), stream
        told: dict[str, list[int]] = {}
        for record in await self.records(EVENTS):
            version = int(record.headers["ce_sequence"])
            seen = told.setdefault(record.key, [])
            assert version <= len(seen) + 1, f"{record.key}: version {version} came before {len(seen) + 1}"
            if version == len(seen) + 1:
                seen.append(version)
        assert told == versions

    # Workers.

    @contextlib.asynccontextmanager
    async def working(
        self, processor: Processor, commit: Commit = Commit.STATEMENT, **changes: Any
    ) -> AsyncIterator[PartitionWorker]:
        """A worker in this process, ready, and stopped in order behind the block."""
        worker = PartitionWorker(processor, self.settings(**changes), commit=commit)
        task = asyncio.create_task(worker.run())
        try:
            await self.until(lambda: worker.problem is None or task.done(), "worker ready")
            if task.done():
                task.result()
            yield worker
        finally:
            worker.stop()
            await task


def _record(one: Any) -> Record:
    return Record(one.partition, one.offset, (one.key or b"").decode("utf-8", "replace"), one.value, dict(one.headers))
