"""What operators have the gateway do. Each act is an event first, with its operator; then it is done."""

import asyncio
from uuid import NAMESPACE_URL, uuid4, uuid5

import structlog

from spades_events import Topic, commands, wallet
from spades_events.lobby import OperatorActed
from spades_events.private import Answer
from spades_lobby.people import store
from spades_lobby.problems import Problem
from spades_lobby.rest.gateway import Gateway

log = structlog.get_logger()


class Operating:
    """The acts of one gateway's admin port; `actor` is `operator:NAME`."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._draining: asyncio.Task[None] | None = None

    async def note(self, actor: str, subject: str, act: OperatorActed) -> None:
        """Write the event, durably. Raises SendFailed: then nothing may be done."""
        await self._gateway.desk.send_surely(Topic.LOBBY_EVENTS, subject, actor, str(uuid4()), act)

    async def drain(self, actor: str) -> None:
        """Send everybody to another gateway, and stay unready until `resume` or the end."""
        sockets = self._gateway.sockets
        await self.note(actor, self._name, OperatorActed(action="drain"))
        if self._draining is None or self._draining.done():
            sockets.draining = True
            self._draining = asyncio.create_task(sockets.drain(), name="drain")

    async def resume(self, actor: str) -> None:
        """Take people in again."""
        await self.note(actor, self._name, OperatorActed(action="resume"))
        if self._draining is not None:
            await self._draining
        self._gateway.sockets.draining = False

    @property
    def _name(self) -> str:
        return self._gateway.settings.member_name

    async def cancel(self, actor: str, table_id: str, reason: str, key: str | None) -> Answer:
        """End a table: those who stayed get everything back. Raises Problem with the table's own slugs."""
        command_id = str(uuid4()) if key is None else str(uuid5(NAMESPACE_URL, f"cancel:{key}"))
        await self.note(actor, table_id, OperatorActed(action="cancel_game", command_id=command_id, reason=reason))
        return await self._gateway.seats.ask_as(actor, table_id, command_id, commands.CancelTable(reason=reason))

    async def _check_player(self, account_id: str) -> None:
        """Raises Problem: who is not there, or has no wallet, is named; the wallet knows only that it has none."""
        async with self._gateway.engine.connect() as db:
            guest = await store.is_guest(db, account_id)
        if guest is None:
            raise Problem(404, "no_player", f"There is no player with the account id {account_id}; a name is not one.")
        if guest:
            raise Problem(409, "account_required", "That player is a guest, who has no wallet.")

    async def grant(self, actor: str, account_id: str, amount_coins: int, reason: str, key: str) -> wallet.CoinsGranted:
        """Give coins, once for each key and account, whoever of the operators sends it. Raises Problem."""
        await self._check_player(account_id)
        command_id = str(uuid5(NAMESPACE_URL, f"grant:{key}"))
        act = OperatorActed(action="grant_coins", command_id=command_id, reason=reason, amount_coins=amount_coins)
        await self.note(actor, account_id, act)
        return await self._gateway.purse.grant(account_id, command_id, actor, amount_coins, reason)
