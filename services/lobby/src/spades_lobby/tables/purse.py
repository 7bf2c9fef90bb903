"""Commands to the wallet: opening an account's wallet, the daily top-up; and waiting for its word."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid4, uuid5

import msgspec
import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from spades_events import Topic, UndecodableMessage, commands, decode, envelope_of, wallet
from spades_lobby.games import handlers
from spades_lobby.games.handlers import WalletRecord
from spades_lobby.live.desk import Desk, SendFailed
from spades_lobby.live.hub import Hub
from spades_lobby.people import store
from spades_lobby.problems import Problem, outcome_unknown
from spades_lobby.settings import LobbySettings
from spades_runtime import Clock

log = structlog.get_logger()

REPAIR_MAX: Final = 200

_ANSWERS: Final = (
    wallet.AccountOpened,
    wallet.AccountClosed,
    wallet.CoinsGranted,
    wallet.WalletCommandRefused,
)
_CLOSE: Final = commands.CloseAccount()
_REFUSALS: Final = {
    "holds_open": "A game holds coins of yours: finish it, or leave it, first.",
    "already_topped_up": "Today's top-up has been taken.",
    "enough_coins": "A top-up is for those who have fewer coins.",
    "no_account": "The wallet is not open yet; try again shortly.",
    "account_closed": "This account is closed.",
    "wrong_day": "The day is over; try again.",
    "amount_out_of_range": "That is more than this account can hold.",
    "not_an_operator": "A grant is somebody else's decision.",
    "conflict": "This Idempotency-Key came before, with another body.",
}


class Purse:
    """Asks the wallet and waits for the event that names the command."""

    def __init__(self, settings: LobbySettings, engine: AsyncEngine, hub: Hub, desk: Desk, clock: Clock) -> None:
        self._settings = settings
        self._engine = engine
        self._hub = hub
        self._desk = desk
        self._clock = clock
        self._waiting: dict[bytes, list[Callable[[WalletRecord], None]]] = {}
        hub.wallet = self

    def on_wallet_event(self, record: Any) -> None:
        waiting = self._waiting.get(record.key)
        if not waiting:
            return
        try:
            envelope = envelope_of(record.headers)
            event = decode(envelope.type, record.value)
        except UndecodableMessage:
            # The read model reports it; whoever waits is told `outcome_unknown`.
            return
        if isinstance(event, _ANSWERS):
            for heard in list(waiting):
                heard(WalletRecord(envelope, event))

    async def open(self, account_id: str) -> wallet.AccountOpened | None:
        """Open an account's wallet; None where the wallet has not answered in time.

        Then it opens as soon as the wallet can: `repair` goes on asking.
        """
        command = commands.OpenAccount()
        try:
            event = await self._ask(account_id, _opening_id(account_id), command)
        except (TimeoutError, SendFailed):
            return None
        return event if isinstance(event, wallet.AccountOpened) else None

    async def top_up(self, account_id: str, command_id: str) -> wallet.CoinsGranted:
        """Today's top-up, once a day however often it is asked for."""
        day = datetime.fromtimestamp(self._clock.now_ms() / 1_000, UTC).date().isoformat()
        return await self._granted(account_id, command_id, commands.TopUp(day=day), account_id)

    async def grant(
        self, account_id: str, command_id: str, actor: str, amount_coins: int, reason: str
    ) -> wallet.CoinsGranted:
        """An operator's grant, once for each command id. Raises Problem."""
        command = commands.GrantCoins(amount_coins=amount_coins, reason=reason)
        return await self._granted(account_id, command_id, command, actor)

    async def _granted(
        self, account_id: str, command_id: str, command: msgspec.Struct, actor: str
    ) -> wallet.CoinsGranted:
        try:
            event = await self._ask(account_id, command_id, command, actor)
        except TimeoutError:
            raise outcome_unknown() from None
        match event:
            case wallet.CoinsGranted():
                return event
            case wallet.WalletCommandRefused():
                words = _REFUSALS.get(event.code, "The wallet refused.")
                raise Problem(422 if event.code == "conflict" else 409, event.code, words)
            case _:
                raise outcome_unknown()

    async def close(self, account_id: str) -> None:
        """Return all coins to the house, for good. Raises Problem `holds_open` while a game holds some."""
        try:
            event = await self._ask(account_id, str(uuid4()), _CLOSE)
        except TimeoutError:
            raise outcome_unknown() from None
        match event:
            # Closed before, and the gateway died before it forgot the name; or never opened.
            case wallet.WalletCommandRefused(code="account_closed" | "no_account"):
                return
            case wallet.WalletCommandRefused():
                raise Problem(409, event.code, _REFUSALS.get(event.code, "The wallet refused."))
            case _:
                return

    async def _ask(
        self, account_id: str, command_id: str, command: msgspec.Struct, actor: str | None = None
    ) -> wallet.WalletEvent:
        answer: asyncio.Future[WalletRecord] = asyncio.get_running_loop().create_future()

        def heard(record: WalletRecord) -> None:
            named = getattr(record.event, "command_id", None)
            if named == command_id and not answer.done():
                answer.set_result(record)

        key = account_id.encode()
        parts = self._hub.reader.parts(self._desk.part_of(account_id), Topic.WALLET_EVENTS)
        async with self._hub.reader.joined(*parts):
            self._waiting.setdefault(key, []).append(heard)
            try:
                await self._desk.send(Topic.WALLET_COMMANDS, account_id, actor or account_id, command_id, command)
                async with asyncio.timeout(self._settings.lobby_answer_ms / 1_000):
                    record = await answer
            finally:
                self._waiting[key].remove(heard)
                if not self._waiting[key]:
                    del self._waiting[key]
        # So that the next look at the wallet shows it; the read model finds it there already.
        async with self._engine.begin() as db:
            await handlers.keep_wallet_events(db, [record])
        return record.event

    async def repair(self) -> None:
        """Ask again for wallets that should be open and are not: a crash came in between."""
        every_ms = self._settings.lobby_repair_ms
        while True:
            await asyncio.sleep(every_ms / 1_000)
            try:
                async with self._engine.connect() as db:
                    missing = await store.wallets_to_open(db, timedelta(milliseconds=every_ms), REPAIR_MAX)
                for account_id in missing:
                    await self._desk.send(
                        Topic.WALLET_COMMANDS,
                        account_id,
                        account_id,
                        _opening_id(account_id),
                        commands.OpenAccount(),
                    )
            except (SQLAlchemyError, SendFailed, OSError) as error:
                log.warning("wallets_not_repaired", error=type(error).__name__)


def _opening_id(account_id: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"{account_id}:open"))
