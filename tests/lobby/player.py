"""A client that knows only the public interface."""

import asyncio
import json
from types import TracebackType
from typing import Any
from uuid import uuid4

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

LIMIT_S = 10.0


class Player:
    """One person: a session by token, and at most one socket."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.http = httpx.AsyncClient(base_url=address, timeout=LIMIT_S)
        self.account_id = ""
        self.token = ""

    async def __aenter__(self) -> "Player":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.http.aclose()

    async def guest(self, name: str | None = None) -> "Player":
        body = {"guest": True, "token": True} | ({"name": name} if name else {})
        return self._entered(await self.http.post("/v1/sessions", json=body))

    async def account(self, name: str | None = None) -> "Player":
        name = name or f"Player {uuid4().hex[:10]}"
        body = {"name": name, "password": "correct horse", "token": True}
        return self._entered(await self.http.post("/v1/accounts", json=body))

    def _entered(self, answer: httpx.Response) -> "Player":
        assert answer.status_code == 201, answer.text
        self.account_id, self.token = answer.json()["account_id"], answer.json()["token"]
        self.http.headers["Authorization"] = f"Bearer {self.token}"
        self.http.cookies.clear()
        return self

    async def open_table(self, **body: Any) -> str:
        wanted = {"kind": "practice", "ruleset": {"name": "deniro"}} | body
        answer = await self.http.post("/v1/tables", json=wanted, headers={"Idempotency-Key": uuid4().hex})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["table_id"])

    async def ticket(self) -> str:
        answer = await self.http.post("/v1/ws-tickets")
        assert answer.status_code == 201, answer.text
        return str(answer.json()["ticket"])

    async def socket(self, **options: Any) -> "Socket":
        """A socket that has said hello."""
        socket = await Socket.open(self.address, **options)
        socket.say("hello", ticket=await self.ticket())
        await socket.until("welcome")
        return socket


class Socket:
    """A WebSocket, read in the background into `frames` so that nothing is lost to a wait."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.frames: list[dict[str, Any]] = []
        self.texts: list[str] = []
        self.close_code: int | None = None
        self._news = asyncio.Event()
        self._seen = 0
        self._reading = asyncio.create_task(self._read())
        self._saying: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(cls, address: str, **options: Any) -> "Socket":
        options = {"subprotocols": ["spades.v1"], "compression": None, "proxy": None} | options
        return cls(await connect(address.replace("http", "ws", 1) + "/v1/ws", **options))

    async def _read(self) -> None:
        try:
            async for text in self.connection:
                self.texts.append(str(text))
                self.frames.append(json.loads(text))
                self._news.set()
        except ConnectionClosed:
            pass
        self.close_code = self.connection.close_code
        self._news.set()

    def say(self, kind: str, **fields: Any) -> None:
        self.say_raw(json.dumps({"type": kind, **fields}))

    def say_raw(self, text: str | bytes) -> None:
        task = asyncio.create_task(self._send(text))
        self._saying.add(task)
        task.add_done_callback(self._saying.discard)

    async def _send(self, text: str | bytes) -> None:
        try:
            await self.connection.send(text)
        except ConnectionClosed:
            return

    def command(self, kind: str, **fields: Any) -> str:
        command_id = fields.pop("id", None) or uuid4().hex
        self.say(kind, id=command_id, **fields)
        return str(command_id)

    async def until(self, *kinds: str, **fields: Any) -> dict[str, Any]:
        """The next frame of one of these types, with these fields, behind the last one waited for."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                while self._seen < len(self.frames):
                    frame = self.frames[self._seen]
                    self._seen += 1
                    if frame["type"] in kinds and fields.items() <= frame.items():
                        return frame
                if self.close_code is not None:
                    raise AssertionError(f"closed with {self.close_code}, last: {self.frames[-3:]}")
                self._news.clear()
                await self._news.wait()

    async def watch(self, table_id: str, **fields: Any) -> dict[str, Any]:
        self.say("watch", table_id=table_id, **fields)
        return await self.until("snapshot")

    async def closed(self) -> int:
        async with asyncio.timeout(LIMIT_S):
            await asyncio.wait([self._reading])
        assert self.close_code is not None
        return self.close_code

    async def close(self) -> None:
        await self.connection.close()
        await self._reading

    @property
    def seqs(self) -> list[int]:
        """The sequence numbers of what came since the last snapshot, that included."""
        numbered = [frame for frame in self.frames if "seq" in frame]
        last = max(at for at, frame in enumerate(numbered) if frame["type"] == "snapshot")
        return [frame["seq"] for frame in numbered[last:]]
