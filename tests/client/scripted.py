"""A gateway that does what a test tells it, so that each fault comes when it is wanted."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

TABLE = "00000000-0000-4000-8000-000000000001"
ME = "00000000-0000-4000-8000-00000000000a"
Frame = dict[str, Any]
Line = Callable[["Scripted", WebSocket], Awaitable[None]]
"""What the gateway does on one connection, behind its greeting."""


class Scripted:
    """Serves the lines of its script, one a connection; keeps everything it was sent."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.answers: list[Response] = []
        """To the next requests but those for tickets, in turn."""
        self.requests: list[Request] = []
        self.frames: list[list[Frame]] = []
        self.address = ""

    async def rest(self, request: Request) -> Response:
        if request.url.path == "/v1/ws-tickets":
            return JSONResponse({"ticket": "t"}, 201)
        if request.url.path == "/v1/sessions":
            return JSONResponse({"account_id": ME, "name": "Ada", "token": "token"}, 201)
        self.requests.append(request)
        return self.answers.pop(0)

    async def socket(self, socket: WebSocket) -> None:
        await socket.accept("spades.v1")
        self.frames.append([])
        hello = await self.hear(socket)
        assert hello["type"] == "hello"
        await socket.send_json({"type": "welcome"})
        await self.hear(socket)
        try:
            await self.lines.pop(0)(self, socket)
            while True:
                await self.hear(socket)
        except WebSocketDisconnect:
            pass

    async def hear(self, socket: WebSocket) -> Frame:
        frame: Frame = json.loads(await socket.receive_text())
        self.frames[-1].append(frame)
        return frame

    async def hear_command(self, socket: WebSocket) -> Frame:
        while "id" not in (frame := await self.hear(socket)):
            pass
        return frame

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Scripted"]:
        routes = [
            WebSocketRoute("/v1/ws", self.socket),
            Route("/{path:path}", self.rest, methods=["GET", "POST", "PUT", "DELETE"]),
        ]
        config = uvicorn.Config(Starlette(routes=routes), port=0, log_config=None, ws="websockets-sansio")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve())
        try:
            async with asyncio.timeout(20):
                while not server.started:
                    await asyncio.sleep(0.01)
            port = server.servers[0].sockets[0].getsockname()[1]
            self.address = f"http://127.0.0.1:{port}"
            yield self
        finally:
            server.should_exit = True
            server.force_exit = True
            await serving


def at(seq: int, **fields: Any) -> Frame:
    """A snapshot of a practice table at which nobody sits yet."""
    nothing = dict.fromkeys(("seat", "turn", "view", "end_reason", "winner"))
    ruleset = {"name": "classic", "options": {}}
    begun = {"scores": [0, 0], "bags": [0, 0], "hand_no": 1, "ready": [], "settled": False, "rules_version": 1}
    return {"type": "snapshot", "seq": seq, "phase": "seating", "ruleset": ruleset, **nothing, **begun, **fields}


def fact(seq: int, kind: str = "seat_released", **fields: Any) -> Frame:
    return {"type": kind, "seq": seq, "seat": 1, **fields}


async def cut(socket: WebSocket) -> None:
    """End the line without a word of goodbye."""
    await socket.close(1012)
