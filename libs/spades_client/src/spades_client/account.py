"""One person at the gateway: who they are, what they ask for, where they play."""

import asyncio
import time
import uuid
from typing import TYPE_CHECKING, Any, Final

from spades_client.errors import NoAnswer, Refused
from spades_client.play import Choose, Play
from spades_client.seen import Seen
from spades_client.table import Table

if TYPE_CHECKING:
    from spades_client.gateway import Gateway

WALLET_LOOK_S: Final = 0.1
MINE_ALREADY: Final = frozenset({"name_taken", "already_registered", "not_signed_in"})
"""What a registration is answered whose first try was carried out and its answer lost."""


class Account:
    """A guest, or an account with coins."""

    def __init__(self, gateway: "Gateway", session: dict[str, Any]) -> None:
        self.gateway = gateway
        self._enter(session)

    def _enter(self, session: dict[str, Any]) -> None:
        self.account_id = str(session["account_id"])
        self.name = str(session["name"])
        self.token = str(session["token"])

    async def register(self, name: str, password: str) -> None:
        """Turn the guest into an account, with all their games; returns when its wallet is open.

        Raises Refused: `name_taken`, or what is wrong with the name.
        """
        async with self.gateway.registering:
            await self._register({"name": name, "password": password, "token": True})
        ends_s = time.monotonic() + self.gateway.patience_s
        while not (await self.get("/v1/wallet"))["open"]:
            if time.monotonic() > ends_s:
                raise NoAnswer("the wallet does not open")
            await asyncio.sleep(WALLET_LOOK_S)

    async def _register(self, body: dict[str, Any]) -> None:
        try:
            self._enter(await self.gateway.ask("POST", "/v1/accounts", body, token=self.token))
        except Refused as refused:
            if refused.code not in MINE_ALREADY:
                raise
            try:
                # Whoever took the name with this very password was us.
                self._enter(await self.gateway.ask("POST", "/v1/sessions", body))
            except Refused:
                raise refused from None

    # -- requests: each is one effect, however often it has to be sent ---------------------

    async def get(self, path: str) -> dict[str, Any]:
        return await self.gateway.ask("GET", path, token=self.token)

    async def post(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        return await self._once("POST", path, body or {})

    async def put(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        return await self._once("PUT", path, body or {})

    async def delete(self, path: str) -> dict[str, Any]:
        return await self._once("DELETE", path, None)

    async def _once(self, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        return await self.gateway.ask(method, path, body, token=self.token, key=str(uuid.uuid4()))

    async def open_table(self, body: dict[str, Any]) -> str:
        """Open a table (kind, ruleset, stake_coins, …) as its host; returns its id."""
        return str((await self.post("/v1/tables", body))["table_id"])

    async def ticket(self) -> str:
        """For one WebSocket, within half a minute."""
        return str((await self.gateway.ask("POST", "/v1/ws-tickets", {}, token=self.token))["ticket"])

    # -- playing -------------------------------------------------------------------------

    def table(self, table_id: str) -> Table:
        """A socket at this table: read its `frames()`."""
        return Table(self, table_id)

    async def play(self, table_id: str, choose: Choose, *, starts: bool = False) -> Seen:
        """Sit down, let `choose` make every move, and return the table as it ended.

        `starts`: also start the game, as its host. Raises Rejected where the seat or a move is
        refused, and what `Table.frames` raises.
        """
        return await Play(self.table(table_id), choose, starts=starts).run()
