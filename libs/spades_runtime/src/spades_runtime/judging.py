"""One poll from records to durable effects to publication, in the service's style of commit."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from psycopg import DataError, IntegrityError, Rollback
from psycopg.errors import UniqueViolation

from spades_runtime import answers, logging, metrics, parking, statement, tracing
from spades_runtime.crash import crash_at
from spades_runtime.errors import Fenced, OutcomeUnknown
from spades_runtime.owned import Owned
from spades_runtime.publisher import Publisher
from spades_runtime.seal import Seal
from spades_runtime.settings import RuntimeSettings
from spades_runtime.sorting import Batch
from spades_runtime.statement import ParkedRow, QuarantineRow, Write
from spades_runtime.types import (
    Answer,
    AnswerId,
    Commit,
    Database,
    Effects,
    Output,
    Parked,
    Poll,
    Processor,
    SnapshotRow,
)

_log = logging.get(__name__)

RECALLS_MAX = 3
"""A command answered before is recalled once; more rounds mean that a processor does not recall."""
FENCE_AGE_MS = 2_000
"""Transient records go out without a write only so long after the last proof that we still own the partitions."""

_ACCEPTED, _REFUSED = metrics.DECISIONS.labels("accepted"), metrics.DECISIONS.labels("refused")


@dataclass(slots=True)
class _Prepared:
    """A write and what it changes here once it is durable."""

    write: Write
    seqs: dict[int, int]


@dataclass(slots=True)
class Judge:
    """Has the processor judge batches, writes what it says, publishes what was written."""

    settings: RuntimeSettings
    processor: Processor
    publisher: Publisher
    owned: dict[int, Owned]
    commit: Commit
    seal: Seal | None
    fenced_at_ms: int = 0
    """When a write last proved that the partitions are ours."""
    _now_ms: int = 0
    _started_ns: int = 0
    _waiting: list[Batch] = field(default_factory=list)
    """Commit.INTERVAL: batches whose parked records wait for the next flush."""

    async def judge(self, batch: Batch, db: Database, *, write_all: bool) -> bool:
        """Carry out one batch; whether anything was written. `write_all` writes every owned row with it.

        Raises Fenced if a partition is no longer ours, OutcomeUnknown if memory and database differ.
        """
        started_s, self._started_ns = time.perf_counter(), tracing.now_ns()
        self._now_ms = batch.now_ms
        self._note_alive(batch)
        if self.commit is Commit.INTERVAL:
            await self._judge_at_once(batch, db)
            return False
        try:
            written = await self._judge_recalling(batch, db, write_all=write_all)
        except (DataError, IntegrityError) as refused:
            self.processor.discard()
            await self._judge_one_by_one(batch, db, refused)
            written = True
        metrics.DECIDE_SECONDS.observe(time.perf_counter() - started_s)
        return written

    async def write_rows(self, db: Database, now_ms: int) -> None:
        """Write every owned partition's row, and with Commit.INTERVAL what the service changed."""
        if not self.owned:
            return
        self._now_ms = now_ms
        if self.commit is Commit.INTERVAL:
            await self._flush(db)
        else:
            await self._execute(db, Write([self._row(mine) for mine in self.owned.values()]))

    def forget(self) -> None:
        """All state was dropped."""
        self._waiting.clear()

    async def _judge_recalling(self, batch: Batch, db: Database, *, write_all: bool) -> bool:
        for _ in range(RECALLS_MAX):
            ids: list[AnswerId] = []
            try:
                if self.commit is Commit.TRANSACTION:
                    return await self._commit_transaction(batch, db, ids)
                return await self._commit_statement(batch, db, ids, write_all=write_all)
            except UniqueViolation as twice:
                self.processor.discard()
                if twice.diag.constraint_name == "answer_version":
                    raise OutcomeUnknown("a version of a stream is stored already") from twice
                known = await answers.fetch(db, ids) if twice.diag.constraint_name == "answer_id" else {}
                if not known:
                    raise
                metrics.RECALLS.inc()
                await self.processor.recall(list(known), db)
        raise RecallIgnored(f"judged {RECALLS_MAX} times, and still answered what is answered already")

    async def _commit_statement(self, batch: Batch, db: Database, ids: list[AnswerId], *, write_all: bool) -> bool:
        effects = await self._decide(batch, db)
        stale = bool(effects.outputs) and batch.now_ms - self.fenced_at_ms > FENCE_AGE_MS
        if not (write_all or stale or _has_effects(batch, effects)):
            await self._settle(batch, effects, None)
            return False
        ids += [answer.id for answer in effects.answers]
        prepared = self._prepare(batch, effects, write_all=write_all or stale)
        crash_at("before_commit")
        await self._execute(db, prepared.write)
        crash_at("after_commit")
        await self._settle(batch, effects, prepared)
        crash_at("after_publish")
        return True

    async def _commit_transaction(self, batch: Batch, db: Database, ids: list[AnswerId]) -> bool:
        prepared: _Prepared | None = None
        if batch.is_idle:
            # Nothing that concerns the service: not even a look at the database.
            await self._settle(batch, Effects(), None)
            return False
        async with db.transaction():
            await self._lock_rows(db)
            effects = await self._decide(batch, db)
            if _has_effects(batch, effects):
                ids += [answer.id for answer in effects.answers]
                prepared = self._prepare(batch, effects, write_all=False)
                await self._execute(db, prepared.write)
                crash_at("before_commit")
            else:
                # Nothing to keep, and no fsync for it: the offsets go with a later write.
                _roll_back()
        if prepared is None:
            await self._settle(batch, effects, None)
            return False
        crash_at("after_commit")
        await self._settle(batch, effects, prepared)
        crash_at("after_publish")
        return True

    async def _judge_one_by_one(self, batch: Batch, db: Database, refused: Exception) -> None:
        """The database refused something of the batch: find it, set it aside, keep the rest."""
        _log.warning("judged_one_by_one", records=len(batch.inputs), refused=type(refused).__name__)
        for single in _singles(batch):
            try:
                await self._judge_recalling(single, db, write_all=False)
            except (DataError, IntegrityError) as cause:
                self.processor.discard()
                if not single.inputs:
                    raise
                self._set_aside(single, cause)
                await self._judge_recalling(single, db, write_all=False)
            batch.set_aside += single.set_aside

    def _set_aside(self, single: Batch, cause: DataError | IntegrityError) -> None:
        source = single.inputs[0]
        reason = f"the database refused it: {cause.diag.constraint_name or type(cause).__name__}"
        _log.error("record_refused", reason=reason, **parking.shown(source))
        if parking.is_command_topic(source.topic):
            single.parked.append(Parked(source, reason, secret=True))
            single.inputs = []
        else:
            single.quarantine([Parked(source, reason, secret=False)])

    async def _judge_at_once(self, batch: Batch, db: Database) -> None:
        effects = await self._decide(batch, db)
        if effects.outputs and batch.now_ms - self.fenced_at_ms > FENCE_AGE_MS:
            await self._flush(db)
        assert not effects.answers, "Commit.INTERVAL stores no answers"
        batch.parked += effects.parked
        if batch.parked or batch.held or batch.shut:
            self._waiting.append(batch)
        await self._settle(batch, effects, None)

    async def _flush(self, db: Database) -> None:
        parked, held, shut = [], [], {}
        for batch in self._waiting:
            parked += batch.parked
            held += batch.held
            shut.update(batch.shut)
        gathered = Batch(self._now_ms, parked=parked, held=held, shut=shut)
        async with db.transaction():
            await self._lock_rows(db)
            await self.processor.flush(db)
            prepared = self._prepare(gathered, Effects(), write_all=True)
            crash_at("before_commit")
            await self._execute(db, prepared.write)
        crash_at("after_commit")
        self._waiting.clear()
        await self._settle(gathered, Effects(), prepared)

    async def _decide(self, batch: Batch, db: Database) -> Effects:
        # Each round takes at least one record out, so the rounds end.
        for _ in range(len(batch.inputs) + 1):
            effects = await self.processor.process(Poll(batch.inputs, batch.now_ms, batch.outages_ms), db)
            if not effects.quarantined:
                return effects
            self.processor.discard()
            batch.quarantine(effects.quarantined)
            for bad in effects.quarantined:
                _log.error("stream_quarantined", reason=bad.reason, **parking.shown(bad.source))
        raise AssertionError("a processor quarantined records that it was not given")

    async def _lock_rows(self, db: Database) -> None:
        epochs = {part: mine.epoch for part, mine in self.owned.items()}
        cursor = await db.execute(
            "SELECT part, epoch FROM partition WHERE part = ANY(%s) ORDER BY part FOR UPDATE", [list(epochs)]
        )
        found: dict[int, int] = {part: epoch for part, epoch in await cursor.fetchall()}
        if lost := [part for part, epoch in epochs.items() if found.get(part) != epoch]:
            raise Fenced(lost)
        self.fenced_at_ms = self._now_ms

    async def _execute(self, db: Database, write: Write) -> None:
        started_s = time.perf_counter()
        fenced = await statement.execute(db, write)
        metrics.COMMIT_SECONDS.observe(time.perf_counter() - started_s)
        if lost := [row.part for row in write.partitions if row.part not in fenced]:
            raise Fenced(lost)
        self.fenced_at_ms = self._now_ms

    def _note_alive(self, batch: Batch) -> None:
        # The write that stores an outage's effects also ends the outage.
        for part in batch.outages_ms:
            self.owned[part].alive_at_ms = batch.now_ms
            metrics.OUTAGES.inc()

    def _prepare(self, batch: Batch, effects: Effects, *, write_all: bool) -> _Prepared:
        seqs: dict[int, int] = {}
        answer_seqs = [self._next_seq(seqs, answer.part) for answer in effects.answers]
        parked = [
            parking.row_of(found, self._next_seq(seqs, found.source.part), batch.now_ms, self.seal, quarantined=held)
            for group, held in ((batch.parked, False), (effects.parked, False), (batch.held, True))
            for found in group
        ]
        touched = self.owned if write_all else {*seqs, *batch.next_offsets, *batch.outages_ms, *_parts(effects)}
        rows = [
            self._row(self.owned[part])._replace(
                seq=seqs.get(part, self.owned[part].seq),
                next_offsets={**self.owned[part].next_offsets, **batch.next_offsets.get(part, {})},
            )
            for part in touched
        ]
        return _Prepared(
            Write(
                rows,
                answers=effects.answers,
                seqs=answer_seqs,
                snapshots=self._snapshots(effects),
                parked=parked,
                quarantined=[QuarantineRow(*at, reason, batch.now_ms) for at, reason in batch.shut.items()],
            ),
            seqs,
        )

    def _next_seq(self, seqs: dict[int, int], part: int) -> int:
        seq = seqs[part] = (seqs[part] if part in seqs else self.owned[part].seq) + 1
        return seq

    def _row(self, mine: Owned) -> statement.PartitionRow:
        return mine.row(self.publisher.published_seq.get(mine.part, 0))

    def _snapshots(self, effects: Effects) -> list[SnapshotRow]:
        if self.commit is not Commit.STATEMENT:
            return effects.snapshots
        # A stream is found again through its snapshot row, so its first answer brings one.
        begun = [SnapshotRow(a.part, a.stream, 0, b"") for a in effects.answers if a.first_version == 1 and a.events]
        return begun + effects.snapshots if begun else effects.snapshots

    async def _settle(self, batch: Batch, effects: Effects, prepared: _Prepared | None) -> None:
        """Everything is durable, or nothing had to be: move on and publish."""
        for part, offsets in batch.next_offsets.items():
            self.owned[part].next_offsets.update(offsets)
        self.processor.committed()
        for part, stream in batch.shut:
            # At once, with Commit.INTERVAL before it is stored: what follows in the stream must wait too.
            self.owned[part].quarantined.add(stream)
        parked: list[ParkedRow] = []
        seqs: dict[int, int] = {}
        if prepared is not None:
            seqs = prepared.seqs
            parked = list(prepared.write.parked)
            for part, seq in seqs.items():
                self.owned[part].seq = seq
            self._count(effects.answers, parked)
            batch.set_aside += [(row.topic, row.offset) for row in parked]
        if effects.answers or effects.outputs or parked or seqs:
            outputs = self._outputs(effects, parked)
            await self.publisher.publish(outputs, batch.now_ms, seqs)
        if tracing.is_on():
            tracing.followed("answer", [(one.traceparent, one.stream) for one in effects.answers], self._started_ns)

    def _outputs(self, effects: Effects, parked: list[ParkedRow]) -> Iterator[Output]:
        records = self.processor.records
        for answer in effects.answers:
            yield from records(answer)
            if answer.outputs:
                yield from answer.outputs
        for row in parked:
            yield parking.output_of(row, self.settings.service)
        yield from effects.outputs

    def _count(self, stored: list[Answer], parked: list[ParkedRow]) -> None:
        refused = sum(answer.refusal is not None for answer in stored)
        _REFUSED.inc(refused)
        _ACCEPTED.inc(len(stored) - refused)
        for row in parked:
            metrics.PARKED.labels(row.topic).inc()


class RecallIgnored(AssertionError):
    """A processor answered a recalled command anew: a bug of the service."""


def _roll_back() -> None:
    """Leave the block of `transaction()` without a commit; what stands behind the block goes on."""
    raise Rollback


def _has_effects(batch: Batch, effects: Effects) -> bool:
    return bool(
        effects.answers
        or effects.snapshots
        or effects.parked
        or batch.parked
        or batch.held
        or batch.shut
        or batch.outages_ms
    )


def _parts(effects: Effects) -> Iterable[int]:
    return {row.part for row in effects.snapshots}


def _singles(batch: Batch) -> Iterator[Batch]:
    """The batch again in pieces: outages, then each record alone, then what was set aside with all offsets."""
    if batch.outages_ms:
        yield Batch(batch.now_ms, outages_ms=batch.outages_ms)
    for record in batch.inputs:
        yield Batch(batch.now_ms, inputs=[record])
    yield Batch(batch.now_ms, parked=batch.parked, held=batch.held, shut=batch.shut, next_offsets=batch.next_offsets)
