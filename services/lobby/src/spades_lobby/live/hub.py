"""From Kafka's records to feeds, and from feeds to connections: the fan-out."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence, Set
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol, assert_never
from uuid import uuid4

import msgspec
import structlog
from aiokafka import TopicPartition

from spades_events import BOT_ACCOUNT, Topic, commands, private
from spades_lobby.domain import accounts_of
from spades_lobby.live import frames
from spades_lobby.live.desk import AnswerKey, Answers, Desk, SendFailed
from spades_lobby.live.feeds import Feed, Outlet, PublicEvent, SeatSnapshot, Viewer, public_event
from spades_lobby.live.reader import Reader
from spades_lobby.live.records import (
    AnswerRecord,
    PartRecord,
    PublicRecord,
    Record,
    SnapshotRecord,
    TalkRecord,
    read_private,
    read_public,
)
from spades_lobby.live.wire import text_frame
from spades_lobby.people.namebook import Names
from spades_lobby.settings import LobbySettings
from spades_runtime import tracing

log = structlog.get_logger()

WATCHER: Final = "watcher"
"""Who asks for a snapshot without a seat, whatever their account: no account has this id."""
_GLANCE: Final = "glance"
SWEEP_S: Final = 0.25

_decode_snapshot: Final = msgspec.json.Decoder(private.Snapshot).decode


class WalletListener(Protocol):
    def on_wallet_event(self, record: Record) -> None:
        """A record of wallet.events was read."""


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

    async def watch(
        self,
        table_id: str,
        connection_id: str,
        account_id: str,
        outlet: Outlet,
        muted: Set[str],
        *,
        as_watcher: bool = False,
    ) -> Viewer:
        """Join a table: from here on its events are kept for this viewer, then its snapshot is asked for.

        `as_watcher`: as somebody without a seat sees it, whoever it is. Raises KafkaError where Kafka does not answer.
        """
        await self.reader.join(*self._parts(table_id))
        feed = self.feed(table_id)
        viewer = Viewer(feed, connection_id, account_id, outlet)
        viewer.muted = set(muted)
        viewer.demoted = as_watcher
        feed.add(viewer)
        self.ask_snapshot(viewer, claims=not as_watcher)
        return viewer

    def unwatch(self, viewer: Viewer, *, comes_again: bool = False) -> None:
        """The viewer is gone; the others at the table are told where somebody who sits there left by it."""
        self._forget_sync(viewer)
        if viewer.seat is not None and viewer.feed.is_newest(viewer) and not comes_again:
            gone = private.PlayerDisconnected(
                account_id=viewer.account_id, seat=viewer.seat, connection_id=viewer.connection_id
            )
            self._in_background(self.tell(viewer.feed.table_id, gone))
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
        key = AnswerKey(viewer.feed.table_id, actor, command_id)

        def heard(answer: private.Answer) -> None:
            self._syncs.pop(viewer.connection_id, None)
            if answer.rejection is not None and viewer.joining:
                viewer.outlet.no_snapshot(viewer, answer.rejection)

        self._answers.add(key, heard)
        self._syncs[viewer.connection_id] = (key, heard)
        sync = commands.SyncSeat(connection_id=_sync_name(viewer.connection_id, claims))
        self._in_background(self._desk.send(Topic.TABLE_COMMANDS, viewer.feed.table_id, actor, command_id, sync))

    async def tell(self, table_id: str, news: private.Said | private.PlayerDisconnected) -> None:
        """Tell every gateway with viewers of this table. Raises SendFailed."""
        await self._desk.send(Topic.TABLE_PRIVATE, table_id, news.account_id, str(uuid4()), news)

    def _pass_on(self, record: TalkRecord) -> None:
        match record.news:
            case private.Said() as said:
                record.feed.on_said(said)
            case private.PlayerDisconnected() as gone:
                record.feed.on_gone(gone)
            case never:
                assert_never(never)

    async def glance(self, table_id: str, account_id: str) -> private.Snapshot | private.Rejection:
        """The table as this account sees it now, once. Raises TimeoutError, SendFailed."""
        self._sync_no += 1
        name = f"{_GLANCE}:{self._sync_no}:{secrets.token_hex(8)}"
        body: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._glances[name] = body
        command_id = f"sync:{name}"
        try:
            async with self.reader.joined(*self._parts(table_id)):
                with self._answers.expecting(AnswerKey(table_id, account_id, command_id)) as refused:
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
        started_ns = tracing.now_ns()
        parts: list[PartRecord] = []
        snapshots: list[SnapshotRecord] = []
        answers: list[AnswerRecord] = []
        talk: list[TalkRecord] = []
        public: list[PublicRecord] = []
        for partition, records in polled.items():
            match self._topics.get(partition.topic):
                case Topic.TABLE_PRIVATE:
                    for record in records:
                        match read_private(record, self._feeds):
                            case PartRecord() as part:
                                parts.append(part)
                            case AnswerRecord() as answer:
                                answers.append(answer)
                            case SnapshotRecord() as snapshot:
                                snapshots.append(snapshot)
                            case TalkRecord() as said:
                                talk.append(said)
                case Topic.TABLE_EVENTS:
                    read = (read_public(record, self._feeds) for record in records)
                    public += [event for event in read if event is not None]
                case Topic.WALLET_EVENTS if self.wallet is not None:
                    for record in records:
                        self.wallet.on_wallet_event(record)
                case _:
                    pass
        await self._load_names(snapshots, public)
        for part in parts:
            part.feed.on_supplement(part.version, part.seat, part.body)
        for snapshot in snapshots:
            self._show_snapshot(snapshot)
        for event in public:
            event.feed.on_event(self._public_event(event))
            event.feed.note_hand(event.kind, event.version)
        for said in talk:
            self._pass_on(said)
        for answer in answers:
            self._answers.heard(*answer)
        self.flush()
        if tracing.is_on():
            tracing.followed("fan out", self._shown(polled), started_ns)

    def _shown(self, polled: Mapping[TopicPartition, Sequence[Record]]) -> Iterator[tuple[str | None, str]]:
        """Whose commands the events were that somebody here watches."""
        for partition, records in polled.items():
            if self._topics.get(partition.topic) is Topic.TABLE_EVENTS:
                for record in records:
                    traceparent = dict(record.headers).get("traceparent")
                    if traceparent is not None and record.key in self._feeds:
                        yield traceparent.decode("latin-1"), record.key.decode()

    async def _load_names(self, snapshots: Sequence[SnapshotRecord], public: Sequence[PublicRecord]) -> None:
        ids = {one for event in public if event.fact is not None for one in accounts_of(event.fact)}
        ids |= {one for snapshot in snapshots if snapshot.feed for one in snapshot.head.account_ids}
        if ids:
            await self._names.load(ids)

    def _public_event(self, event: PublicRecord) -> PublicEvent:
        mentioned = frozenset[str]() if event.fact is None else accounts_of(event.fact)
        names = self._names.json_of(mentioned) if mentioned else b""
        return public_event(event.kind, event.version, event.seats, event.body, names, event.fact)

    def _show_snapshot(self, snapshot: SnapshotRecord) -> None:
        glance = self._glances.get(snapshot.head.connection_id or "")
        if glance is not None and not glance.done():
            glance.set_result(snapshot.body)
        if snapshot.feed is not None:
            snapshot.feed.on_snapshot(self._seat_snapshot(snapshot))

    def _seat_snapshot(self, snapshot: SnapshotRecord) -> SeatSnapshot:
        head = snapshot.head
        opened = frames.spliced(b"snapshot", snapshot.version, snapshot.body)
        connection_id, claims = _connection_of(head.connection_id)
        return SeatSnapshot(
            version=snapshot.version,
            seat=head.seat,
            account_id=snapshot.actor,
            connection_id=connection_id,
            in_hand=head.phase == "playing",
            stake_coins=head.stake_coins,
            frame=text_frame(b'%b,"names":%b}' % (opened, self._names.json_of(head.account_ids))),
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


def _sync_name(connection_id: str, claims: bool) -> str:
    """What a SyncSeat calls its connection: a `watch` claims the seat's view, a rejoin does not."""
    return f"{'watch' if claims else 'rejoin'}:{connection_id}"


def _connection_of(sync_name: str | None) -> tuple[str | None, bool]:
    how, _, connection_id = (sync_name or "").partition(":")
    return (connection_id or None, how == "watch")


assert BOT_ACCOUNT != WATCHER
