"""Coins: the balance, what moved it, the daily top-up."""

from itertools import zip_longest

from fastapi import APIRouter

from spades_lobby.games import readmodel
from spades_lobby.people import store
from spades_lobby.people.store import Person
from spades_lobby.rest import bodies, cursors
from spades_lobby.rest.routes_people import Lobby, Player, SignedIn
from spades_lobby.rest.routes_tables import Cursor, Key, Limit
from spades_lobby.tables.seats import account_required, command_id

router = APIRouter(prefix="/v1", tags=["wallet"])


def _with_wallet(person: Person) -> Person:
    if person.guest:
        raise account_required()
    return person


@router.get("/wallet")
async def wallet(gateway: Lobby, person: SignedIn) -> bodies.WalletView:
    _with_wallet(person)
    async with gateway.engine.connect() as db:
        known = await readmodel.wallet(db, person.account_id)
        is_open = known is not None or await store.wallet_is_open(db, person.account_id)
    return bodies.WalletView(
        available_coins=known.available_coins if known else 0,
        held_coins=known.held_coins if known else 0,
        open=is_open,
    )


@router.get("/wallet/entries")
async def entries(gateway: Lobby, person: SignedIn, cursor: Cursor = None, limit: Limit = 50) -> bodies.EntryList:
    """Everything that moved the balance, the newest first."""
    _with_wallet(person)
    async with gateway.engine.connect() as db:
        # One more than is shown: what was held before the last of them.
        found = await readmodel.entries(db, person.account_id, cursors.number(cursor), limit + 1)
    return bodies.EntryList(
        entries=[
            bodies.EntryView(
                entry_no=row.entry_no,
                type=row.type,
                subject=row.subject,
                change_coins=row.change_coins,
                net_coins=row.change_coins + row.held_coins - (before.held_coins if before else 0),
                available_coins=row.available_coins,
                held_coins=row.held_coins,
                at_ms=row.at_ms,
            )
            for row, before in zip_longest(found[:limit], found[1:])
        ],
        next=cursors.of_number(found[limit - 1].entry_no) if len(found) > limit else None,
    )


@router.post("/wallet/top-up")
async def top_up(gateway: Lobby, person: Player, key: Key = None) -> bodies.TopUp:
    """The daily top-up, for those who have few coins left; once a day, however often it is asked."""
    _with_wallet(person)
    granted = await gateway.purse.top_up(person.account_id, command_id(person, key))
    return bodies.TopUp(
        amount_coins=granted.amount_coins,
        available_coins=next(line.available_coins for line in granted.accounts if line.account_id == person.account_id),
    )
