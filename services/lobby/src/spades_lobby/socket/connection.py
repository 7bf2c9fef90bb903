"""One WebSocket: who it is, what it watches, what it says, what it has not read yet."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from typing import TYPE_CHECKING, Any, Final

import structlog
from aiokafka.errors import KafkaError
from sqlalchemy.exc import SQLAlchemyError

from spades_events import Topic
from spades_events.private import Rejection
from spades_lobby import metrics
from spades_lobby.live import frames
from spades_lobby.live.desk import SendFailed
from spades_lobby.live.feeds import Viewer
from spades_lobby.live.frames import BadFrame, CommandFrame
from spades_lobby.live.talk import TalkRefused
from spades_lobby.live.wire import Wire, text_frame
from spades_lobby.people import scopes
from spades_lobby.people.scopes import Scope
from spades_lobby.people.store import Person
from spades_lobby.problems import Problem
from spades_lobby.socket.pending import Bucket, Pending

if TYPE_CHECKING:
    from spades_lobby.socket.sockets import Sockets

log = structlog.get_logger()

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

TOO_LATE: Final = 4401
"""Close code: no valid ticket in time, or the session ended."""
POLICY: Final = 1008
RESTART: Final = 1012
TRY_LATER: Final = 1013

OVERRUNS_MAX: Final = 400
"""Frames over the rate, in a row, before the socket closes: ten bursts."""
REMATCHES_MAX: Final = 8
"""Rematches of one connection without an answer."""
NO_TABLE: Final = "There is no such table, or it is not yours."
"""The same for what is not there and for what is not the asker's."""


def _check_scope(frame: frames.AnyFrame, person: Person) -> None:
    match frame:
        case frames.Watch() | frames.Resync():
            needed = Scope.READ
        case frames.Say() | frames.Mute() | frames.Report():
            needed = Scope.PLAY
        case _:
            needed = Scope.BOT
    try:
        scopes.require(person.scope, needed)
    except Problem as problem:
        raise BadFrame(problem.code, problem.message, frame.id) from None


class Connection:
    """A client's socket, from its first frame to its last. It is its viewer's outlet."""

    def __init__(self, sockets: "Sockets", wire: Wire) -> None:
        self.id = secrets.token_hex(8)
        self.person: Person | None = None
        self._sockets = sockets
        self._wire = wire
        self._settings = sockets.settings
        self._viewer: Viewer | None = None
        self._watched_last: str | None = None
        self._rematches = 0
        self._out: list[bytes] = []
        self._pending = Pending(sockets.answers, sockets.now, self.send_later)
        self._overflowed_at: float | None = None
        self._overruns = 0
        self._bucket = Bucket(
            self._settings.lobby_frames_per_second,
            self._settings.lobby_frames_burst,
            sockets.now(),
        )
        self._tasks: set[asyncio.Task[None]] = set()
        wire.on_drained = self._drained

    # -- frames out ----------------------------------------------------------------------

    def send_later(self, frame: bytes) -> None:
        """Send a ready frame with the next flush of the hub."""
        if not self._out:
            self._sockets.hub.touched(self)
        self._out.append(frame)

    def send(self, payload: bytes) -> None:
        """Send a JSON text now, behind what waits."""
        self._out.append(text_frame(payload))
        self.flush()

    def flush(self) -> None:
        if not self._out:
            return
        out, self._out = self._out, []
        if self._wire.unread_bytes > self._settings.lobby_unread_bytes_max:
            self._overflow()
            return
        metrics.FRAMES_OUT.inc(len(out))
        self._wire.write(out[0] if len(out) == 1 else b"".join(out))

    def _overflow(self) -> None:
        """The reader is too slow: once it gets a snapshot instead, the second time it has to go."""
        now = self._sockets.now()
        if self._viewer is not None and self._viewer.stalled:
            # Only answers to its own frames, which it does not read either.
            return
        last, self._overflowed_at = self._overflowed_at, now
        recent_s = self._settings.lobby_overflow_forgotten_ms / 1_000
        metrics.OVERFLOWS.inc()
        if self._viewer is None or (last is not None and now - last < recent_s):
            self.close(TRY_LATER, "too slow")
        else:
            self._viewer.stall()

    def _drained(self) -> None:
        if self._viewer is not None and self._viewer.stalled:
            self._viewer.rejoin()

    def close(self, code: int, reason: str) -> None:
        self._wire.close(code, reason)

    # -- outlet of the viewer ------------------------------------------------------------

    def ask_snapshot(self, viewer: Viewer) -> None:
        self._sockets.hub.ask_snapshot(viewer)

    def played_elsewhere(self, viewer: Viewer) -> None:
        self.send_later(
            text_frame(
                frames.error_frame(
                    "played_elsewhere",
                    "You play this seat on a newer connection; here you only watch. Send watch to play here again.",
                )
            )
        )

    def table_silent(self, viewer: Viewer) -> None:
        self.send_later(
            text_frame(frames.error_frame("table_silent", "The table does not answer yet; it will be asked again."))
        )

    def no_snapshot(self, viewer: Viewer, rejection: Rejection) -> None:
        self._start(self._show_ended(viewer.feed.table_id, rejection))

    # -- frames in -----------------------------------------------------------------------

    async def run(self, receive: Receive) -> None:
        """Read the client's frames until the socket closes."""
        loop = asyncio.get_running_loop()
        too_late = loop.call_later(self._settings.lobby_hello_ms / 1_000, self._check_hello)
        try:
            while True:
                message = await receive()
                if message["type"] == "websocket.disconnect":
                    return
                await self._on_message(message.get("text"))
        finally:
            too_late.cancel()
            self._leave()

    def _check_hello(self) -> None:
        if self.person is None:
            self.send(frames.error_frame("hello_first", "No hello with a ticket came in time."))
            self.close(TOO_LATE, "no hello")

    def _leave(self) -> None:
        self._pending.clear()
        for task in self._tasks:
            task.cancel()
        self._stop_watching()

    async def _on_message(self, text: str | None) -> None:
        if not self._bucket.take(self._sockets.now()):
            self._overrun(text)
            return
        self._overruns = 0
        metrics.FRAMES_IN.inc()
        if text is None:
            self.send(frames.error_frame("text_only", "Frames are JSON text."))
            return
        try:
            await self._obey(frames.decode(text))
        except BadFrame as bad:
            self._refuse(bad)
        except (SQLAlchemyError, KafkaError, OSError) as error:
            log.warning("frame_not_served", error=type(error).__name__)
            self.send(frames.error_frame("unavailable", "Not possible right now; try again."))

    def _overrun(self, text: str | None) -> None:
        self._overruns += 1
        if self._overruns > OVERRUNS_MAX:
            self.close(POLICY, "too many frames")
            return
        wait_ms = 1_000 // self._settings.lobby_frames_per_second
        self.send(
            frames.error_frame(
                "rate_limited",
                "Too many frames; this one was dropped.",
                frames.command_id_of(text),
                retry_after_ms=wait_ms,
            )
        )

    def _refuse(self, bad: BadFrame) -> None:
        if bad.command_id is None:
            self.send(frames.error_frame(bad.code, bad.message))
        else:
            self.send(frames.rejected_frame(bad.command_id, bad.code, bad.message))

    async def _obey(self, frame: frames.AnyFrame) -> None:
        if isinstance(frame, frames.Ping):
            self.send(frames.pong_frame(frame.client_ms, self._sockets.clock.now_ms()))
            return
        if isinstance(frame, frames.Hello):
            await self._hello(frame)
            return
        if self.person is None:
            raise BadFrame("hello_first", "Say hello with a ticket first.", frame.id)
        if self.person.scope < Scope.PLAY:
            _check_scope(frame, self.person)
        match frame:
            case frames.Watch():
                await self._watch(frame, self.person)
            case frames.Resync():
                self._watched(frame.id).rejoin()
            case frames.Say() | frames.Mute() | frames.Report():
                await self._talk(frame, self.person)
            case frames.Rematch():
                self._rematch(frame, self.person)
            case _:
                await self._command(frame, self.person)

    async def _hello(self, frame: frames.Hello) -> None:
        if self.person is not None:
            raise BadFrame("already_welcome", "You have said hello already.", frame.id)
        person = await self._sockets.welcome(frame.ticket)
        if person is None:
            raise BadFrame("ticket_refused", "The ticket is wrong, used or expired; get a new one.", frame.id)
        self.person = person
        self._sockets.add(self)
        self.send(
            frames.welcome_frame(
                person.account_id,
                person.name,
                guest=person.guest,
                server_ms=self._sockets.clock.now_ms(),
            )
        )

    # -- watching ------------------------------------------------------------------------

    async def _watch(self, frame: frames.Watch, person: Person) -> None:
        self._stop_watching(comes_again_to=frame.table_id)
        self._watched_last = frame.table_id
        if not await self._sockets.may_watch(frame.table_id, person):
            self.send(frames.error_frame("not_found", NO_TABLE, table_id=frame.table_id))
            return
        ended = await self._sockets.ended_game(frame.table_id)
        if ended is not None and ended.finished:
            # The table has let go of it.
            self.send(self._sockets.last_snapshot(ended))
            return
        muted = await self._sockets.muted_by(person)
        self._viewer = await self._sockets.hub.watch(
            frame.table_id,
            self.id,
            person.account_id,
            self,
            muted,
            # A token that only reads does not show its owner's cards to a program, nor take their view.
            as_watcher=person.scope is Scope.READ,
        )

    def _stop_watching(self, comes_again_to: str | None = None) -> None:
        viewer, self._viewer = self._viewer, None
        if viewer is not None:
            self._sockets.hub.unwatch(viewer, comes_again=viewer.feed.table_id == comes_again_to)

    def _watched(self, command_id: str | None) -> Viewer:
        if self._viewer is None:
            raise BadFrame("watch_first", "Watch a table first.", command_id)
        return self._viewer

    async def _show_ended(self, table_id: str, rejection: Rejection) -> None:
        viewer = self._viewer
        if viewer is None or viewer.feed.table_id != table_id:
            return
        self._stop_watching()
        ended = await self._sockets.ended_game(table_id)
        if ended is not None:
            self.send(self._sockets.last_snapshot(ended))
        else:
            words = NO_TABLE if rejection.code == "not_found" else rejection.message
            self.send(frames.error_frame(rejection.code, words, table_id=table_id))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- table talk ----------------------------------------------------------------------

    async def _talk(self, frame: frames.Say | frames.Mute | frames.Report, person: Person) -> None:
        viewer = self._watched(frame.id)
        if viewer.seat is None:
            raise BadFrame("not_seated", "Table talk is for those who sit here.", frame.id)
        try:
            match frame:
                case frames.Say():
                    await self._sockets.say(frame, person, viewer.feed, viewer.seat)
                case frames.Mute():
                    await self._sockets.mute(frame, person)
                    (viewer.muted.add if frame.muted else viewer.muted.discard)(frame.account_id)
                case frames.Report():
                    await self._sockets.report(frame, person, viewer.feed)
        except (TalkRefused, Problem) as refused:
            raise BadFrame(refused.code, refused.message, frame.id) from None
        except SendFailed:
            self.send(self._unknown(frame.id))
            return
        self.send(frames.ack_frame(frame.id, None, None))

    # -- rematch -------------------------------------------------------------------------

    def _rematch(self, frame: frames.Rematch, person: Person) -> None:
        """Beside the frames: opening a table is a question to it, and its answer may take a while."""
        table_id = frame.table_id or self._watched_last
        if table_id is None:
            raise BadFrame("watch_first", "Watch a table first.", frame.id)
        if self._rematches >= REMATCHES_MAX:
            raise BadFrame("rate_limited", "Too many commands without an answer.", frame.id)
        self._rematches += 1
        self._start(self._meet_again(frame.id, table_id, person))

    async def _meet_again(self, command_id: str, table_id: str, person: Person) -> None:
        try:
            again = await self._sockets.rematch(table_id, person)
        except Problem as problem:
            if problem.code == "outcome_unknown":
                self.send(self._unknown(command_id))
            else:
                self.send(frames.rejected_frame(command_id, problem.code, problem.message))
        except (SQLAlchemyError, KafkaError, SendFailed, OSError) as error:
            log.warning("rematch_not_served", error=type(error).__name__)
            self.send(self._unknown(command_id))
        else:
            self.send(frames.ack_frame(command_id, None, None, table_id=again))
        finally:
            self._rematches -= 1
            self._sockets.answered.set()

    # -- commands ------------------------------------------------------------------------

    async def _command(self, frame: CommandFrame, person: Person) -> None:
        viewer = self._watched(frame.id)
        if frame.table_id is not None and frame.table_id != viewer.feed.table_id:
            raise BadFrame("not_watching", "You watch another table.", frame.id)
        if viewer.demoted:
            raise BadFrame("played_elsewhere", "You play this seat on a newer connection.", frame.id)
        if person.scope < Scope.PLAY:
            if not viewer.next:
                raise BadFrame("watch_first", "Wait for the table's snapshot first.", frame.id)
            if viewer.stake_coins:
                raise BadFrame("scope_missing", scopes.NEEDS_COINS, frame.id)
        if isinstance(frame, frames.TakeSeat):
            await self._check_purse(frame, person, viewer)
            await self._sockets.check_sit(viewer.feed.table_id, person, frame.id)
            viewer.feed.owns(viewer)
        if self._pending.is_full(viewer.feed.table_id):
            raise BadFrame("rate_limited", "Too many commands without an answer.", frame.id)
        self._pending.expect(viewer.feed.table_id, frame.id, person.account_id, self._sockets.answered.set)
        try:
            await self._sockets.desk.send(
                Topic.TABLE_COMMANDS,
                viewer.feed.table_id,
                person.account_id,
                frame.id,
                frame.command(),
            )
        except SendFailed:
            self.send(self._unknown(frame.id))

    async def _check_purse(self, frame: frames.TakeSeat, person: Person, viewer: Viewer) -> None:
        if viewer.stake_coins and person.guest:
            # A guest may have become an account since hello.
            again = await self._sockets.person_again(person)
            if again is None or again.guest:
                raise BadFrame("account_required", "A coin table needs an account; a guest has none.", frame.id)
            self.person = again

    @property
    def awaits_answers(self) -> bool:
        return len(self._pending) > 0 or self._rematches > 0

    def give_up(self, sent_before: float) -> None:
        """Tell the client of commands without an answer; the same id sent again finds out."""
        for command_id in self._pending.give_up(sent_before):
            self.send(self._unknown(command_id))

    def _unknown(self, command_id: str) -> bytes:
        return frames.error_frame("outcome_unknown", "No answer yet; send the same id again to find out.", command_id)
