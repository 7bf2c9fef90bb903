"""All WebSockets of this process: admission, tickets, revocations, draining."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from spades_events.private import Said
from spades_lobby.domain import Game
from spades_lobby.games import readmodel
from spades_lobby.live import frames, talk
from spades_lobby.live.desk import Answers, Desk
from spades_lobby.live.feeds import Feed
from spades_lobby.live.frames import BadFrame
from spades_lobby.live.hub import Hub
from spades_lobby.live.talk import TalkRefused
from spades_lobby.live.wire import EXTENSION, Wire
from spades_lobby.origins import Origins
from spades_lobby.people import store
from spades_lobby.people.namebook import Names
from spades_lobby.people.store import Person
from spades_lobby.people.tokens import SessionId, hash_of
from spades_lobby.problems import Problem
from spades_lobby.rates import Rates
from spades_lobby.settings import LobbySettings
from spades_lobby.socket.connection import RESTART, TOO_LATE, Connection
from spades_lobby.socket.finished import finished_snapshot
from spades_lobby.tables import invites
from spades_lobby.tables.seats import Seats
from spades_runtime import Clock

log = structlog.get_logger()

SWEEP_S: Final = 0.5


class Sockets:
    """What the connections share."""

    def __init__(
        self,
        settings: LobbySettings,
        engine: AsyncEngine,
        hub: Hub,
        desk: Desk,
        answers: Answers,
        names: Names,
        clock: Clock,
        rates: Rates,
        now: Callable[[], float],
        seats: Seats,
    ) -> None:
        self._rates = rates
        self._seats = seats
        self.settings = settings
        self.hub = hub
        self.desk = desk
        self.answers = answers
        self.clock = clock
        self.now = now
        self._engine = engine
        self._names = names
        self._origins = Origins(settings)
        self._open = 0
        self._all: set[Connection] = set()
        self._by_session: defaultdict[SessionId, set[Connection]] = defaultdict(set)
        self.draining = False
        self.answered = asyncio.Event()
        """Set whenever a command is answered; only draining waits for it."""

    @property
    def count(self) -> int:
        return self._open

    @property
    def sessions(self) -> set[SessionId]:
        """The sessions by which sockets came in."""
        return set(self._by_session)

    # -- admission -----------------------------------------------------------------------

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """The ASGI application of `/v1/ws`."""
        assert (await receive())["type"] == "websocket.connect"
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        if not self._origins.allow(headers.get(b"origin"), headers.get(b"host", "")):
            await _refuse(send, 403, "origin_refused", "This origin may not connect.")
            return
        if self.draining or self._open >= self.settings.lobby_sockets_max:
            await _refuse(send, 503, "try_later", "No more connections right now.")
            return
        offered = frames.SUBPROTOCOL in scope.get("subprotocols", ())
        accept = {"type": "websocket.accept"} | ({"subprotocol": frames.SUBPROTOCOL} if offered else {})
        await send(accept)
        wire: Wire = scope["extensions"][EXTENSION]
        connection = Connection(self, wire)
        self._open += 1
        self._all.add(connection)
        try:
            await connection.run(receive)
        finally:
            self._open -= 1
            self._all.discard(connection)
            self._forget(connection)

    async def refuse_path(self, receive: Any, send: Any) -> None:
        await receive()
        await _refuse(send, 404, "not_found", "There is no socket here.")

    async def welcome(self, ticket: str) -> Person | None:
        """Whose ticket this is; it is used up."""
        token = hash_of(ticket)
        if token is None:
            return None
        async with self._engine.begin() as db:
            person = await store.use_ticket(db, token)
        if person is not None:
            self._names.put(person.account_id, person.name)
        return person

    async def person_again(self, person: Person) -> Person | None:
        """The same person as the database knows them now."""
        async with self._engine.connect() as db:
            return await store.account_again(db, person)

    async def may_watch(self, table_id: str, person: Person) -> bool:
        try:
            async with self._engine.connect() as db:
                await invites.check_watch(db, table_id, person.account_id)
        except Problem:
            return False
        return True

    async def check_sit(self, table_id: str, person: Person, command_id: str) -> None:
        """Raises BadFrame where the table does not seat this person."""
        try:
            async with self._engine.connect() as db:
                await invites.check_sit(db, table_id, person.account_id)
        except Problem as problem:
            raise BadFrame(problem.code, problem.message, command_id) from None

    # -- table talk ----------------------------------------------------------------------

    async def muted_by(self, person: Person) -> set[str]:
        async with self._engine.connect() as db:
            return await talk.muted_by(db, person.account_id)

    async def say(self, frame: frames.Say, person: Person, feed: Feed, seat: int) -> None:
        """Raises TalkRefused, Problem, SendFailed."""
        if (frame.phrase is None) == (frame.text is None):
            raise TalkRefused("malformed", "Say a phrase or a text.")
        if frame.phrase is not None and frame.phrase not in talk.PHRASES:
            raise TalkRefused("malformed", "There is no such phrase.")
        if frame.text is not None and feed.in_hand:
            raise TalkRefused("phrases_only", "During a hand only the preset phrases; free talk between hands.")
        text = None if frame.text is None else talk.cleaned(frame.text)
        self._rates.talk(person.account_id)
        said = Said(account_id=person.account_id, seat=seat, phrase=frame.phrase, text=text)
        await self.hub.tell(feed.table_id, said)

    async def mute(self, frame: frames.Mute, person: Person) -> None:
        """Raises TalkRefused, Problem."""
        self._rates.talk(person.account_id)
        async with self._engine.begin() as db:
            await (talk.mute if frame.muted else talk.unmute)(db, person.account_id, frame.account_id)

    async def report(self, frame: frames.Report, person: Person, feed: Feed) -> None:
        """Raises TalkRefused, Problem."""
        self._rates.report(person.account_id)
        said = [words for account_id, words in feed.said if account_id == frame.account_id]
        async with self._engine.begin() as db:
            await talk.add_report(db, person.account_id, frame.account_id, feed.table_id, frame.reason, said)
        log.warning("player_reported", by=person.account_id, about=frame.account_id, table=feed.table_id)

    async def rematch(self, table_id: str, person: Person) -> str:
        """The table at which those of an ended game meet again. Raises Problem, SendFailed."""
        return await self._seats.rematch(person, table_id)

    async def ended_game(self, table_id: str) -> Game | None:
        """The game as the read model knows it, where it has ended; its players' names are loaded."""
        async with self._engine.connect() as db:
            game = await readmodel.one_game(db, table_id)
        if game is None or game.phase != "ended":
            return None
        await self._names.load(game.account_ids)
        return game

    def last_snapshot(self, game: Game) -> bytes:
        return finished_snapshot(game, self._names.of(game.account_ids), self.clock.now_ms())

    def add(self, connection: Connection) -> None:
        if connection.person is not None:
            self._by_session[connection.person.session].add(connection)

    def _forget(self, connection: Connection) -> None:
        if connection.person is None:
            return
        of_session = self._by_session.get(connection.person.session)
        if of_session is not None:
            of_session.discard(connection)
            if not of_session:
                del self._by_session[connection.person.session]

    # -- revocation, answers that do not come, draining ----------------------------------

    def revoke(self, session: SessionId) -> None:
        """The session ended: its sockets go."""
        for connection in list(self._by_session.get(session, ())):
            connection.send(frames.error_frame("session_ended", "You have logged out."))
            connection.close(TOO_LATE, "session ended")

    async def sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_S)
            before = self.now() - self.settings.lobby_answer_ms / 1_000
            for connection in list(self._all):
                connection.give_up(before)

    async def drain(self) -> None:
        """Tell everybody, wait for the answers that are still expected, close with 1012."""
        self.draining = True
        for connection in list(self._all):
            connection.send(frames.plain_frame("server_draining"))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.settings.lobby_drain_ms / 1_000):
                while any(one.awaits_answers for one in self._all):
                    self.answered.clear()
                    await self.answered.wait()
        for connection in list(self._all):
            connection.close(RESTART, "restarting")


async def _refuse(send: Any, status: int, code: str, message: str) -> None:
    """Answer the handshake with a plain HTTP status; browsers only see that it failed."""
    body = frames.error_frame(code, message)
    await send(
        {
            "type": "websocket.http.response.start",
            "status": status,
            "headers": [(b"content-type", b"application/json")],
        }
    )
    await send({"type": "websocket.http.response.body", "body": body})
