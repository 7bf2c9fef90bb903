"""The gateway's REST interface as a program uses it: a key on what must happen once, and patience."""

import asyncio
import time
from types import TracebackType
from typing import Any, Final

import httpx

from spades_client.account import Account
from spades_client.errors import NoAnswer, Refused

RETRY_FIRST_S: Final = 0.1
RETRY_MAX_S: Final = 1.0
ANSWER_S: Final = 20.0
CONNECTIONS_MAX: Final = 50
"""Each connection costs the gateway some work of its own."""
REGISTER_AT_ONCE: Final = 3
"""A password costs the gateway a third of a second."""
AGAIN: Final = frozenset({429, 500, 502, 503, 504})
"""Statuses behind which the same request may be sent again."""


class Gateway:
    """One gateway by its address, or several that stand for each other: who fails is asked no more for now."""

    def __init__(self, *addresses: str, patience_s: float = 120.0) -> None:
        assert addresses, "at least one address"
        self._addresses = [address.rstrip("/") for address in addresses]
        self._turn = 0
        self.patience_s = patience_s
        limits = httpx.Limits(max_connections=CONNECTIONS_MAX)
        self._http = httpx.AsyncClient(limits=limits, timeout=ANSWER_S)
        self.registering = asyncio.Semaphore(REGISTER_AT_ONCE)

    async def __aenter__(self) -> "Gateway":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    @property
    def address(self) -> str:
        """The one whose turn it is."""
        return self._addresses[self._turn % len(self._addresses)]

    def turn(self) -> None:
        """Ask the next one from now on."""
        self._turn += 1

    # -- people --------------------------------------------------------------------------

    async def guest(self, name: str | None = None) -> Account:
        """Become a guest; without a name the gateway finds one."""
        named = {} if name is None else {"name": name}
        return Account(self, await self.ask("POST", "/v1/sessions", {"guest": True, "token": True, **named}))

    async def log_in(self, name: str, password: str) -> Account:
        """Raises Refused `bad_credentials`."""
        return Account(
            self, await self.ask("POST", "/v1/sessions", {"name": name, "password": password, "token": True})
        )

    async def with_token(self, token: str) -> Account:
        """Whose token this is. Raises Refused `not_signed_in`."""
        return Account(self, {**await self.ask("GET", "/v1/me", token=token), "token": token})

    # -- requests ------------------------------------------------------------------------

    async def ask(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        token: str = "",
        key: str | None = None,
    ) -> dict[str, Any]:
        """Ask until there is an answer; the key makes of many tries one effect.

        Raises Refused where the answer is no, and NoAnswer when patience is at its end: then nobody
        knows what became of it.
        """
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if key is not None:
            headers["Idempotency-Key"] = key
        pause_s, ends_s, last = RETRY_FIRST_S, time.monotonic() + self.patience_s, "nothing"
        while time.monotonic() < ends_s:
            address = self.address
            try:
                answer = await self._http.request(method, address + path, json=body, headers=headers)
                # The token says who asks; a cookie would say it for all accounts of this program.
                self._http.cookies.clear()
                if answer.status_code not in AGAIN:
                    return _content(answer)
                last = f"{answer.status_code} {answer.text[:200]}"
            except httpx.TransportError as error:
                last = type(error).__name__
            if address == self.address:
                self.turn()
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, RETRY_MAX_S)
        raise NoAnswer(f"{method} {path} got no answer, at last {last}")


def _content(answer: httpx.Response) -> dict[str, Any]:
    content: dict[str, Any] = answer.json() if answer.content else {}
    if answer.is_success:
        return content
    raise Refused(answer.status_code, content)
