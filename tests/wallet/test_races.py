"""Sixteen wallets at once, as if every fence had failed: the constraints alone keep each effect single."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio

from spades_events.commands import GrantCoins, OpenAccount
from spades_events.wallet import HoldPlaced, HoldRefused, Settlement
from spades_local.testing import Namespace
from spades_wallet.audit import audit
from spades_wallet.decision import Terms
from tests.wallet.desk import Desk, balances, desk_at
from tests.wallet.games import CANCELLED, WIN_0, WIN_1, CoinGame

pytestmark = pytest.mark.real

RACERS = 16


@pytest_asyncio.fixture
async def desks(ledger: Namespace) -> AsyncIterator[list[Desk]]:
    """Sixteen wallets, each at a partition of its own."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(desk_at(ledger, part)) for part in range(RACERS)]


async def test_sixteen_wallets_told_of_the_same_reservation_place_one_hold(desks: list[Desk]) -> None:
    of = CoinGame(table="same-hold", stake=100, people=(0,))
    await desks[0].ask(of.name(0), OpenAccount())
    told = await asyncio.gather(*(desk.tell(of, of.reserved(0)) for desk in desks))
    assert [len(events) for events in told].count(1) == 1
    assert (await balances(desks[0].db, [of.name(0)]))[of.name(0)] == 890


async def test_sixteen_wallets_told_of_the_same_ending_settle_it_once(desks: list[Desk]) -> None:
    of = CoinGame(table="same-end", stake=100, people=(0, 1, 2), leaves=(2,), end=WIN_0)
    for seat in of.people:
        await desks[0].ask(of.name(seat), OpenAccount())
    *before, ended = of.facts()
    await desks[0].tell(of, *before)
    told = await asyncio.gather(*(desk.tell(of, ended) for desk in desks))
    assert [type(event) for events in told for event in events] == [Settlement]
    found = await balances(desks[0].db, [of.name(seat) for seat in of.people])
    assert {name: found[name] - 1_000 for name in map(of.name, of.people)} == {
        name: net for name, net in of.nets().items() if name not in ("house", "fees")
    }


async def test_two_endings_of_one_game_at_once_are_one_settlement(desks: list[Desk]) -> None:
    of = CoinGame(table="two-ends", stake=100, people=(0, 1), end=WIN_0)
    other = CoinGame(table="two-ends", stake=100, people=(0, 1), end=CANCELLED)
    for seat in of.people:
        await desks[0].ask(of.name(seat), OpenAccount())
    *before, ended = of.facts()
    await desks[0].tell(of, *before)
    told = await asyncio.gather(
        *(desk.tell(of, ended if number % 2 else other.ended()) for number, desk in enumerate(desks))
    )
    assert [type(event) for events in told for event in events] == [Settlement]
    report = await audit(desks[0].db)
    assert report.faults == []


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_players_in_many_games_at_many_wallets_are_never_overdrawn(desks: list[Desk], seed: int) -> None:
    """Eight players, a hundred games in sixteen wallets at once: what was told adds up, and so does the ledger."""
    dice = random.Random(seed)
    players = [f"many{seed}-{number}" for number in range(8)]
    for player in players:
        await desks[0].ask(player, OpenAccount())
    for desk in desks:
        desk.wallet.terms = Terms(games_at_once_max=4)
    games = [
        CoinGame(
            table=f"table{seed}-{number}",
            stake=dice.choice((10, 100, 300)),
            people=(0, 1, 2, 3),
            leaves=dice.choice(((), (1,), (0, 3))),
            end=dice.choice((WIN_0, WIN_1, CANCELLED)),
            names=tuple(dice.sample(players, 4)),
        )
        for number in range(96)
    ]

    async def play(desk: Desk, mine: list[CoinGame]) -> tuple[int, int]:
        placed = refused = 0
        for of in mine:
            told = await desk.tell(of, *(of.reserved(seat) for seat in of.people))
            placed += sum(isinstance(event, HoldPlaced) for event in told)
            if any(isinstance(event, HoldRefused) for event in told):
                refused += 1
                await desk.tell(of, *(of.released(seat) for seat in of.people))
                continue
            await desk.tell(of, of.locked(), *(of.forfeited(seat) for seat in of.leaves))
            if dice.random() < 0.2:
                await desk.ask(of.name(0), GrantCoins(amount_coins=50, reason="luck"))
            await desk.tell(of, of.ended())
        return placed, refused

    played = await asyncio.gather(*(play(desk, games[number::RACERS]) for number, desk in enumerate(desks)))
    assert sum(placed for placed, _ in played) > 0
    assert sum(refused for _, refused in played) > 0
    report = await audit(desks[0].db)
    assert report.faults == []
    cursor = await desks[0].db.execute(
        "SELECT count(*) FROM account WHERE owner = ANY(%s) AND kind = 'hold' AND NOT shut", [players]
    )
    assert await cursor.fetchone() == (0,)
