"""Names of accounts as frames show them, kept in memory: the fan-out may not wait for each."""

from collections.abc import Iterable
from typing import Final

import msgspec
import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from spades_events import BOT_ACCOUNT
from spades_lobby.people import store

log = structlog.get_logger()

NAMES_MAX: Final = 50_000
"""About 5 MB; the next name beyond it starts anew."""
COMPUTER: Final = "Computer"


class Names:
    """A name never changes under a running game for long: another gateway's change is seen late."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._known: dict[str, str] = {}

    def put(self, account_id: str, name: str) -> None:
        if len(self._known) >= NAMES_MAX:
            self._known.clear()
        self._known[account_id] = name

    def forget_all(self) -> None:
        self._known.clear()

    async def load(self, account_ids: Iterable[str]) -> None:
        """Make these names known. A database that does not answer costs the names, not the frames."""
        missing = {one for one in account_ids if one not in self._known} - {BOT_ACCOUNT}
        if not missing:
            return
        try:
            async with self._engine.connect() as db:
                found = await store.names(db, missing)
        except (SQLAlchemyError, OSError) as error:
            log.warning("names_missing", error=type(error).__name__)
            return
        for account_id, name in found.items():
            self.put(account_id, name)

    def of(self, account_ids: Iterable[str]) -> dict[str, str]:
        """The known names of these; a computer's too."""
        found = {one: self._known[one] for one in account_ids if one in self._known}
        return found | ({BOT_ACCOUNT: COMPUTER} if BOT_ACCOUNT in account_ids else {})

    def json_of(self, account_ids: frozenset[str]) -> bytes:
        return msgspec.json.encode(self.of(sorted(account_ids)))
