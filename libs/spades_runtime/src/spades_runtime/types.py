"""What a service hands to the partition worker and gets from it: plain values, and one protocol."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol

from psycopg import AsyncConnection

Database = AsyncConnection[tuple[Any, ...]]
"""The worker's one connection; tuples come back."""

Headers = Sequence[tuple[str, bytes]]

AnswerId = tuple[str, str, str]
"""(stream, account, command id): what makes a command the same command."""


class Input(NamedTuple):
    """One record as it was read. Null and undecodable keys never reach a processor."""

    topic: str
    """Without the deployment's prefix: `table.commands`."""
    part: int
    offset: int
    key: bytes | None
    value: bytes
    headers: Headers


class Output(NamedTuple):
    """One record to publish, to exactly this partition."""

    topic: str
    """Without the deployment's prefix."""
    part: int
    key: str
    value: bytes
    headers: list[tuple[str, bytes]]


class StoredEvent(NamedTuple):
    """One event of an answer; its version is the answer's first version plus its place."""

    type: str
    """CloudEvents type, `spades.card_played.v1`."""
    body: bytes
    """The public form, JSON."""
    sealed: bytes | None = None
    """What only the service itself may read again, sealed."""
    seats: str = ""
    """Seats that have a private supplement: `02`."""


@dataclass(slots=True)
class Answer:
    """What one command got: its events, or a refusal. One row, unique by `id`.

    Events caused by no command (a timeout, a wallet's event) are answers too; their
    account and command id name the cause (`clock`, the id of the record).
    """

    part: int
    stream: str
    account: str
    command_id: str
    fingerprint: bytes
    first_version: int
    """Version of the first event; of a refusal: the stream's version when it was judged."""
    events: tuple[StoredEvent, ...]
    refusal: bytes | None
    """Encoded body of the refusal, kept ten minutes. None where the command was accepted."""
    at_ms: int
    traceparent: str | None = None
    outputs: tuple[Output, ...] = ()
    """Transient records published right behind the answer's public ones; not stored."""

    @property
    def id(self) -> AnswerId:
        return (self.stream, self.account, self.command_id)


class Parked(NamedTuple):
    """A record set aside: kept in the database and published to `parked`."""

    source: Input
    reason: str
    """Words for operators; never a value out of the record."""
    secret: bool
    """The payload is sealed (commands) or left out (private, prompts)."""


class SnapshotRow(NamedTuple):
    """The state of one stream at a version; the newest replaces the older ones."""

    part: int
    stream: str
    version: int
    body: bytes
    retired: bool = False
    """The stream left memory: the next take does not load it."""


@dataclass(slots=True)
class Poll:
    """What one turn of the loop judges."""

    inputs: list[Input]
    """By topic in the processor's order, then in the order of their offsets."""
    now_ms: int
    outages_ms: dict[int, tuple[int, int]] = field(default_factory=dict)
    """part -> (alive_at_ms, outage_ms) where nothing was alive for more than two seconds; judge it before any input."""


@dataclass(slots=True)
class Effects:
    """What a poll causes, in order. All of it is committed at once, or nothing."""

    answers: list[Answer] = field(default_factory=list)
    parked: list[Parked] = field(default_factory=list)
    quarantined: list[Parked] = field(default_factory=list)
    """Event records whose stream (the key) cannot go on without them: the worker parks each
    one and every later event of its stream, and judges the poll again without them."""
    outputs: list[Output] = field(default_factory=list)
    """Transient records: snapshots for a viewer, timeouts, repeated answers. Published last, not stored."""
    snapshots: list[SnapshotRow] = field(default_factory=list)


class Commit(Enum):
    """How a service's effects become durable."""

    STATEMENT = "statement"
    """Decide with a plain connection for look-ups, then one statement for everything."""
    TRANSACTION = "transaction"
    """One transaction: fence the partitions, decide with the connection inside, answers.
    Without effects it is rolled back: what `process` wrote counts only beside an answer."""
    INTERVAL = "interval"
    """Outputs at once; `flush` and the offsets in one fenced transaction every 250 ms."""


class Processor(Protocol):
    """A service's judgement. It works on an overlay until the worker says what became of it."""

    inputs: tuple[str, ...]
    """Input topics, in the order in which one poll's records are judged."""

    outputs: tuple[str, ...]
    """Topics this service alone writes. No partition row, yet records there: a lost database."""

    def concerns(self, topic: str, headers: Headers) -> bool:
        """Whether a record with these headers is the service's business; asked before anything is decoded.

        A record that is not is passed over: a poll without others costs no transaction.
        """

    async def take(self, part: int, db: Database) -> list[Output]:
        """Load the state of a newly owned partition; return fresh transient records for it."""

    def drop(self, part: int) -> None:
        """Forget the partition: it is another's, or will be taken again."""

    async def process(self, poll: Poll, db: Database) -> Effects:
        """Judge the poll on an overlay. After `discard` it may be called again, also with fewer inputs."""

    def records(self, answer: Answer) -> list[Output]:
        """Return the public records of a stored answer, at its publication and at each republication."""

    def committed(self) -> None:
        """The effects are durable: merge the overlay."""

    def discard(self) -> None:
        """The effects are not durable: drop the overlay."""

    async def recall(self, ids: list[AnswerId], db: Database) -> None:
        """These commands were answered before: load their stored answers, so that `process` repeats them."""

    def next_due_ms(self) -> int | None:
        """The earliest wake-up of its own, on the clock of `Poll.now_ms`; None: the poll's timeout only."""

    async def flush(self, db: Database) -> None:
        """Commit.INTERVAL: write the changed rows inside the fenced transaction."""

    async def unsettled(self, part: int, db: Database) -> list[str]:
        """Streams to republish from version 1 when the Kafka cluster was replaced."""
