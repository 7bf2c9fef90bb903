"""A partition while it is ours, and how one becomes ours."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from aiokafka import TopicPartition

from spades_runtime import answers, kafka, logging, metrics, parking
from spades_runtime.crash import crash_at
from spades_runtime.errors import LostDatabase
from spades_runtime.links import Links
from spades_runtime.settings import RuntimeSettings
from spades_runtime.statement import PartitionRow
from spades_runtime.types import Answer, Database, Output, Processor

_log = logging.get(__name__)

REPUBLISH_BATCH = 1_000
ACKNOWLEDGED_LIMIT_S = 30.0


@dataclass(slots=True)
class Owned:
    """What the worker knows of one partition that it may write. All of it is in the row, or soon will be."""

    part: int
    epoch: int
    next_offsets: dict[str, int]
    seq: int
    alive_at_ms: int | None
    quarantined: set[str] = field(default_factory=set)

    def row(self, published_seq: int) -> PartitionRow:
        """The row as it is to be written."""
        return PartitionRow(self.part, self.epoch, self.next_offsets, self.seq, published_seq, self.alive_at_ms)


class _Row(NamedTuple):
    """A partition's row as found when it was taken."""

    owned: Owned
    published_seq: int
    cluster_id: str


@dataclass(slots=True)
class Taker:
    """Takes partitions: fence the old owner, load, publish what it could not."""

    settings: RuntimeSettings
    processor: Processor
    links: Links

    async def take_all(self, parts: Sequence[int], db: Database, now_ms: Callable[[], int]) -> AsyncIterator[Owned]:
        """Make `parts` ours, yielding each as it is loaded.

        Raises LostDatabase, and psycopg's errors where the database fails.
        """
        rows = await self._bump(parts, db)
        if missing := [part for part in parts if part not in rows]:
            await self._begin(missing, db)
            rows |= await self._bump(missing, db)
        metrics.TAKES.inc(len(rows))
        crash_at("in_take")
        quarantined = await parking.quarantined_streams(db, parts)
        for part in parts:
            row = rows[part]
            row.owned.quarantined = quarantined.get(part, set())
            yield await self._load(row, db, now_ms())

    async def _load(self, row: _Row, db: Database, now_ms: int) -> Owned:
        owned, part = row.owned, row.owned.part
        self.links.publisher.published_seq[part] = row.published_seq
        try:
            if row.cluster_id != self.links.cluster_id:
                await self._follow_cluster(owned, row.cluster_id, db, now_ms)
            fresh = await self.processor.take(part, db)
            if row.published_seq < owned.seq:
                await self._republish(owned, row.published_seq, db, now_ms)
        except BaseException:
            self.processor.drop(part)
            raise
        await self.links.publisher.publish(fresh, now_ms, {part: owned.seq})
        return owned

    async def _bump(self, parts: Sequence[int], db: Database) -> dict[int, _Row]:
        # From this update on no statement of an older owner writes anything.
        cursor = await db.execute(
            """
               UPDATE partition SET epoch = epoch + 1 WHERE part = ANY(%s)
            RETURNING part, epoch, next_offsets, seq, alive_at_ms, published_seq, kafka_cluster_id
            """,
            [list(parts)],
        )
        return {
            part: _Row(Owned(part, epoch, dict(offsets), seq, alive_at_ms), published_seq, cluster_id)
            for part, epoch, offsets, seq, alive_at_ms, published_seq, cluster_id in await cursor.fetchall()
        }

    async def _begin(self, parts: Sequence[int], db: Database) -> None:
        outputs = [
            TopicPartition(self.settings.topic(topic), part) for part in parts for topic in self.processor.outputs
        ]
        ends = await kafka.end_offsets(self.links.consumer, outputs)
        written = sorted(f"{partition.topic}[{partition.partition}]" for partition, end in ends.items() if end > 0)
        if written:
            raise LostDatabase(
                f"Schema {self.settings.schema_name} has no rows for partitions whose topics have records: "
                f"{', '.join(written)}. The database was lost, or is another one. "
                "Restore it, or `make reset` to wipe both stores."
            )
        await db.execute(
            """
            INSERT INTO partition (part, epoch, next_offsets, seq, published_seq, alive_at_ms, kafka_cluster_id)
            SELECT part, 0, '{}', 0, 0, NULL, %s FROM unnest(%s::int[]) AS u (part)
                ON CONFLICT DO NOTHING
            """,
            [self.links.cluster_id, list(parts)],
        )

    async def _follow_cluster(self, owned: Owned, old: str, db: Database, now_ms: int) -> None:
        """The Kafka cluster was replaced: what is not settled is told again from version 1, inputs start anew."""
        streams = await self.processor.unsettled(owned.part, db)
        _log.error(
            "kafka_cluster_replaced", partition=owned.part, old=old, new=self.links.cluster_id, streams=len(streams)
        )
        for stream in streams:
            await self._publish(await answers.of_stream(db, stream), now_ms)
        await self.links.publisher.room(1, ACKNOWLEDGED_LIMIT_S)
        self.links.publisher.check()
        owned.next_offsets = {}
        await db.execute(
            "UPDATE partition SET kafka_cluster_id = %s, next_offsets = '{}' WHERE part = %s AND epoch = %s",
            [self.links.cluster_id, owned.part, owned.epoch],
        )

    async def _republish(self, owned: Owned, after_seq: int, db: Database, now_ms: int) -> None:
        stored = await answers.unpublished(db, owned.part, after_seq)
        set_aside = await parking.unpublished(db, owned.part, after_seq)
        if stored or set_aside:
            _log.info("republishing", partition=owned.part, answers=len(stored), parked=len(set_aside))
        await self._publish([answer for _, answer in stored], now_ms)
        outputs = [parking.output_of(row, self.settings.service) for row in set_aside]
        await self.links.publisher.publish(outputs, now_ms, {})

    async def _publish(self, stored: list[Answer], now_ms: int) -> None:
        for start in range(0, len(stored), REPUBLISH_BATCH):
            await self.links.publisher.room(self.settings.in_flight_max, ACKNOWLEDGED_LIMIT_S)
            self.links.publisher.check()
            batch = stored[start : start + REPUBLISH_BATCH]
            await self.links.publisher.publish(chain.from_iterable(map(self._records, batch)), now_ms, {})

    def _records(self, answer: Answer) -> list[Output]:
        return self.processor.records(answer)

    async def stay_within_log(self, owned: Iterable[Owned]) -> None:
        """A stored offset beyond the end waits for records that will never come: go to the end, loudly."""
        places = {
            TopicPartition(self.settings.topic(topic), mine.part): (mine, topic)
            for mine in owned
            for topic in self.processor.inputs
        }
        if not places:
            return
        for partition, end in (await kafka.end_offsets(self.links.consumer, places)).items():
            mine, topic = places[partition]
            stored = mine.next_offsets.setdefault(topic, 0)
            if stored > end:
                metrics.OFFSETS_LOST.inc()
                _log.error("offset_beyond_end", topic=topic, partition=mine.part, stored=stored, end=end)
                mine.next_offsets[topic] = end
