"""The partition worker: one consumer, a single writer a partition, effects exactly once.

    take what is assigned → fetch → sort → judge → one commit → publish → and again

Ownership is Kafka's assignment; the right to write is the epoch in the partition's row.
Whatever is unknown is dropped from memory and read back: Postgres is the truth.
"""

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from aiokafka import TopicPartition
from aiokafka.errors import KafkaError

from spades_runtime import database, kafka, logging, metrics
from spades_runtime.answers import REFUSALS_KEPT_MS
from spades_runtime.clock import Clock
from spades_runtime.errors import Fenced, NotReady, OutcomeUnknown
from spades_runtime.holdings import Holdings
from spades_runtime.judging import Judge
from spades_runtime.kafka import RebalanceListener
from spades_runtime.links import Connect, Links
from spades_runtime.redriving import Redriver
from spades_runtime.seal import Seal
from spades_runtime.settings import RuntimeSettings
from spades_runtime.sorting import Batch, Sorter
from spades_runtime.types import Commit, Database, Processor

_log = logging.get(__name__)

WRITE_EVERY_MS = 1_000
"""Rows without other reason to be written: offsets, published_seq, alive_at."""
JOINING_POLL_MS = 20
"""Without partitions yet, an assignment is noticed so soon."""
TURN_LIMIT_S = 30.0
"""A loop that has not turned for so long is dead."""
FORGET_EVERY_MS = 60_000
REFUSALS_MAX = 10_000
OPERATOR_WAIT_S = 2.0
KAFKA_WAIT_S = 0.2
DATABASE_WAIT_S_MAX = 1.0
DRAIN_LIMIT_S = 10.0

_LOST = (psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError, OutcomeUnknown)


class PartitionWorker:
    """Runs a processor over the partitions that the group gives to this member."""

    def __init__(
        self,
        processor: Processor,
        settings: RuntimeSettings,
        *,
        commit: Commit,
        seal: Seal | None = None,
        clock: Clock | None = None,
        connect: Connect = database.connect,
    ) -> None:
        self._processor = processor
        self._settings = settings
        self._commit = commit
        self._seal = seal
        self._clock = clock or Clock()
        self._sorter = Sorter(processor.inputs, settings.topic_prefix, settings.partitions, processor.concerns)
        self._links = Links(settings, connect, self._touch)
        self.redriver = Redriver(settings, self._sorter, seal)
        self._listener = RebalanceListener()
        self._holdings = Holdings(processor, settings, self._links, self._listener)
        self._stopping = asyncio.Event()
        self._next_write_ms = self._next_forget_ms = self._next_lag_ms = 0
        self._failures = 0
        self._reads_singly = False
        self._problem: str | None = "starting"
        self._turned_s = time.monotonic()
        self._lag_task: asyncio.Task[None] | None = None
        self._judge: Judge

    # What probes ask, and the signal handler says.

    @property
    def healthy(self) -> bool:
        """Whether the loop still turns."""
        return time.monotonic() - self._turned_s < TURN_LIMIT_S

    @property
    def problem(self) -> str | None:
        """Why the worker is not ready; None when its partitions are taken and the database answers."""
        return self._problem

    @property
    def partitions(self) -> list[int]:
        """The partitions that this process may write."""
        return sorted(self._holdings.owned)

    def stop(self) -> None:
        """Finish the running batch, flush, and let `run` return."""
        self._problem = "stopping"
        self._stopping.set()

    # The loop.

    async def run(self) -> None:
        """Work until `stop`. Raises Fenced and PublishFailed: the process must end then."""
        try:
            await self._links.open(self._processor.inputs, self._listener)
            self._judge = Judge(
                self._settings,
                self._processor,
                self._links.publisher,
                self._holdings.owned,
                self._commit,
                self._seal,
            )
            while not self._stopping.is_set():
                await self._guarded_turn()
            await self._finish()
        except Fenced as fenced:
            metrics.FENCED.inc()
            _log.error("fenced", partitions=fenced.parts)
            raise
        except KafkaError:
            # Stopped before Kafka ever answered.
            if not self._stopping.is_set():
                raise
        finally:
            self._problem = "stopped"
            if self._lag_task is not None:
                await asyncio.gather(self._lag_task, return_exceptions=True)
            await self._links.close()

    async def _guarded_turn(self) -> None:
        try:
            self._touch()
            self._listener.idle.clear()
            await self._turn()
        except _LOST as lost:
            await self._forget_all(lost)
        except NotReady as problem:
            if self._problem != str(problem):
                _log.error("not_ready", problem=str(problem))
            self._problem = str(problem)
            self._drop_all()
            await self._pause(OPERATOR_WAIT_S)
        except KafkaError as error:
            if not error.retriable:
                raise
            _log.warning("kafka_retried", error=type(error).__name__)
            await self._pause(KAFKA_WAIT_S)
        finally:
            self._listener.idle.set()

    async def _turn(self) -> None:
        publisher = self._links.publisher
        publisher.check()
        db = await self._links.database()
        if await self._holdings.follow(db, self._clock.now_ms, self._touch):
            # What was taken is written, and readiness told, in this turn.
            self._next_write_ms = 0
        if not await publisher.room(self._settings.in_flight_max, self._settings.poll_ms / 1_000):
            return
        if self.redriver.waits and self._holdings.is_current:
            await self.redriver.run(self._judge, self._holdings.owned, db, self._clock.now_ms())
        records = await self._fetch()
        if records is None:
            return
        now_ms = self._clock.now_ms()
        self._holdings.look(now_ms)
        batch = self._sorter.sort(records, self._holdings.owned, now_ms)
        self._holdings.note_outages(batch)
        wrote = self._is_due(batch) and await self._judge_batch(batch, db)
        if now_ms >= self._next_write_ms:
            self._holdings.move_alive(now_ms)
            await self._judge.write_rows(db, now_ms)
            await self._wrote(db, now_ms)
        if records and not wrote:
            await self._rest()

    async def _judge_batch(self, batch: Batch, db: Database) -> bool:
        """Carry out a batch; whether that wrote anything."""
        write_all = batch.now_ms >= self._next_write_ms and self._commit is Commit.STATEMENT
        if write_all:
            self._holdings.move_alive(batch.now_ms)
        wrote = await self._judge.judge(batch, db, write_all=write_all)
        if wrote and write_all:
            await self._wrote(db, batch.now_ms)
        if self._commit is Commit.INTERVAL:
            self._next_write_ms = min(self._next_write_ms, batch.now_ms + self._settings.interval_ms)
        return wrote

    async def _rest(self) -> None:
        """Nearly all that a wallet or a clock reads concerns it little: rarer polls read more at once.

        A third of what such a process costs, and of what it costs Kafka, is by the poll. The
        table rests never: somebody waits for each of its answers.
        """
        if self._commit is not Commit.STATEMENT:
            wait_ms = min(self._settings.rest_ms, self._wait_ms(self._clock.now_ms()))
            await self._pause(wait_ms / 1_000)

    async def _fetch(self) -> Mapping[TopicPartition, Sequence[Any]] | None:
        """Wait for records; None while the group rebalances: nothing may be judged or written then."""
        # While we only wait, a revocation need not wait for us.
        self._listener.idle.set()
        try:
            if self._listener.rebalancing:
                await asyncio.wait_for(self._listener.assigned.wait(), self._settings.poll_ms / 1_000)
                return None
            wait_ms = self._wait_ms(self._clock.now_ms())
            # aiokafka waits without a limit when the group begins to rebalance meanwhile.
            async with asyncio.timeout(wait_ms / 1_000 + 1):
                records: dict[TopicPartition, Sequence[Any]] = await self._links.consumer.getmany(
                    timeout_ms=wait_ms, max_records=1 if self._reads_singly else self._settings.poll_records_max
                )
        except TimeoutError:
            records = {}
        except UnicodeDecodeError:
            records = self._step_over()
        if not self._holdings.is_current:
            # They are read again from the stored offsets, by us or by another.
            return None
        self._listener.idle.clear()
        return records

    def _step_over(self) -> dict[TopicPartition, Sequence[Any]]:
        """A record cannot be decoded: read up to it one by one, then tell it by its place and go on behind it."""
        if not self._holdings.is_current:
            return {}
        place = kafka.undecodable_place(self._links.consumer) if self._reads_singly else None
        if place is None:
            # What the same fetch had of other records is lost with it.
            self._holdings.seek_all()
            self._reads_singly = True
            return {}
        self._reads_singly = False
        partition, offset = place
        self._links.consumer.seek(partition, offset + 1)
        return {partition: [kafka.Undecodable(offset, self._clock.now_ms())]}

    def _wait_ms(self, now_ms: int) -> int:
        if not self._holdings.owned:
            return JOINING_POLL_MS
        wait_ms = min(self._settings.poll_ms, self._next_write_ms - now_ms)
        due_ms = self._processor.next_due_ms()
        if due_ms is not None:
            wait_ms = min(wait_ms, due_ms - now_ms)
        return max(0, wait_ms)

    def _is_due(self, batch: Batch) -> bool:
        if batch.next_offsets:
            metrics.POLL_RECORDS.observe(len(batch.inputs))
            if batch.oldest_ms is not None:
                metrics.LAG_SECONDS.observe(max(0, batch.now_ms - batch.oldest_ms) / 1_000)
            return True
        due_ms = self._processor.next_due_ms()
        return bool(batch.outages_ms) or (due_ms is not None and due_ms <= batch.now_ms)

    async def _wrote(self, db: Database, now_ms: int) -> None:
        """Every row is written: the database answers. Do what has to be done now and then."""
        self._failures = 0
        self._problem = "stopping" if self._stopping.is_set() else None
        self._next_write_ms = now_ms + WRITE_EVERY_MS
        metrics.IN_FLIGHT.set(self._links.publisher.in_flight)
        if self._holdings.owned:
            metrics.ALIVE_AT.set(min(mine.alive_at_ms or 0 for mine in self._holdings.owned.values()) / 1_000)
        if now_ms >= self._next_lag_ms and (self._lag_task is None or self._lag_task.done()):
            self._next_lag_ms = now_ms + WRITE_EVERY_MS
            self._lag_task = asyncio.create_task(self._tell_lag(), name="lag")
        if now_ms >= self._next_forget_ms:
            self._next_forget_ms = now_ms + FORGET_EVERY_MS
            await db.execute("SELECT forget_refusals(%s, %s)", [now_ms - REFUSALS_KEPT_MS, REFUSALS_MAX])

    async def _tell_lag(self) -> None:
        """Commit to Kafka what lag tools show; we ourselves never read it."""
        try:
            if offsets := self._holdings.offsets():
                await self._links.consumer.commit(dict(offsets))
        except KafkaError as error:
            _log.debug("lag_not_told", error=type(error).__name__)

    # When something is lost, and at the end.

    async def _forget_all(self, lost: Exception) -> None:
        """An outcome is unknown: what is in memory may not be what is stored. Read everything again."""
        self._failures += 1
        self._problem = "the database does not answer"
        metrics.RETAKES.inc()
        _log.warning("state_dropped", error=type(lost).__name__, failures=self._failures)
        self._processor.discard()
        self._drop_all()
        await self._links.drop_database()
        await self._pause(min(DATABASE_WAIT_S_MAX, 0.02 * 2 ** min(self._failures, 6)))

    def _drop_all(self) -> None:
        self._holdings.drop_all()
        self._judge.forget()

    async def _finish(self) -> None:
        """Everything that was read is written and published; what was not read is left to the next owner."""
        db, publisher = self._links.open_database, self._links.publisher
        with contextlib.suppress(*_LOST):
            await publisher.room(1, DRAIN_LIMIT_S)
            if db is not None and self._holdings.is_current:
                now_ms = self._clock.now_ms()
                self._holdings.look(now_ms)
                self._holdings.move_alive(now_ms)
                await self._judge.write_rows(db, now_ms)
                await publisher.room(1, DRAIN_LIMIT_S)

    async def _pause(self, seconds: float) -> None:
        self._listener.idle.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    def _touch(self) -> bool:
        """The loop turns; whether it goes on."""
        self._turned_s = time.monotonic()
        return not self._stopping.is_set()
