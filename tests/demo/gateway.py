"""The gateway's REST interface as a program uses it: a key on what must happen once, and patience."""

import asyncio
import secrets
import time
import uuid
from types import TracebackType
from typing import Any

import httpx

RETRY_FIRST_S = 0.1
RETRY_MAX_S = 1.0
LIMIT_S = 120.0
ANSWER_S = 20.0
# A burst of new people: each connection costs the gateway some work of its own, each password a third of a second.
CONNECTIONS_MAX = 50
REGISTER_AT_ONCE = 3
AGAIN = frozenset({429, 500, 502, 503, 504})
"""Statuses behind which the same request may be sent again."""


class Refused(Exception):
    """The gateway's answer is no, and would be no again."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(f"{status} {problem.get('code')}: {problem.get('message')}")
        self.status = status
        self.code = str(problem.get("code"))
        self.problem = problem


class NoAnswer(Exception):
    """However often it was asked."""


class Gateway:
    """The gateway's address, and how much may be asked of it at once."""

    def __init__(self, address: str) -> None:
        self.address = address
        limits = httpx.Limits(max_connections=CONNECTIONS_MAX)
        self.http = httpx.AsyncClient(base_url=address, limits=limits, timeout=ANSWER_S)
        self.registering = asyncio.Semaphore(REGISTER_AT_ONCE)

    async def __aenter__(self) -> "Gateway":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.http.aclose()


class Account:
    """One person: a guest, or an account with coins."""

    def __init__(self, gateway: Gateway, name: str) -> None:
        self._gateway = gateway
        self.name = name
        self.account_id = ""
        self._token = ""

    async def enter(self) -> None:
        """Become a guest."""
        try:
            session = await self._ask("POST", "/v1/sessions", {"guest": True, "name": self.name, "token": True})
        except Refused as refused:
            if refused.code != "name_taken":
                raise
            # By ourselves: the first try was carried out and its answer lost.
            self.name = f"{self.name} {secrets.token_hex(2)}"
            await self.enter()
            return
        self.account_id, self._token = session["account_id"], session["token"]

    async def register(self) -> None:
        """Turn the guest into an account, and wait for its coins."""
        async with self._gateway.registering:
            await self._register()
        ends_s = time.monotonic() + LIMIT_S
        while not (await self.get("/v1/wallet"))["open"]:
            if time.monotonic() > ends_s:
                raise NoAnswer("the wallet does not open")
            await asyncio.sleep(RETRY_FIRST_S)

    async def _register(self) -> None:
        body = {"name": self.name, "password": secrets.token_hex(12), "token": True}
        try:
            account = await self._ask("POST", "/v1/accounts", body)
            self.account_id, self._token = account["account_id"], account["token"]
        except Refused as refused:
            # The first try was carried out and its answer lost, the guest's token is void; the password is good.
            if refused.status != 401 and refused.code not in ("name_taken", "already_registered"):
                raise
            self._token = ""
            session = await self._ask("POST", "/v1/sessions", body)
            self.account_id, self._token = session["account_id"], session["token"]

    async def open_table(self, body: dict[str, Any]) -> str:
        return str((await self.post("/v1/tables", body))["table_id"])

    async def ticket(self) -> str:
        return str((await self._ask("POST", "/v1/ws-tickets", {}))["ticket"])

    async def get(self, path: str) -> dict[str, Any]:
        return await self._ask("GET", path, None)

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return await self._ask("POST", path, body, key=str(uuid.uuid4()))

    async def put(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return await self._ask("PUT", path, body, key=str(uuid.uuid4()))

    async def delete(self, path: str) -> dict[str, Any]:
        return await self._ask("DELETE", path, None, key=str(uuid.uuid4()))

    async def _ask(self, method: str, path: str, body: dict[str, Any] | None, key: str | None = None) -> dict[str, Any]:
        """Ask until there is an answer; the key makes of many tries one effect."""
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        if key is not None:
            headers["Idempotency-Key"] = key
        pause_s, ends_s, last = RETRY_FIRST_S, time.monotonic() + LIMIT_S, "nothing"
        while time.monotonic() < ends_s:
            try:
                answer = await self._gateway.http.request(method, path, json=body, headers=headers)
                if answer.status_code not in AGAIN:
                    return _content(answer)
                last = f"{answer.status_code} {answer.text[:200]}"
            except httpx.TransportError as error:
                last = type(error).__name__
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, RETRY_MAX_S)
        raise NoAnswer(f"{method} {path} got no answer, at last {last}")


def _content(answer: httpx.Response) -> dict[str, Any]:
    content: dict[str, Any] = answer.json() if answer.content else {}
    if answer.is_success:
        return content
    raise Refused(answer.status_code, content)
