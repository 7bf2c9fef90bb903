"""A client's socket at one table: it comes back when it is cut, and sends again what was not answered."""

import asyncio
import contextlib
import time
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake, WebSocketException

from tests.demo.gateway import Account
from tests.demo.seen import Frame, Seen, SeqGap

PING_EVERY_S = 10.0
UNANSWERED_S = 8.0
RECONNECT_FIRST_S = 0.1
RECONNECT_MAX_S = 1.0

encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(dict[str, Any]).decode


@dataclass(slots=True)
class Sent:
    """A command on its way; the same frame goes out again until it is answered."""

    frame: Frame
    answer: "asyncio.Future[Frame]"
    sent_s: float = field(default_factory=time.monotonic)


class TableSocket:
    """One person at one table. `frames` yields what comes, across reconnections; `seen` is the table."""

    def __init__(self, address: str, account: Account, table_id: str) -> None:
        self._address = address.replace("http", "ws", 1) + "/v1/ws"
        self._account = account
        self._table_id = table_id
        self._socket: ClientConnection | None = None
        self._pending: dict[str, Sent] = {}
        self._closing = False
        self._compare_at: Seen | None = None
        self._watches = False
        self.seen: Seen | None = None
        self.reconnections = 0
        self.resends = 0
        self.compared = 0
        self.faults: list[str] = []

    async def frames(self) -> AsyncIterator[Frame]:
        """Every frame that changes what is seen; ends when the socket is closed for good."""
        pause_s = RECONNECT_FIRST_S
        while not self._closing:
            try:
                async with connect(self._address, subprotocols=["spades.v1"], compression=None) as socket:  # type: ignore[list-item]
                    self._socket = socket
                    await self._greet(socket)
                    pause_s = RECONNECT_FIRST_S
                    async for frame in self._read(socket):
                        yield frame
            except (OSError, InvalidHandshake, WebSocketException, TimeoutError):
                pass
            finally:
                self._socket = None
            if not self._closing:
                self.reconnections += 1
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, RECONNECT_MAX_S)

    async def command(self, kind: str, **fields: Any) -> Frame:
        """Send a command and return its `ack` or `command_rejected`, however often it has to be sent."""
        command_id = str(uuid.uuid4())
        frame = {"type": kind, "id": command_id, "table_id": self._table_id, **fields}
        sent = Sent(frame, asyncio.get_running_loop().create_future())
        self._pending[command_id] = sent
        await self._send(frame)
        try:
            return await sent.answer
        finally:
            del self._pending[command_id]

    async def compare(self) -> None:
        """Ask for a snapshot: if nothing happened meanwhile, it must be what was folded."""
        self._compare_at = self.seen
        await self._send({"type": "resync"})

    async def drop(self) -> None:
        """Cut the line without a word, as a tunnel does."""
        if self._socket is not None:
            self._socket.transport.abort()

    async def close(self) -> None:
        self._closing = True
        if self._socket is not None:
            await self._socket.close()

    async def _greet(self, socket: ClientConnection) -> None:
        await socket.send(encode({"type": "hello", "ticket": await self._account.ticket()}).decode())
        # What was asked on the line before is not answered on this one.
        self._compare_at = None
        self._watches = False
        last = {} if self.seen is None else {"last_seq": self.seen.seq}
        await socket.send(encode({"type": "watch", "table_id": self._table_id, **last}).decode())

    async def _read(self, socket: ClientConnection) -> AsyncIterator[Frame]:
        keeping = asyncio.create_task(self._keep_alive(socket))
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
            case _ if "seq" in frame and self.seen is not None:
                try:
                    self.seen.fold(frame)
                except SeqGap as gap:
                    self.faults.append(str(gap))
                    await self._send({"type": "resync"})
                    return False
                return True
            case _:
                return False

    async def _take_snapshot(self, frame: Frame) -> None:
        self._watches = True
        fresh = Seen(frame, self._account.account_id)
        before, self._compare_at = self._compare_at, None
        if before is not None and before is self.seen and before.seq == fresh.seq:
            self.compared += 1
            if differing := before.differs_from(fresh):
                self.faults.append(f"folded frames and snapshot differ at seq {fresh.seq} in {differing}")
        self.seen = fresh
        for sent in list(self._pending.values()):
            # After a reconnection nobody knows what became of them: the same ids again.
            if before is None:
                self.resends += 1
                await self._send(sent.frame)

    async def _take_error(self, frame: Frame) -> None:
        if not self._watches:
            # The greeting failed, as when a database is just not there: once more, on a new line.
            await self.drop()
            return
        sent = self._pending.get(frame.get("id", ""))
        if sent is not None:
            if frame["code"] not in ("outcome_unknown", "rate_limited", "unavailable"):
                self.faults.append(f"{sent.frame['type']}: {frame['code']}")
            await self._send_again(sent)

    async def _send_again(self, sent: Sent) -> None:
        self.resends += 1
        sent.sent_s = time.monotonic()
        await self._send(sent.frame)

    async def _keep_alive(self, socket: ClientConnection) -> None:
        """Ping now and then, and send again what was never answered."""
        next_ping_s = time.monotonic() + PING_EVERY_S
        while True:
            await asyncio.sleep(1)
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
