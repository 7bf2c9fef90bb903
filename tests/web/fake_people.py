"""People, coins and the queue of the gateway in memory."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from spades_events import events, wallet
from spades_events.events import TableEvent
from spades_table.domain import Cause
from tests.table.driving import wallet_answer
from tests.web.fake_table import now_ms

WELCOME_GRANT_COINS = 1000
TOP_UP_COINS, TOP_UP_BELOW_COINS = 500, 100
WRONG = "That name and password do not go together."


class Problem(Exception):
    """An answer of RFC 9457 with a slug."""

    def __init__(self, status: int, code: str, detail: str = "", **facts: object) -> None:
        super().__init__(code)
        self.status = status
        self.body = {"status": status, "code": code, "title": code, "detail": detail or code} | facts


@dataclass
class Account:
    account_id: str
    name: str
    guest: bool
    password: str = ""
    recovery_code: str = ""
    available_coins: int = 0
    held_coins: int = 0
    entries: list[dict[str, Any]] = field(default_factory=list)

    def post(self, change: int, reason: str, subject: str = "", *, net: int | None = None) -> None:
        """One row of the history; `net` where coins that are held are won or lost, or only held."""
        self.available_coins += change
        entry = {"entry_no": len(self.entries) + 1, "at_ms": now_ms(), "type": reason, "subject": subject}
        coins = {"change_coins": change, "net_coins": change if net is None else net}
        self.entries.insert(0, entry | coins | {"available_coins": self.available_coins})

    def public(self) -> dict[str, Any]:
        return {"account_id": self.account_id, "name": self.name, "guest": self.guest}

    def new_code(self) -> dict[str, str]:
        self.recovery_code = "-".join(secrets.token_hex(2).upper() for _ in range(7))
        return {"recovery_code": self.recovery_code}


def _refused(event: events.SeatReserved, account: Account) -> wallet.HoldRefused:
    return wallet.HoldRefused(
        accounts=(),
        reservation_id=event.reservation_id,
        seat=event.seat,
        account_id=event.account_id,
        code="insufficient_balance",
        needed_coins=event.stake_coins + event.deposit_coins,
        available_coins=account.available_coins,
    )


class People:
    """Who there is, what they have, and who waits for a game."""

    def __init__(self) -> None:
        self.accounts: dict[str, Account] = {}
        self.sessions: dict[str, str] = {}
        self.queue: dict[str, dict[str, Any]] = {}
        self.bots_offered = False
        self.tokens: list[dict[str, str]] = []
        self.seat_together: Callable[[list[str]], str] = lambda waiting: ""
        """Opens a table for those who wait and seats them; returns its id."""

    def of(self, request: Request) -> Account:
        account = self.accounts.get(self.sessions.get(request.cookies.get("session", ""), ""))
        if account is None:
            raise Problem(401, "signed_out", "Sign in first.")
        return account

    def add(self, name: str, *, guest: bool, password: str = "") -> Account:
        number = len(self.accounts) + 1
        account = Account(f"a-{number}", name or f"Guest {number}", guest, password)
        self.accounts[account.account_id] = account
        if not guest:
            account.post(WELCOME_GRANT_COINS, "account_opened")
        return account

    def _entered(self, account: Account, **more: Any) -> Response:
        cookie = secrets.token_hex(16)
        self.sessions[cookie] = account.account_id
        response = JSONResponse(account.public() | more, 201)
        response.set_cookie("session", cookie, httponly=True, samesite="strict")
        return response

    async def enter(self, request: Request) -> Response:
        body = await request.json()
        if body.get("guest"):
            return self._entered(self.add(body.get("name", ""), guest=True))
        for account in self.accounts.values():
            if account.name == body.get("name") and account.password == body.get("password"):
                return self._entered(account)
        raise Problem(401, "bad_credentials", WRONG)

    async def log_out(self, request: Request) -> Response:
        self.sessions.pop(request.cookies.get("session", ""), None)
        return Response(status_code=204)

    async def log_out_everywhere(self, request: Request) -> Response:
        gone = self.of(request).account_id
        self.sessions = {key: account for key, account in self.sessions.items() if account != gone}
        return Response(status_code=204)

    async def register(self, request: Request) -> Response:
        body = await request.json()
        if any(account.name == body["name"] for account in self.accounts.values()):
            raise Problem(409, "name_taken", "That name is taken.")
        if len(body["password"]) < 8:
            raise Problem(422, "weak_password", "A password has at least 8 characters.")
        try:
            account = self.of(request)
        except Problem:
            account = self.add(body["name"], guest=False, password=body["password"])
            return self._entered(account, **account.new_code())
        account.name, account.password, account.guest = body["name"], body["password"], False
        account.post(WELCOME_GRANT_COINS, "account_opened")
        return self._entered(account, **account.new_code())

    async def recover(self, request: Request) -> Response:
        body = await request.json()
        for account in self.accounts.values():
            if (account.name, account.recovery_code) == (body["name"], body["recovery_code"]):
                account.password = body["new_password"]
                return self._entered(account, **account.new_code())
        raise Problem(401, "bad_credentials", WRONG)

    async def new_recovery_code(self, request: Request) -> Response:
        return JSONResponse((await self._proved(request)).new_code(), 201)

    async def _proved(self, request: Request) -> Account:
        account = self.of(request)
        if (await request.json()).get("password", "") != account.password:
            raise Problem(401, "bad_credentials", WRONG)
        return account

    async def get_tokens(self, request: Request) -> Response:
        return JSONResponse({"tokens": self.tokens})

    async def make_token(self, request: Request) -> Response:
        body = await request.json()
        self.tokens.append({"token_id": f"t{len(self.tokens)}", "label": body["label"], "scope": body["scope"]})
        return JSONResponse(self.tokens[-1] | {"token": secrets.token_hex(8)}, 201)

    async def revoke_token(self, request: Request) -> Response:
        self.tokens = [one for one in self.tokens if one["token_id"] != request.path_params["id"]]
        return Response(status_code=204)

    async def me(self, request: Request) -> Response:
        return JSONResponse(self.of(request).public())

    async def change_password(self, request: Request) -> Response:
        account = await self._proved(request)
        account.password = (await request.json())["new_password"]
        return Response(status_code=204)

    async def delete(self, request: Request) -> Response:
        del self.accounts[(await self._proved(request)).account_id]
        return Response(status_code=204)

    # -- coins

    async def wallet(self, request: Request) -> Response:
        account = self.of(request)
        return JSONResponse({"available_coins": account.available_coins, "held_coins": account.held_coins})

    async def entries(self, request: Request) -> Response:
        return JSONResponse({"entries": self.of(request).entries, "next": None})

    async def top_up(self, request: Request) -> Response:
        account = self.of(request)
        if account.available_coins >= TOP_UP_BELOW_COINS:
            raise Problem(409, "not_needed", "The top-up is for balances below 100.")
        account.post(TOP_UP_COINS, "coins_granted")
        return await self.wallet(request)

    def pay(self, event: TableEvent) -> Cause | None:
        """What the wallet says to an event of a table, once it has moved the coins."""
        answer = wallet_answer(event)
        match event, answer:
            case events.SeatReserved(), wallet.HoldPlaced():
                account = self.accounts[event.account_id]
                price = event.stake_coins + event.deposit_coins
                if account.available_coins < price:
                    return _refused(event, account)
                account.post(-price, "hold_placed", net=0)
                account.held_coins += price
            case events.SeatForfeited(), _ if event.account_id in self.accounts:
                account = self.accounts[event.account_id]
                account.post(0, "fee_taken", net=-account.held_coins)
            case events.GameEnded(), wallet.Settlement():
                return wallet.Settlement(accounts=(), outcome="win", payouts=tuple(self._payouts(event)))
        return answer

    def _payouts(self, event: events.GameEnded) -> list[events.Payout]:
        payouts = []
        for seat in event.seats:
            account = self.accounts.get(seat.leaver or seat.account_id)
            if account is None:
                continue
            held, account.held_coins = account.held_coins, 0
            net = event.stake_coins if event.winner == seat.seat % 2 and seat.leaver is None else -event.stake_coins
            if seat.leaver is None:
                account.post(held + net, "settlement", net=net)
            else:
                net = -held
            payouts.append(events.Payout(account_id=account.account_id, net_coins=net))
        house = -sum(payout.net_coins for payout in payouts)
        return [*payouts, events.Payout(account_id="house", net_coins=house)]

    # -- the queue

    async def enter_queue(self, request: Request) -> Response:
        account, body = self.of(request), await request.json()
        wish = {key: body[key] for key in ("ruleset", "stake_coins", "bots_accepted", "seed_commit")}
        self.queue[account.account_id] = {"state": "waiting", "since_ms": now_ms(), "table_id": None} | wish
        same = [one for one, place in self.queue.items() if place["state"] == "waiting"]
        if len(same) == 4 or body["bots_accepted"]:
            table_id = self.seat_together(same)
            for one in same:
                self.queue[one] |= {"state": "seated", "table_id": table_id}
        return await self.place(request)

    async def place(self, request: Request) -> Response:
        found = self.queue.get(self.of(request).account_id)
        if found is None:
            return JSONResponse({"state": "idle", "bots_offered": False, "bots_accepted": False, "table_id": None})
        waiting = sum(place["state"] == "waiting" for place in self.queue.values())
        more = {"waited_ms": now_ms() - found["since_ms"], "waiting": waiting, "refusal": None}
        return JSONResponse(found | more | {"bots_offered": self.bots_offered and found["state"] == "waiting"})

    async def leave_queue(self, request: Request) -> Response:
        self.queue.pop(self.of(request).account_id, None)
        return Response(status_code=204)

    def routes(self) -> list[Route]:
        return [
            Route("/v1/sessions", self.enter, methods=["POST"]),
            Route("/v1/sessions", self.log_out_everywhere, methods=["DELETE"]),
            Route("/v1/sessions/current", self.log_out, methods=["DELETE"]),
            Route("/v1/accounts", self.register, methods=["POST"]),
            Route("/v1/me", self.me),
            Route("/v1/me", self.delete, methods=["DELETE"]),
            Route("/v1/recoveries", self.recover, methods=["POST"]),
            Route("/v1/me/recovery-code", self.new_recovery_code, methods=["POST"]),
            Route("/v1/me/tokens", self.get_tokens),
            Route("/v1/me/tokens", self.make_token, methods=["POST"]),
            Route("/v1/me/tokens/{id}", self.revoke_token, methods=["DELETE"]),
            Route("/v1/me/password", self.change_password, methods=["PUT"]),
            Route("/v1/wallet", self.wallet),
            Route("/v1/wallet/entries", self.entries),
            Route("/v1/wallet/top-up", self.top_up, methods=["POST"]),
            Route("/v1/queue", self.place),
            Route("/v1/queue", self.enter_queue, methods=["POST"]),
            Route("/v1/queue", self.leave_queue, methods=["DELETE"]),
        ]
