"""One function per kind of record: what the read model makes of a batch. Idempotent by version.

Events of a table are kept as they are, unique by (table, version); its game is folded from those
above the version that is saved. Entries of an account are unique by number, and its balance is the
one with the highest. So a batch may come twice, and half of it again.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from spades_events import CE_TYPES, Envelope, UndecodableMessage, decode, events, wallet
from spades_lobby import domain, metrics
from spades_lobby.domain import Game
from spades_lobby.games import dealt, readmodel
from spades_lobby.games.readmodel import EntryRow, EventRow
from spades_lobby.people import store

log = structlog.get_logger()

_OPENED: Final = CE_TYPES[events.TableOpened]
# Events that say nothing a list or a result shows are kept and not folded: most of the log.
_UNFOLDED: Final = frozenset(
    CE_TYPES[kind]
    for kind in (
        events.TurnStarted,
        events.DeadlineSet,
        events.CardPlayed,
        events.TrickTaken,
        events.BidMade,
        events.HandDealt,
        events.CardsSeen,
        events.CardsPassed,
        events.SpadesBroken,
        events.SeatAutoplayed,
        events.SeatReady,
        events.DealRevealed,
        events.ClockExtended,
    )
)


class WalletRecord(NamedTuple):
    envelope: Envelope
    event: wallet.WalletEvent


async def keep_table_events(db: AsyncConnection, rows: Sequence[EventRow]) -> None:
    """Add these public events, in the order of their log, and fold them into their games."""
    if not rows:
        return
    await readmodel.add_events(db, rows)
    await _fold_games(db, rows)
    # Behind the games: a deal is dealt again with the seeds of its game.
    await dealt.count_deals(db, rows)


async def _fold_games(db: AsyncConnection, rows: Sequence[EventRow]) -> None:
    touched = {row.table_id for row in rows if row.type not in _UNFOLDED}
    if not touched:
        return
    known = await readmodel.games(db, touched)
    folded = dict(known)
    seated: list[tuple[str, str, int]] = []
    for row in rows:
        if row.table_id in touched:
            _fold(folded, row, seated)
    await readmodel.save_games(db, [game for key, game in sorted(folded.items()) if game is not known.get(key)])
    await readmodel.add_players(db, seated)


def _fold(games: dict[str, Game], row: EventRow, seated: list[tuple[str, str, int]]) -> None:
    game = games.get(row.table_id)
    if game is not None and row.version <= game.version:
        return
    if row.type in _UNFOLDED:
        if game is not None:
            games[row.table_id] = msgspec.structs.replace(game, version=row.version)
        return
    try:
        event = decode(row.type, row.body)
    except UndecodableMessage as error:
        # The event itself is kept; its game stands where a newer release can fold on.
        metrics.PROJECTION_STALLED.inc()
        log.error("event_not_folded", type=row.type, version=row.version, reason=error.reason)
        return
    if isinstance(event, events.TableOpened):
        games[row.table_id] = domain.opened(event, row.table_id, row.at_ms)
    elif game is not None:
        games[row.table_id] = domain.fold(game, event, row.version, row.at_ms)
        if isinstance(event, events.SeatTaken):
            seated.append((event.holder.account_id, row.table_id, row.at_ms))


async def keep_wallet_events(db: AsyncConnection, records: Iterable[WalletRecord]) -> None:
    """Add the entries of these events, keep the newest balances, and note whose wallet is open."""
    rows: list[EntryRow] = []
    opened: set[str] = set()
    for envelope, event in records:
        rows += entries_of(envelope, event)
        if isinstance(event, wallet.AccountOpened):
            opened.add(event.account_id)
    await readmodel.post_entries(db, rows)
    if opened:
        await store.set_wallet_open(db, opened)


def entries_of(envelope: Envelope, event: wallet.WalletEvent) -> list[EntryRow]:
    """What one wallet event did to each account it names."""
    return [
        EntryRow(
            account_id=line.account_id,
            entry_no=line.entry_no,
            type=envelope.type.split(".")[1],
            subject=envelope.subject,
            change_coins=line.change_coins,
            available_coins=line.available_coins,
            held_coins=line.held_coins,
            at_ms=envelope.time_ms or 0,
        )
        for line in event.accounts
    ]
