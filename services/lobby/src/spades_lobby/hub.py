"""From Kafka's records to feeds, and from feeds to connections: the fan-out."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple, Protocol

import msgspec
import structlog
from aiokafka import TopicPartition

from spades_events import (
    BOT_ACCOUNT,
    CE_TYPES,
    SeatHolder,
    Topic,
    UndecodableMessage,
    codec,
    commands,
    decode,
    events,
    frame_name,
    private,
)
from spades_lobby import frames
from spades_lobby.desk import AnswerKey, Answers, Desk, SendFailed
from spades_lobby.domain import accounts_of
from spades_lobby.feeds import (
    SEAT_FACTS,
    Feed,
    Outlet,
    PublicEvent,
    SeatSnapshot,
    Viewer,
    public_event,
)
from spades_lobby.namebook import Names
from spades_lobby.reader import Reader, Record
from spades_lobby.settings import LobbySettings
from spades_lobby.wire import text_frame

log = structlog.get_logger()

WATCHER: Final = "watcher"
"""Who asks for a snapshot without a seat, whatever their account: no account has this id."""
_GLANCE: Final = "glance"
SWEEP_S: Final = 0.25

_FRAME_NAMES: Final = {CE_TYPES[kind].encode(): frame_name(kind).encode() for kind in codec.TABLE_EVENTS}
_NAMING: Final = frozenset(
    CE_TYPES[kind].encode()
    for kind in (
        *SEAT_FACTS,
        events.TableOpened,
        events.SeatReserved,
        events.SeatsLocked,
        events.GameStarted,
        events.GameEnded,
        events.GameSettled,
    )
)
_ANSWER: Final = CE_TYPES[private.Answer].encode()
_SUPPLEMENT: Final = CE_TYPES[private.Supplement].encode()
_SNAPSHOT: Final = CE_TYPES[private.Snapshot].encode()


UNREADABLE: Final = (
    *(KeyError, IndexError, ValueError, AttributeError, RecursionError),
    *(msgspec.DecodeError, UndecodableMessage),
)
"""What a record that is none of ours raises, whatever is wrong with it."""


class _SnapshotHead(msgspec.Struct, frozen=True):
    """What the fan-out itself needs of a snapshot; the rest passes through as it is."""

    connection_id: str | None
    seat: int | None
    stake_coins: int
    host: str
    seats: tuple[SeatHolder | None, ...]


_decode_head: Final = msgspec.json.Decoder(_SnapshotHead).decode
_decode_object: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_snapshot: Final = msgspec.json.Decoder(private.Snapshot).decode


class WalletListener(Protocol):
    def on_wallet_event(self, record: Record) -> None:
        """A record of wallet.events was read."""


class _Snapshot(NamedTuple):
    feed: Feed
    version: int
    actor: str | None
    head: _SnapshotHead
    body: bytes


class _Public(NamedTuple):
    feed: Feed
    kind: bytes
    version: int
    seats: str
    body: bytes
    fact: msgspec.Struct | None


class _Private(NamedTuple):
    feed: Feed
    version: int
    seat: int
    body: bytes


class Sink(Protocol):
    """A connection with frames that wait for the end of the poll."""

    def flush(self) -> None: ...


class Hub:
    """All feeds of this process. Everything but `watch` runs between two awaits of the reader."""

    def __init__(
        self,
        settings: LobbySettings,
        desk: Desk,
        answers: Answers,
        names: Names,
        now: Callable[[], float],
    ) -> None:
        self.reader = Reader(settings, self.dispatch)
        self._settings = settings
        self._desk = desk
        self._answers = answers
        self._names = names
        self._now = now
        self._feeds: dict[bytes, Feed] = {}
        self._touched: list[Sink] = []
        self._syncs: dict[str, tuple[AnswerKey, Callable[[private.Answer], None]]] = {}
        self._sync_no = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._glances: dict[str, asyncio.Future[bytes]] = {}
        self.wallet: WalletListener | None = None
        self._topics = {
            settings.topic(topic): topic for topic in (Topic.TABLE_PRIVATE, Topic.TABLE_EVENTS, Topic.WALLET_EVENTS)
        }

    @property
    def viewer_count(self) -> int:
        return sum(len(feed.viewers) for feed in self._feeds.values())

    # -- who watches ---------------------------------------------------------------------

    async def watch(self, table_id: str, connection_id: str, account_id: str, outlet: Outlet) -> Viewer:
        """Join a table: from here on its events are kept for this viewer, then its snapshot is asked for.

        Raises KafkaError where Kafka does not answer.
        """
        await self.reader.join(*self._parts(table_id))
        feed = self.feed(table_id)
        viewer = Viewer(feed, connection_id, account_id, outlet)
        feed.add(viewer)
        self.ask_snapshot(viewer, claims=True)
        return viewer

    def unwatch(self, viewer: Viewer) -> None:
        self._forget_sync(viewer)
        viewer.feed.remove(viewer)
        self.drop_if_idle(viewer.feed)
        self.reader.release(*self._parts(viewer.feed.table_id))

    def feed(self, table_id: str) -> Feed:
        """The table's feed; whoever adds itself to it also reads its partitions."""
        key = table_id.encode()
        feed = self._feeds.get(key)
        if feed is None:
            feed = self._feeds[key] = Feed(table_id, self._now)
        return feed

    @asynccontextmanager
    async def listening(self, table_id: str, listener: Callable[[msgspec.Struct], None]) -> AsyncIterator[None]:
        """Hear every event of the table that names somebody, from before the block begins."""
        async with self.reader.joined(*self._parts(table_id)):
            feed = self.feed(table_id)
            feed.listeners.append(listener)
            try:
                yield
            finally:
                feed.listeners.remove(listener)
                self.drop_if_idle(feed)

    def drop_if_idle(self, feed: Feed) -> None:
        if feed.idle:
            self._feeds.pop(feed.table_id.encode(), None)

    def _parts(self, table_id: str) -> tuple[TopicPartition, ...]:
        part = self._desk.part_of(table_id)
        return self.reader.parts(part, Topic.TABLE_EVENTS, Topic.TABLE_PRIVATE)

    def ask_snapshot(self, viewer: Viewer, *, claims: bool = False) -> None:
        """Send the table a SyncSeat for this viewer; the snapshot comes as a record."""
        self._forget_sync(viewer)
        self._sync_no += 1
        actor = WATCHER if viewer.demoted else viewer.account_id
        command_id = f"sync:{viewer.connection_id}:{self._sync_no}"
        key = AnswerKey(actor, command_id)

        def heard(answer: private.Answer) -> None:
            self._syncs.pop(viewer.connection_id, None)
            if answer.rejection is not None and viewer.joining:
                viewer.outlet.no_snapshot(viewer, answer.rejection)

        self._answers.add(key, heard)
        self._syncs[viewer.connection_id] = (key, heard)
        sync = commands.SyncSeat(connection_id=_sync_name(viewer.connection_id, claims))
        self._in_background(self._desk.send(Topic.TABLE_COMMANDS, viewer.feed.table_id, actor, command_id, sync))

    async def glance(self, table_id: str, account_id: str) -> private.Snapshot | private.Rejection:
        """The table as this account sees it now, once. Raises TimeoutError, SendFailed."""
        self._sync_no += 1
        name = f"{_GLANCE}:{self._sync_no}:{secrets.token_hex(8)}"
        body: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._glances[name] = body
        command_id = f"sync:{name}"
        try:
            async with self.reader.joined(*self._parts(table_id)):
                with self._answers.expecting(AnswerKey(account_id, command_id)) as refused:
                    await self._desk.send(
                        Topic.TABLE_COMMANDS,
                        table_id,
                        account_id,
                        command_id,
                        commands.SyncSeat(connection_id=name),
                    )
                    async with asyncio.timeout(self._settings.lobby_answer_ms / 1_000):
                        await asyncio.wait((body, refused), return_when=asyncio.FIRST_COMPLETED)
            if body.done():
                return _decode_snapshot(body.result())
            rejection = refused.result().rejection
            assert rejection is not None, "a SyncSeat is answered by a snapshot or refused"
            return rejection
        finally:
            del self._glances[name]

    def _forget_sync(self, viewer: Viewer) -> None:
        sync = self._syncs.pop(viewer.connection_id, None)
        if sync is not None:
            self._answers.remove(*sync)

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        async def run() -> None:
            try:
                await work
            except SendFailed as error:
                # The sweep asks again.
                log.warning("sync_not_sent", error=str(error))

        task = asyncio.get_running_loop().create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- records in ----------------------------------------------------------------------

    async def dispatch(self, polled: Mapping[TopicPartition, Sequence[Record]]) -> None:
        """One poll: seats' parts and snapshots first, so that events wait for none beside them."""
        parts: list[_Private] = []
        snapshots: list[_Snapshot] = []
        public: list[_Public] = []
        answers: list[tuple[str, str, bytes]] = []
        for partition, records in polled.items():
            match self._topics.get(partition.topic):
                case Topic.TABLE_PRIVATE:
                    for record in records:
                        self._sort_private(record, parts, snapshots, answers)
                case Topic.TABLE_EVENTS:
                    for record in records:
                        self._sort_public(record, public)
                case Topic.WALLET_EVENTS if self.wallet is not None:
                    for record in records:
                        self.wallet.on_wallet_event(record)
                case _:
                    pass
        if snapshots or any(event.fact is not None for event in public):
            await self._names.load(
                {one for event in public if event.fact for one in accounts_of(event.fact)}
                | {one for snapshot in snapshots for one in _accounts(snapshot.head)}
            )
        for part in parts:
            part.feed.on_supplement(part.version, part.seat, part.body)
        for snapshot in snapshots:
            snapshot.feed.on_snapshot(self._seat_snapshot(snapshot))
        for event in public:
            event.feed.on_event(self._public_event(event))
        for account_id, command_id, body in answers:
            self._answers.heard(account_id, command_id, body)
        self.flush()

    def _sort_private(
        self,
        record: Record,
        parts: list[_Private],
        snapshots: list[_Snapshot],
        answers: list[tuple[str, str, bytes]],
    ) -> None:
        found = dict(record.headers)
        kind = found.get("ce_type")
        try:
            if kind == _ANSWER:
                account_id = found["ce_spadesactor"].decode()
                answers.append((account_id, found["ce_id"].decode(), record.value))
                return
            if kind == _SNAPSHOT and self._glances:
                self._show_glance(record.value)
            feed = self._feeds.get(record.key)
            if feed is None:
                return
            if kind == _SUPPLEMENT:
                version, seat = int(found["ce_sequence"]), int(found["ce_spadesseat"])
                parts.append(_Private(feed, version, seat, record.value))
            elif kind == _SNAPSHOT:
                actor = found.get("ce_spadesactor")
                snapshots.append(
                    _Snapshot(
                        feed,
                        int(found["ce_sequence"]),
                        actor and actor.decode(),
                        _decode_head(record.value),
                        record.value,
                    )
                )
        except UNREADABLE as error:
            self._unreadable(record, error)

    def _show_glance(self, body: bytes) -> None:
        glance = self._glances.get(_decode_head(body).connection_id or "")
        if glance is not None and not glance.done():
            glance.set_result(body)

    def _sort_public(self, record: Record, public: list[_Public]) -> None:
        feed = self._feeds.get(record.key)
        if feed is None:
            return
        found = dict(record.headers)
        try:
            ce_type = found["ce_type"]
            # The body goes into frames as it is: it has to be what a frame can hold.
            _decode_object(record.value.decode())
            kind = _FRAME_NAMES.get(ce_type) or ce_type.split(b".")[1]
            fact = decode(ce_type.decode(), record.value) if ce_type in _NAMING else None
            public.append(
                _Public(
                    feed,
                    kind,
                    int(found["ce_sequence"]),
                    found.get("ce_spadesseats", b"").decode(),
                    record.value,
                    fact,
                )
            )
        except UNREADABLE as error:
            # Its viewers see a gap with the next event and join anew.
            self._unreadable(record, error)

    def _unreadable(self, record: Record, error: Exception) -> None:
        log.error(
            "unreadable_record",
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            error=type(error).__name__,
        )

    def _public_event(self, event: _Public) -> PublicEvent:
        names = b""
        if event.fact is not None:
            mentioned = accounts_of(event.fact)
            names = self._names.json_of(mentioned) if mentioned else b""
        return public_event(event.kind, event.version, event.seats, event.body, names, event.fact)

    def _seat_snapshot(self, snapshot: _Snapshot) -> SeatSnapshot:
        head = snapshot.head
        names = self._names.json_of(_accounts(head))
        opened = frames.spliced(b"snapshot", snapshot.version, snapshot.body)
        connection_id, claims = _connection_of(head.connection_id)
        return SeatSnapshot(
            version=snapshot.version,
            seat=head.seat,
            account_id=snapshot.actor,
            connection_id=connection_id,
            stake_coins=head.stake_coins,
            frame=text_frame(b'%b,"names":%b}' % (opened, names)),
            claims=claims,
        )

    # -- frames out ----------------------------------------------------------------------

    def touched(self, sink: Sink) -> None:
        """This connection has frames for the end of the poll."""
        self._touched.append(sink)

    def flush(self) -> None:
        touched, self._touched = self._touched, []
        for sink in touched:
            sink.flush()

    async def sweep(self) -> None:
        """Ask again for what did not come: snapshots, and snapshots in place of seats' parts."""
        limit_s = self._settings.lobby_supplement_ms / 1_000
        while True:
            await asyncio.sleep(SWEEP_S)
            now = self._now()
            for feed in list(self._feeds.values()):
                for viewer in list(feed.viewers.values()):
                    if viewer.waits and not viewer.stalled and now - viewer.since >= limit_s:
                        viewer.rejoin()
            self.flush()
            await self.reader.let_go()


def _accounts(head: _SnapshotHead) -> frozenset[str]:
    seated = {holder.account_id for holder in head.seats if holder is not None}
    return frozenset(seated | {head.host}) - {""}


def _sync_name(connection_id: str, claims: bool) -> str:
    """What a SyncSeat calls its connection: a `watch` claims the seat's view, a rejoin does not."""
    return f"{'watch' if claims else 'rejoin'}:{connection_id}"


def _connection_of(sync_name: str | None) -> tuple[str | None, bool]:
    how, _, connection_id = (sync_name or "").partition(":")
    return (connection_id or None, how == "watch")


assert BOT_ACCOUNT != WATCHER
