"""A gateway in memory for the page's tests: REST, WebSocket and the page itself on one port.

python -m tests.web.fake_gateway [--port 8787] [--bot-ms 667]      to look at the page by hand
"""

import argparse
import asyncio
import base64
import contextlib
import hashlib
import re
import secrets
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from spades_events import commands
from spades_events.commands import OpenTable
from spades_events.values import RulesetChoice, TableKind
from spades_lobby.live import frames, talk
from spades_table.domain import Refused
from spades_table.opening import fee_of
from tests.web.fake_people import Account, People, Problem
from tests.web.fake_table import FakeTable, Frame, Pace, now_ms

WEB = Path(__file__).parents[2] / "services" / "lobby" / "web"
EVENTS_PER_PAGE = 200
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


class FakeGateway:
    """State of one run; a test reaches in to shorten the pace or cut a connection."""

    def __init__(self, pace: Pace | None = None) -> None:
        self.pace = pace or Pace()
        self.people = People()
        self.people.seat_together = self.seat_together
        self.tickets: dict[str, str] = {}
        self.tables: dict[str, FakeTable] = {}
        self.viewers: list[Viewer] = []
        self.start_scores: tuple[int, int] = (0, 0)
        self.tamper_secret = False
        self.known_over: set[str] = set()
        self.statistics: Frame = {"deals": 0, "decks": []}
        self.reports: list[tuple[str, str]] = []

    # -- tables

    def open(self, account: Account, opening: OpenTable, table_id: str | None = None) -> FakeTable:
        if opening.stake_coins and account.guest:
            raise Problem(403, "account_required", "Coin tables need an account.")
        table_id = table_id or str(uuid.uuid4())
        try:
            table = FakeTable(
                table_id,
                account.account_id,
                opening,
                pace=self.pace,
                wallet=self.people.pay,
                scores=self.start_scores,
            )
        except Refused as refused:
            told = refused.rejection
            raise Problem(422, told.code, told.message, field=told.field) from None
        self.tables[table_id] = table
        return table

    async def post_table(self, request: Request) -> Response:
        account, body = self.people.of(request), await request.json()
        choice = RulesetChoice(name=body["ruleset"]["name"], options=body["ruleset"].get("options", {}))
        wanted = {key: body[key] for key in ("stake_coins", "clock_ms", "bots_welcome") if key in body}
        table = self.open(account, OpenTable(kind=TableKind(body["kind"]), ruleset=choice, **wanted))
        return JSONResponse(self.summary(table), 201)

    async def rematch(self, request: Request) -> Response:
        account, ended = self.people.of(request), self.table_of(request)
        again = str(uuid.uuid5(uuid.NAMESPACE_URL, ended.table_id))
        if ended.table_id not in self.known_over:
            # As the read model, which learns of the end a moment later.
            self.known_over.add(ended.table_id)
            raise Problem(409, "wrong_phase", "The game is not over.")
        if again not in self.tables:
            opened = ended.told_of("table_opened")[0]
            opening = OpenTable(
                kind=TableKind(opened["kind"]),
                ruleset=RulesetChoice(**opened["ruleset"]),
                stake_coins=opened["stake_coins"],
                clock_ms=opened["clock_ms"],
                bots_welcome=opened["bots_welcome"],
            )
            self.open(account, opening, again)
        return JSONResponse(self.summary(self.tables[again]), 201)

    def seat_together(self, waiting: list[str]) -> str:
        wish = self.people.queue[waiting[0]]
        opening = OpenTable(
            kind=TableKind.ONLINE,
            ruleset=RulesetChoice(name=wish["ruleset"], options={}),
            stake_coins=wish["stake_coins"],
            bots_welcome=len(waiting) < 4,
        )
        table = self.open(self.people.accounts[waiting[0]], opening)
        for account_id in waiting:
            table.ask(account_id, commands.TakeSeat(seed_commit=self.people.queue[account_id].get("seed_commit")))
        if len(waiting) < 4:
            table.ask(waiting[0], commands.StartGame())
        return table.table_id

    def name_of(self, account_id: str | None) -> str | None:
        account = self.people.accounts.get(account_id or "")
        return None if account is None else account.name

    def summary(self, table: FakeTable) -> dict[str, Any]:
        seen = table.seen()
        price = seen.stake_coins + fee_of(seen.stake_coins)
        return {
            "table_id": table.table_id,
            "partition": 0,
            "kind": seen.kind.value,
            "ruleset": {"name": seen.ruleset.name, "options": seen.ruleset.options},
            "stake_coins": seen.stake_coins,
            "needed_coins": price,
            "leaving_price_coins": price,
            "clock_ms": seen.clock_ms,
            "bots_welcome": table.told_of("table_opened")[0]["bots_welcome"],
            "host": {"account_id": table.host, "name": self.name_of(table.host)},
            "phase": seen.phase,
            "seats": [
                {
                    "seat": seat,
                    "account_id": holder and holder.account_id,
                    "name": holder and self.name_of(holder.account_id),
                    "computer": holder is not None and holder.account_id == "bot",
                    "free": holder is None,
                }
                for seat, holder in enumerate(seen.seats)
            ],
            "scores": seen.scores,
            "winner": seen.winner,
            "end_reason": seen.end_reason,
            "payouts": [payout for told in table.told_of("game_settled") for payout in told["payouts"]],
            "leavers": [told["account_id"] for told in table.told_of("seat_left")],
        }

    def names(self, table: FakeTable) -> dict[str, str]:
        ids = {table.host, *(told["holder"]["account_id"] for told in table.told_of("seat_taken"))}
        return {one: name for one in ids if (name := self.name_of(one))}

    def table_of(self, request: Request) -> FakeTable:
        table = self.tables.get(request.path_params["id"])
        if table is None:
            raise Problem(404, "not_found", "There is no such table.")
        return table

    async def post_invite(self, request: Request) -> Response:
        table_id = self.table_of(request).table_id
        return JSONResponse({"table_id": table_id, "code": table_id}, 201)

    async def redeem_invite(self, request: Request) -> Response:
        self.people.of(request)
        table = self.tables.get((await request.json())["code"])
        if table is None:
            raise Problem(404, "not_found", "There is no such table.")
        return JSONResponse(self.summary(table))

    async def get_tables(self, request: Request) -> Response:
        self.people.of(request)
        shown = [self.summary(table) for table in self.tables.values()]
        shown = [one for one in shown if one["phase"] != "ended" and one["kind"] != "private"]
        return JSONResponse({"tables": shown, "next": None})

    async def get_table(self, request: Request) -> Response:
        return JSONResponse(self.summary(self.table_of(request)))

    async def my_games(self, request: Request) -> Response:
        me = self.people.of(request).account_id
        mine = [table for table in self.tables.values() if me in self.names(table) and table.told_of("seat_taken")]
        return JSONResponse({"games": [self.summary(table) for table in mine], "next": None})

    async def events(self, request: Request) -> Response:
        after = int(request.query_params.get("after", 0))
        page = [self.told(public) for public, _ in self.table_of(request).log[after : after + EVENTS_PER_PAGE]]
        more = page[-1]["seq"] if len(page) == EVENTS_PER_PAGE else None
        return JSONResponse({"events": page, "next": more})

    async def get_statistics(self, request: Request) -> Response:
        return JSONResponse(self.statistics)

    def told(self, frame: Frame) -> Frame:
        """A public event as this gateway tells it: an honest one does not change it."""
        if frame["type"] == "deal_revealed" and self.tamper_secret:
            return frame | {"secret": "ab" * 32}
        return frame

    async def ticket(self, request: Request) -> Response:
        ticket = secrets.token_hex(16)
        self.tickets[ticket] = self.people.of(request).account_id
        return JSONResponse({"ticket": ticket}, 201)

    # -- sockets

    async def socket(self, socket: WebSocket) -> None:
        await socket.accept(subprotocol="spades.v1")
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            # The page goes away, or a test cuts the line.
            hello = frames.decode(await socket.receive_text())
            assert isinstance(hello, frames.Hello)
            account = self.people.accounts[self.tickets.pop(hello.ticket)]
            await socket.send_json({"type": "welcome", "server_ms": now_ms()} | account.public())
            watch = frames.decode(await socket.receive_text())
            assert isinstance(watch, frames.Watch)
            table = self.tables.get(watch.table_id)
            if table is None:
                await socket.send_json({"type": "error", "code": "not_found", "message": "No such table."})
                await socket.close()
                return
            await Viewer(self, socket, table, account).run()

    async def drop_sockets(self) -> None:
        """Cut every connection as a lost network does."""
        for viewer in self.viewers:
            with contextlib.suppress(RuntimeError):
                await viewer.socket.close(1011)

    # -- the page

    async def page(self, request: Request) -> Response:
        name = request.path_params.get("path") or "index.html"
        file = (WEB / name).resolve()
        if not file.is_relative_to(WEB) or not file.is_file() or "node_modules" in file.parts:
            raise Problem(404, "not_found", "There is no such page.")
        return FileResponse(file, media_type=TYPES.get(file.suffix), headers=page_headers())

    @contextlib.asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        yield
        for table in self.tables.values():
            table.stop()

    def app(self) -> Starlette:
        routes = [
            *self.people.routes(),
            Route("/v1/me/games", self.my_games),
            Route("/v1/tables", self.post_table, methods=["POST"]),
            Route("/v1/tables", self.get_tables),
            Route("/v1/tables/{id}", self.get_table),
            Route("/v1/tables/{id}/invites", self.post_invite, methods=["POST"]),
            Route("/v1/tables/{id}/rematch", self.rematch, methods=["POST"]),
            Route("/v1/invites", self.redeem_invite, methods=["POST"]),
            Route("/v1/games/{id}", self.get_table),
            Route("/v1/games/{id}/events", self.events),
            Route("/v1/statistics/deals", self.get_statistics),
            Route("/v1/ws-tickets", self.ticket, methods=["POST"]),
            WebSocketRoute("/v1/ws", self.socket),
            Route("/", self.page),
            Route("/{path:path}", self.page),
        ]
        return Starlette(
            routes=routes,
            exception_handlers={Problem: problem_response},
            middleware=[Middleware(GZipMiddleware)],
            lifespan=self.lifespan,
        )


async def problem_response(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, Problem)
    return JSONResponse(problem.body, problem.status, media_type="application/problem+json")


def page_headers() -> dict[str, str]:
    """The strict policy that the gateway sends too: no inline script but the hashed import map."""
    page = (WEB / "index.html").read_text()
    found = re.search(r'<script type="importmap">(.*?)</script>', page, re.DOTALL)
    digest = hashlib.sha256(found[1].encode() if found else b"").digest()
    policy = (
        "default-src 'none'; img-src 'self' data:; style-src 'self'; font-src 'self'; connect-src 'self'; "
        f"script-src 'self' 'sha256-{base64.b64encode(digest).decode()}'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; manifest-src 'self'"
    )
    return {"content-security-policy": policy, "cache-control": "no-cache"}


class Viewer:
    """One socket at one table: commands in, the stream out, in order."""

    def __init__(self, gateway: FakeGateway, socket: WebSocket, table: FakeTable, account: Account) -> None:
        self.gateway, self.socket, self.table, self.account = gateway, socket, table, account
        self.me = account.account_id
        self.muted: set[str] = set()
        self.sent = 0

    async def run(self) -> None:
        await self.resync()
        await self.tell_others("player_returned")
        self.gateway.viewers.append(self)
        sender = asyncio.create_task(self.follow())
        try:
            while True:
                await self.answer(frames.decode(await self.socket.receive_text()))
        finally:
            sender.cancel()
            self.gateway.viewers.remove(self)
            await self.tell_others("player_disconnected")

    @property
    def beside(self) -> list["Viewer"]:
        return [viewer for viewer in self.gateway.viewers if viewer.table is self.table]

    async def tell_others(self, kind: str) -> None:
        seat = self.table.seat_of(self.me)
        if seat is None or any(viewer.me == self.me for viewer in self.beside):
            return
        for viewer in self.beside:
            with contextlib.suppress(RuntimeError):
                await viewer.socket.send_json({"type": kind, "account_id": self.me, "seat": seat})

    async def resync(self) -> None:
        frame = self.table.snapshot(self.me)
        self.sent = frame["seq"]
        await self.socket.send_json(frame | {"names": self.gateway.names(self.table)})

    async def follow(self) -> None:
        while True:
            while self.sent < len(self.table.log):
                frame = self.table.frame(self.sent, self.table.seat_of(self.me))
                self.sent += 1
                if frame["type"] in ("seat_taken", "seats_locked", "game_started"):
                    frame |= {"names": self.gateway.names(self.table)}
                await self.socket.send_json(self.gateway.told(frame))
            await asyncio.sleep(0.005)

    async def answer(self, frame: frames.AnyFrame) -> None:
        first = len(self.table.log) + 1
        match frame:
            case frames.Ping():
                pong = {"type": "pong", "client_ms": frame.client_ms, "server_ms": now_ms()}
                await self.socket.send_json(pong)
                return
            case frames.Resync():
                await self.resync()
            case frames.Say():
                if frame.text is not None and self.table.seen().phase == "playing":
                    error = {"type": "error", "id": frame.id, "code": "phrases_only", "message": "Phrases only."}
                    await self.socket.send_json(error)
                    return
                await self.say(frame)
            case frames.Mute():
                (self.muted.add if frame.muted else self.muted.discard)(frame.account_id)
            case frames.Report():
                self.gateway.reports.append((frame.account_id, frame.reason))
            case frames.CommandFrame():
                try:
                    # Eight bytes are the chance that a drawn seat takes: always the first free one.
                    self.table.ask(self.me, frame.command())  # type: ignore[arg-type]
                except Refused as refused:
                    await self.socket.send_text(frames.rejection_frame(frame.id, refused.rejection).decode())
                    return
        last = len(self.table.log)
        await self.socket.send_json({"type": "ack", "id": frame.id, "first_seq": first, "last_seq": last})

    async def say(self, frame: frames.Say) -> None:
        seat = self.table.seat_of(self.me)
        words = frame.text or talk.PHRASES[frame.phrase or ""]
        said = {"type": "said", "account_id": self.me, "seat": seat, "phrase": frame.phrase, "text": words}
        for viewer in self.beside:
            if self.table.seat_of(viewer.me) is not None and self.me not in viewer.muted:
                await viewer.socket.send_json(said)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8787)
    parser.add_argument("--bot-ms", type=int, default=667)
    parser.add_argument("--scores", type=int, nargs=2, default=(0, 0), help="start games at these scores")
    args = parser.parse_args()
    gateway = FakeGateway(Pace(bot_ms=args.bot_ms))
    gateway.start_scores = (args.scores[0], args.scores[1])
    uvicorn.run(gateway.app(), host="127.0.0.1", port=args.port, log_level="warning")


if __name__ == "__main__":
    main()
