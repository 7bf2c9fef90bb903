"""One person at one table: a WebSocket that comes back when it is cut, and sends again what was not answered."""

import asyncio
import contextlib
import time
import uuid
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake, WebSocketException
from websockets.typing import Subprotocol

from spades_client.errors import NoAnswer, PlayedElsewhere, Refused, Rejected
from spades_client.seen import Frame, Seen, SeqGap

if TYPE_CHECKING:
    from spades_client.account import Account

SUBPROTOCOL: Final = Subprotocol("spades.v1")
PING_EVERY_S: Final = 10.0
UNANSWERED_S: Final = 8.0
"""Longer than the gateway's own limit for an answer."""
LOOK_EVERY_S: Final = 1.0
RECONNECT_FIRST_S: Final = 0.1
RECONNECT_MAX_S: Final = 1.0
GHOST_S: Final = 5.0
"""As long may our own last line, cut just now, still be taken for a newer one."""
TALK: Final = frozenset({"say", "mute", "report"})
"""Frames that are no commands to the table, and name none."""
ASK_AGAIN: Final = frozenset({"outcome_unknown", "rate_limited", "unavailable"})

encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(Frame).decode


class Ack(NamedTuple):
    """The versions of the events that a command caused; of table talk there are none."""

    first_seq: int | None
    last_seq: int | None


@dataclass(slots=True)
class Sent:
    """A command on its way; the same frame goes out again until it is answered."""

    frame: Frame
    answer: "asyncio.Future[Frame]"
    sent_s: float = field(default_factory=time.monotonic)


class Table:
    """`frames` yields what comes, across reconnections; `seen` is the table behind the last one.

    Somebody has to read `frames` for anything else here to get its answer.
    """

    def __init__(self, account: "Account", table_id: str) -> None:
        self.account = account
        self.table_id = table_id
        self.seen: Seen | None = None
        self.reconnections = 0
        self.resends = 0
        self.compared = 0
        self.faults: list[str] = []
        """What a sound gateway never does: a gap, a snapshot that differs from what was folded."""
        self._gateway = account.gateway
        self._socket: ClientConnection | None = None
        self._pending: dict[str, Sent] = {}
        self._closing = False
        self._watches = False
        self._is_behind = False
        self._greeted_s = 0.0
        self._compare_at: Seen | None = None

    # -- frames in -----------------------------------------------------------------------

    async def frames(self) -> AsyncGenerator[Frame, None]:
        """Every frame that tells something about the table; ends when the table is closed here.

        Raises Refused where one may not watch it or the session has ended, PlayedElsewhere, and
        NoAnswer when no gateway let us in for as long as the gateway's patience.
        """
        pause_s, heard_s = RECONNECT_FIRST_S, time.monotonic()
        try:
            while not self._closing:
                with contextlib.suppress(OSError, InvalidHandshake, WebSocketException):
                    async with await self._connection() as socket:
                        async for frame in self._read(socket):
                            pause_s, heard_s = RECONNECT_FIRST_S, time.monotonic()
                            yield frame
                self._socket = None
                if time.monotonic() - heard_s > self._gateway.patience_s:
                    raise NoAnswer(f"no gateway shows table {self.table_id}")
                if not self._closing:
                    self.reconnections += 1
                    self._gateway.turn()
                    await asyncio.sleep(pause_s)
                    pause_s = min(2 * pause_s, RECONNECT_MAX_S)
        finally:
            self._socket = None
            self._give_up()

    async def _connection(self) -> ClientConnection:
        ticket = await self.account.ticket()
        address = self._gateway.address.replace("http", "ws", 1) + "/v1/ws"
        socket = await connect(address, subprotocols=[SUBPROTOCOL], compression=None)
        # What was asked on the line before is not answered on this one.
        self._compare_at, self._watches, self._is_behind = None, False, False
        self._socket, self._greeted_s = socket, time.monotonic()
        await self._send({"type": "hello", "ticket": ticket})
        await self._watch()
        return socket

    async def _watch(self) -> None:
        last = {} if self.seen is None else {"last_seq": self.seen.seq}
        await self._send({"type": "watch", "table_id": self.table_id, **last})

    async def _read(self, socket: ClientConnection) -> AsyncGenerator[Frame, None]:
        keeping = asyncio.create_task(self._keep_alive())
        try:
            async for text in socket:
                frame = decode(text)
                if await self._take(frame):
                    yield frame
        finally:
            keeping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await keeping

    async def _take(self, frame: Frame) -> bool:
        """Note a frame; whether it tells something about the table."""
        match frame["type"]:
            case "snapshot":
                await self._take_snapshot(frame)
                return True
            case "ack" | "command_rejected":
                sent = self._pending.get(frame["id"])
                if sent is not None and not sent.answer.done():
                    sent.answer.set_result(frame)
                return False
            case "error":
                await self._take_error(frame)
                return False
            case "welcome" | "pong":
                return False
            case _ if "seq" in frame:
                return await self._fold(frame)
            case _:
                return self.seen is not None

    async def _fold(self, frame: Frame) -> bool:
        if self.seen is None or self._is_behind:
            # What comes before a snapshot is in it.
            return False
        try:
            self.seen.fold(frame)
        except SeqGap as gap:
            self.faults.append(str(gap))
            self._is_behind = True
            await self._send({"type": "resync"})
            return False
        return True

    async def _take_snapshot(self, frame: Frame) -> None:
        self._watches, self._is_behind = True, False
        fresh = Seen(frame, self.account.account_id)
        before, self._compare_at = self._compare_at, None
        if before is not None and before is self.seen and before.seq == fresh.seq:
            self.compared += 1
            if differing := before.differs_from(fresh):
                self.faults.append(f"folded frames and snapshot differ at seq {fresh.seq} in {differing}")
        self.seen = fresh
        if before is None:
            # Behind a reconnection nobody knows what became of them: the same ids again.
            for sent in list(self._pending.values()):
                await self._send_again(sent)

    async def _take_error(self, frame: Frame) -> None:
        sent = self._pending.get(frame.get("id", ""))
        if sent is not None:
            if frame["code"] in ASK_AGAIN:
                # With the next look: at once would only be one frame more over the rate.
                sent.sent_s = -UNANSWERED_S
            elif not sent.answer.done():
                sent.answer.set_result(frame)
            return
        match frame["code"]:
            case "not_found":
                raise Refused(404, frame)
            case "played_elsewhere":
                if not self.reconnections or time.monotonic() - self._greeted_s > GHOST_S:
                    raise PlayedElsewhere(frame["message"])
                await self._watch()
            case "table_silent":
                # The gateway goes on asking it.
                pass
            case _ if not self._watches:
                # The greeting failed, as when a database is just not there: once more, on a new line.
                await self.drop()
            case _:
                pass

    # -- frames out ----------------------------------------------------------------------

    async def command(self, kind: str, **fields: Any) -> Ack:
        """Send a command; returns when the table has committed it, however often it has to be sent.

        Raises Rejected, and NoAnswer where its outcome stays unknown.
        """
        command_id = str(uuid.uuid4())
        where = {} if kind in TALK else {"table_id": self.table_id}
        frame = {"type": kind, "id": command_id, **where, **fields}
        sent = Sent(frame, asyncio.get_running_loop().create_future())
        self._pending[command_id] = sent
        await self._send(frame)
        try:
            async with asyncio.timeout(self._gateway.patience_s):
                answer = await sent.answer
        except TimeoutError:
            raise NoAnswer(f"{kind} got no answer") from None
        finally:
            del self._pending[command_id]
        if answer["type"] != "ack":
            raise Rejected(kind, answer)
        return Ack(answer["first_seq"], answer["last_seq"])

    async def compare(self) -> None:
        """Ask for a snapshot: if nothing happened meanwhile, it must be what was folded."""
        self._compare_at = self.seen
        await self._send({"type": "resync"})

    async def drop(self) -> None:
        """Cut the line without a word, as a tunnel does."""
        if self._socket is not None:
            self._socket.transport.abort()

    async def close(self) -> None:
        """Stop watching; `frames` ends."""
        self._closing = True
        if self._socket is not None:
            await self._socket.close()

    def _give_up(self) -> None:
        for sent in self._pending.values():
            if not sent.answer.done():
                sent.answer.set_exception(NoAnswer(f"{sent.frame['type']} was not answered: the table is closed here"))

    async def _send_again(self, sent: Sent) -> None:
        self.resends += 1
        sent.sent_s = time.monotonic()
        await self._send(sent.frame)

    async def _keep_alive(self) -> None:
        """Ping now and then, and send again what was never answered."""
        next_ping_s = time.monotonic() + PING_EVERY_S
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            now_s = time.monotonic()
            for sent in list(self._pending.values()):
                if now_s - sent.sent_s > UNANSWERED_S:
                    await self._send_again(sent)
            if now_s >= next_ping_s:
                next_ping_s = now_s + PING_EVERY_S
                await self._send({"type": "ping", "client_ms": int(now_s * 1_000)})

    async def _send(self, frame: Frame) -> None:
        # A cut line sends nothing; what matters goes out again behind the next snapshot.
        if self._socket is not None:
            with contextlib.suppress(WebSocketException, OSError):
                await self._socket.send(encode(frame).decode())
