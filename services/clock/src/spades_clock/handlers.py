"""The worker's processor: deadlines come in with the tables' events, timeouts go out when they are due."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, get_args

from spades_clock import metrics, store
from spades_clock.domain import ClockedEvent, Firing, Timer, Timers
from spades_clock.table_time import TableTime
from spades_events import CE_TYPES, Envelope, Topic, UndecodableMessage, decode, encode, envelope_of, headers_of
from spades_events.clock import TimedOut
from spades_runtime import Answer, AnswerId, Database, Effects, Headers, Input, Output, Parked, Poll

SOURCE = "/spades/clock"
# Every version of a type that moves a deadline: an unknown one must hold up its stream, not be passed over.
_CLOCKED_NAMES = frozenset(CE_TYPES[cls].rpartition(".")[0].encode() for cls in get_args(ClockedEvent))


class Read(NamedTuple):
    """One event that moves a deadline."""

    part: int
    table_id: str
    version: int
    made_ms: int | None
    event: ClockedEvent


class Partition:
    """The timers of one owned partition, the tables' time there, and what of it is not saved yet."""

    def __init__(self, timers: Sequence[Timer], last_alive_ms: int | None = None) -> None:
        self.timers = Timers(tuple(timers))
        self.time = TableTime()
        self._last_alive_ms = last_alive_ms
        self.unsaved: dict[str, Timer | None] = {}
        """By table; None where the table has ended."""

    def wake(self, now_ms: int) -> None:
        """Before the first events: time was later than now already, so our clock was set back while we were down."""
        if self._last_alive_ms is not None and now_ms < self._last_alive_ms:
            self.time.learn(read_ms=now_ms, made_ms=self._last_alive_ms)
        self._last_alive_ms = None

    def react(self, read: Read, now_ms: int) -> None:
        if read.made_ms is not None:
            self.time.learn(read_ms=now_ms, made_ms=read.made_ms)
        if self.timers.react(read.table_id, read.version, read.event):
            self.unsaved[read.table_id] = self.timers.timer(read.table_id)

    def due(self, now_ms: int) -> Iterator[Firing]:
        at_tables_ms = self.time.at_tables(now_ms)
        for firing in self.timers.due(at_tables_ms):
            late_ms = at_tables_ms - firing.event.due_ms
            if firing.is_first:
                metrics.LATENESS.observe(late_ms / 1_000)
            metrics.FIRED.labels("first" if firing.is_first else "again").inc()
            yield firing

    def next_due_ms(self) -> int | None:
        if self._last_alive_ms is not None:
            return 0
        due_ms = self.timers.next_due_ms()
        return None if due_ms is None else self.time.here(due_ms)


class Deadlines:
    """`spades_runtime.Processor` of the clock, for Commit.INTERVAL.

    Idempotent by the stream's version: what was folded before changes nothing. A timeout that
    goes out twice has no second effect at the table, which knows its running deadline's id.
    """

    inputs: tuple[str, ...] = (Topic.TABLE_EVENTS.value,)
    outputs: tuple[str, ...] = (Topic.CLOCK_EVENTS.value,)

    def __init__(self) -> None:
        self._partitions: dict[int, Partition] = {}
        self._saving: dict[int, dict[str, Timer | None]] = {}

    def concerns(self, topic: str, headers: Headers) -> bool:
        return _is_clocked(headers)

    async def take(self, part: int, db: Database) -> list[Output]:
        """Load the partition's rows; the events behind its saved offsets follow by themselves."""
        self._partitions[part] = Partition(await store.timers_of(db, part), await store.last_alive_ms(db, part))
        self._tell_size()
        return []

    def drop(self, part: int) -> None:
        self._partitions.pop(part, None)
        self._saving.pop(part, None)
        self._tell_size()

    async def process(self, poll: Poll, db: Database) -> Effects:
        """Fold the events, then fire what is due: a deadline that this very poll replaces stays silent."""
        reads: list[Read] = []
        bad: list[Parked] = []
        for source in poll.inputs:
            try:
                read = _read(source)
            except UndecodableMessage as error:
                bad.append(Parked(source, error.reason, secret=False))
            else:
                if read is not None:
                    reads.append(read)
        if bad:
            # Nothing is folded yet: the worker asks again without these streams.
            return Effects(quarantined=bad)
        for partition in self._partitions.values():
            partition.wake(poll.now_ms)
        for read in reads:
            self._partitions[read.part].react(read, poll.now_ms)
        outputs = [
            _output(part, firing, poll.now_ms)
            for part, partition in sorted(self._partitions.items())
            for firing in partition.due(poll.now_ms)
        ]
        return Effects(outputs=outputs)

    def next_due_ms(self) -> int | None:
        return min((due for p in self._partitions.values() if (due := p.next_due_ms()) is not None), default=None)

    async def flush(self, db: Database) -> None:
        """Write the rows that changed, inside the worker's fenced transaction."""
        await store.need_no_fsync(db)
        self._saving = {part: dict(held.unsaved) for part, held in self._partitions.items() if held.unsaved}
        for part, changed in self._saving.items():
            await store.save(db, part, changed)

    def committed(self) -> None:
        """What a flush wrote is durable; between two flushes there is nothing to forget."""
        for part, saved in self._saving.items():
            unsaved = self._partitions[part].unsaved
            for table_id, timer in saved.items():
                if unsaved.get(table_id) is timer:
                    unsaved.pop(table_id, None)
        self._saving = {}
        self._tell_size()

    def discard(self) -> None:
        """Nothing was folded that would have to be undone: `process` folds only what it keeps."""
        self._saving = {}

    def records(self, answer: Answer) -> list[Output]:
        raise AssertionError("the clock stores no answers")

    async def recall(self, ids: list[AnswerId], db: Database) -> None:
        raise AssertionError("the clock stores no answers")

    async def unsettled(self, part: int, db: Database) -> list[str]:
        """The clock owns no stream that others would have to be told again."""
        return []

    def _tell_size(self) -> None:
        metrics.TABLES.set(sum(len(held.timers) for held in self._partitions.values()))
        leads = [held.time.lead_ms for held in self._partitions.values()]
        metrics.LEAD.set(max(leads, key=abs, default=0) / 1_000)


def _read(source: Input) -> Read | None:
    """Return the event where it moves a deadline. Raises UndecodableMessage where it should and cannot be read."""
    if not _is_clocked(source.headers):
        return None
    envelope = envelope_of(source.headers)
    event = decode(envelope.type, source.value)
    if not isinstance(event, ClockedEvent) or envelope.sequence is None:
        raise UndecodableMessage("no version in its stream")
    return Read(source.part, envelope.subject, envelope.sequence, envelope.time_ms, event)


def _is_clocked(headers: Headers) -> bool:
    return any(name == "ce_type" and value.rpartition(b".")[0] in _CLOCKED_NAMES for name, value in headers)


def _output(part: int, firing: Firing, now_ms: int) -> Output:
    event = firing.event
    envelope = Envelope(
        # A repetition is the same fact, so it has the same id.
        id=f"{firing.table_id}:{event.deadline_id}",
        type=CE_TYPES[TimedOut],
        source=SOURCE,
        subject=firing.table_id,
        time_ms=now_ms,
    )
    return Output(Topic.CLOCK_EVENTS.value, part, firing.table_id, encode(event), headers_of(envelope))
