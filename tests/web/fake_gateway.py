"""A gateway in memory for the page's tests: REST, WebSocket and the page itself on one port.

python -m tests.web.fake_gateway [--port 8787] [--bot-ms 667]      to look at the page by hand
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import hashlib
import json
import re
import secrets
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
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

from spades_lobby import frames
from spades_rules import OptionRefused
from tests.web.fake_table import BOT, FakeTable, Frame, Pace, Refused, now_ms

WEB = Path(__file__).parents[2] / "services" / "lobby" / "web"
WELCOME_GRANT_COINS = 1000
TOP_UP_COINS, TOP_UP_BELOW_COINS = 500, 100
EVENTS_PER_PAGE = 200
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


@dataclass
class Account:
    account_id: str
    name: str
    guest: bool
    password: str = ""
    available_coins: int = 0
    held_coins: int = 0
    entries: list[dict[str, Any]] = field(default_factory=list)

    def post(self, change: int, reason: str, table_id: str | None = None) -> None:
        self.available_coins += change
        entry = {
            "entry_no": len(self.entries) + 1,
            "at_ms": now_ms(),
            "type": reason,
            "change_coins": change,
            "available_coins": self.available_coins,
            "table_id": table_id,
        }
        self.entries.insert(0, entry)

    def public(self) -> dict[str, Any]:
        return {"account_id": self.account_id, "name": self.name, "guest": self.guest}


class FakeGateway:
    """State of one run; a test reaches in to shorten the pace or cut a connection."""

    def __init__(self, pace: Pace | None = None) -> None:
        self.pace = pace or Pace()
        self.accounts: dict[str, Account] = {}
        self.sessions: dict[str, str] = {}
        self.tickets: dict[str, str] = {}
        self.tables: dict[str, FakeTable] = {}
        self.sockets: list[tuple[WebSocket, str]] = []
        self.start_scores: tuple[int, int] = (0, 0)
        self.tamper_secret = False

    # -- accounts

    def account_of(self, request: Request) -> Account:
        account = self.accounts.get(self.sessions.get(request.cookies.get("session", ""), ""))
        if account is None:
            raise Problem(401, "signed_out", "Sign in first.")
        return account

    def new_account(self, name: str, *, guest: bool, password: str = "") -> Account:
        number = len(self.accounts) + 1
        account = Account(f"a-{number}", name or f"Guest {number}", guest, password)
        self.accounts[account.account_id] = account
        if not guest:
            account.post(WELCOME_GRANT_COINS, "account_opened")
        return account

    def signed_in(self, account: Account, status: int = 201) -> Response:
        cookie = secrets.token_hex(16)
        self.sessions[cookie] = account.account_id
        response = JSONResponse(account.public(), status)
        response.set_cookie("session", cookie, httponly=True, samesite="strict")
        return response

    async def post_session(self, request: Request) -> Response:
        body = await request.json()
        if body.get("guest"):
            return self.signed_in(self.new_account(body.get("name", ""), guest=True))
        for account in self.accounts.values():
            if account.name == body.get("name") and account.password == body.get("password"):
                return self.signed_in(account)
        raise Problem(401, "bad_credentials", "That name and password do not go together.")

    async def delete_session(self, request: Request) -> Response:
        self.sessions.pop(request.cookies.get("session", ""), None)
        return Response(status_code=204)

    async def post_account(self, request: Request) -> Response:
        body = await request.json()
        if any(account.name == body["name"] for account in self.accounts.values()):
            raise Problem(409, "name_taken", "That name is taken.")
        if len(body["password"]) < 8:
            raise Problem(422, "weak_password", "A password has at least 8 characters.")
        try:
            account = self.account_of(request)
        except Problem:
            return self.signed_in(self.new_account(body["name"], guest=False, password=body["password"]))
        account.name, account.password, account.guest = body["name"], body["password"], False
        account.post(WELCOME_GRANT_COINS, "account_opened")
        return JSONResponse(account.public(), 201)

    async def me(self, request: Request) -> Response:
        return JSONResponse(self.account_of(request).public())

    # -- coins

    async def wallet(self, request: Request) -> Response:
        account = self.account_of(request)
        coins = {"available_coins": account.available_coins, "held_coins": account.held_coins}
        return JSONResponse(coins)

    async def entries(self, request: Request) -> Response:
        return JSONResponse({"entries": self.account_of(request).entries, "next": None})

    async def top_up(self, request: Request) -> Response:
        account = self.account_of(request)
        if account.available_coins >= TOP_UP_BELOW_COINS:
            raise Problem(409, "not_needed", "The top-up is for balances below 100.")
        account.post(TOP_UP_COINS, "coins_granted")
        return await self.wallet(request)

    def settle(self, table: FakeTable) -> None:
        payouts: list[dict[str, Any]] = []
        for holder in table.seats:
            assert holder is not None
            leaver = table.leavers.get(holder["seat"])
            account = self.accounts.get(leaver or holder["account_id"])
            if account is None:
                continue
            won = leaver is None and table.winner == holder["seat"] % 2
            net = table.stake_coins if won else -table.stake_coins
            account.held_coins = 0
            if leaver is None:
                account.post(table.stake_coins + table.fee_coins + net, "settlement", table.table_id)
            else:
                net -= table.fee_coins
            payouts.append({"account_id": account.account_id, "net_coins": net})
        house = -sum(payout["net_coins"] for payout in payouts)
        table.payouts = [*payouts, {"account_id": "house", "net_coins": house}]

    # -- tables

    def summary(self, table: FakeTable) -> dict[str, Any]:
        return {
            "table_id": table.table_id,
            "partition": 0,
            "kind": table.kind,
            "ruleset": table.choice,
            "stake_coins": table.stake_coins,
            "needed_coins": table.stake_coins + table.fee_coins,
            "leaving_price_coins": table.stake_coins + table.fee_coins,
            "clock_ms": table.clock_ms,
            "bots_welcome": table.bots_welcome,
            "host": {"account_id": table.host, "name": self.accounts[table.host].name},
            "phase": table.phase,
            "seats": [self.seat_summary(table, seat) for seat in range(4)],
            "scores": table.game.scores,
            "winner": table.winner,
            "end_reason": table.end_reason,
            "payouts": table.payouts or [],
            "leavers": list(table.leavers.values()),
        }

    def seat_summary(self, table: FakeTable, seat: int) -> dict[str, Any]:
        holder = table.seats[seat]
        account_id = holder["account_id"] if holder else None
        return {
            "seat": seat,
            "account_id": account_id,
            "name": self.accounts[account_id].name if account_id in self.accounts else None,
            "computer": account_id == BOT,
            "free": holder is None,
        }

    def names(self, table: FakeTable) -> dict[str, str]:
        ids = {table.host, *table.leavers.values()} | {h["account_id"] for h in table.seats if h}
        return {one: self.accounts[one].name for one in ids if one != BOT}

    async def post_table(self, request: Request) -> Response:
        account = self.account_of(request)
        body = await request.json()
        if body.get("stake_coins") and account.guest:
            raise Problem(403, "account_required", "Coin tables need an account.")
        try:
            table = FakeTable(
                table_id=str(uuid.uuid4()),
                host=account.account_id,
                kind=body["kind"],
                choice=body["ruleset"],
                stake_coins=body.get("stake_coins", 0),
                clock_ms=body.get("clock_ms") or (90_000 if body["kind"] == "coins" else None),
                bots_welcome=body.get("bots_welcome", False),
                pace=self.pace,
                settle=self.settle,
                start_scores=self.start_scores,
            )
        except OptionRefused as refused:
            raise Problem(422, "option_refused", str(refused), field=refused.field) from refused
        self.tables[table.table_id] = table
        return JSONResponse(self.summary(table), 201)

    async def post_invite(self, request: Request) -> Response:
        table = self.table_of(request)
        return JSONResponse({"table_id": table.table_id, "code": table.table_id}, 201)

    async def redeem_invite(self, request: Request) -> Response:
        self.account_of(request)
        table = self.tables.get((await request.json())["code"])
        if table is None:
            raise Problem(404, "not_found", "There is no such table.")
        return JSONResponse(self.summary(table))

    async def get_tables(self, request: Request) -> Response:
        self.account_of(request)
        shown = [self.summary(t) for t in self.tables.values() if t.phase != "ended" and t.kind != "private"]
        return JSONResponse({"tables": shown, "next": None})

    def table_of(self, request: Request) -> FakeTable:
        table = self.tables.get(request.path_params["id"])
        if table is None:
            raise Problem(404, "not_found", "There is no such table.")
        return table

    async def get_table(self, request: Request) -> Response:
        return JSONResponse(self.summary(self.table_of(request)))

    async def my_games(self, request: Request) -> Response:
        me = self.account_of(request).account_id
        mine = [t for t in self.tables.values() if t.seat_of(me) is not None or me in t.leavers.values()]
        return JSONResponse({"games": [self.summary(t) for t in mine], "next": None})

    async def events(self, request: Request) -> Response:
        table = self.table_of(request)
        after = int(request.query_params.get("after", 0))
        page = [self.told(public) for public, _ in table.log[after : after + EVENTS_PER_PAGE]]
        more = page[-1]["seq"] if len(page) == EVENTS_PER_PAGE else None
        return JSONResponse({"events": page, "next": more})

    def told(self, frame: Frame) -> Frame:
        """A public event as this gateway tells it: an honest one does not change it."""
        if frame["type"] == "deal_revealed" and self.tamper_secret:
            return frame | {"secret": "ab" * 32}
        return frame

    async def ticket(self, request: Request) -> Response:
        ticket = secrets.token_hex(16)
        self.tickets[ticket] = self.account_of(request).account_id
        return JSONResponse({"ticket": ticket}, 201)

    # -- sockets

    async def socket(self, socket: WebSocket) -> None:
        await socket.accept(subprotocol="spades.v1")
        try:
            hello = checked(await socket.receive_text())
            account = self.accounts[self.tickets.pop(hello["ticket"])]
            await socket.send_json({"type": "welcome", "server_ms": now_ms()} | account.public())
            watch = checked(await socket.receive_text())
            table = self.tables.get(watch["table_id"])
            if table is None:
                await socket.send_json({"type": "error", "code": "not_found", "message": "No such table."})
                await socket.close()
                return
            viewer = Viewer(self, socket, table, account)
            self.sockets.append((socket, table.table_id))
            await viewer.run(watch.get("last_seq"))
        except (WebSocketDisconnect, RuntimeError):
            # The page went away, or a test cut the line.
            return

    async def drop_sockets(self) -> None:
        """Cut every connection as a lost network does."""
        for socket, _ in self.sockets:
            with contextlib.suppress(RuntimeError):
                await socket.close(1011)
        self.sockets.clear()

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
            if table.timer is not None:
                table.timer.cancel()

    def app(self) -> Starlette:
        routes = [
            Route("/v1/sessions", self.post_session, methods=["POST"]),
            Route("/v1/sessions/current", self.delete_session, methods=["DELETE"]),
            Route("/v1/accounts", self.post_account, methods=["POST"]),
            Route("/v1/me", self.me),
            Route("/v1/me/games", self.my_games),
            Route("/v1/wallet", self.wallet),
            Route("/v1/wallet/entries", self.entries),
            Route("/v1/wallet/top-up", self.top_up, methods=["POST"]),
            Route("/v1/tables", self.post_table, methods=["POST"]),
            Route("/v1/tables", self.get_tables),
            Route("/v1/tables/{id}", self.get_table),
            Route("/v1/tables/{id}/invites", self.post_invite, methods=["POST"]),
            Route("/v1/invites", self.redeem_invite, methods=["POST"]),
            Route("/v1/games/{id}", self.get_table),
            Route("/v1/games/{id}/events", self.events),
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


def checked(text: str) -> Frame:
    """The client's frame, held against the real gateway's own strict types. Raises BadFrame."""
    frames.decode(text)
    frame: Frame = json.loads(text)
    return frame


class Problem(Exception):
    """An answer of RFC 9457 with a slug."""

    def __init__(self, status: int, code: str, detail: str, **facts: object) -> None:
        super().__init__(code)
        self.status = status
        self.body = {"status": status, "code": code, "title": code, "detail": detail} | facts


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
        self.sent = 0

    async def run(self, last_seq: int | None) -> None:
        if last_seq is None or last_seq > len(self.table.log):
            await self.resync()
        else:
            self.sent = last_seq
        sender = asyncio.create_task(self.follow())
        try:
            while True:
                await self.answer(checked(await self.socket.receive_text()))
        finally:
            sender.cancel()

    async def resync(self) -> None:
        frame = self.table.snapshot(self.account.account_id)
        self.sent = frame["seq"]
        await self.socket.send_json(frame | {"names": self.gateway.names(self.table)})

    async def follow(self) -> None:
        while True:
            await self.flush()
            await asyncio.sleep(0.005)

    async def flush(self) -> None:
        while self.sent < len(self.table.log):
            frame = self.table.frame(self.sent, self.table.seat_of(self.account.account_id))
            self.sent += 1
            if frame["type"] in ("seat_taken", "seats_locked", "game_started"):
                frame |= {"names": self.gateway.names(self.table)}
            await self.socket.send_json(self.gateway.told(frame))

    async def answer(self, frame: Frame) -> None:
        if frame["type"] == "ping":
            await self.socket.send_json({"type": "pong", "client_ms": frame["client_ms"], "server_ms": now_ms()})
            return
        first = len(self.table.log) + 1
        try:
            await self.obey(frame)
        except Refused as refused:
            await self.socket.send_json({"type": "command_rejected", "id": frame.get("id")} | refused.frame)
            return
        last = len(self.table.log)
        await self.socket.send_json({"type": "ack", "id": frame.get("id"), "first_seq": first, "last_seq": last})

    async def obey(self, frame: Frame) -> None:
        me = self.account.account_id
        match frame["type"]:
            case "take_seat":
                self.take_seat(frame)
            case "release_seat":
                self.table.release(me)
            case "start":
                self.table.start(me)
            case "open_seed":
                self.table.open_seed(me, frame["seed"])
            case "bid" | "pass_cards" | "play_card":
                self.table.move(me, frame)
            case "look_at_cards":
                self.table.look(me)
            case "ready":
                self.table.hand_ready(me)
            case "leave":
                self.table.leave(me, frame["confirm_price"])
            case "resync":
                await self.resync()
            case _:
                raise Refused("malformed")

    def take_seat(self, frame: Frame) -> None:
        price = self.table.stake_coins + self.table.fee_coins
        if price > self.account.available_coins:
            raise Refused("insufficient_balance", needed_coins=price, available_coins=self.account.available_coins)
        self.table.take_seat(self.account.account_id, frame.get("seat"), frame.get("seed_commit"))
        if price:
            self.account.post(-price, "hold_placed", self.table.table_id)
            self.account.held_coins += price


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
