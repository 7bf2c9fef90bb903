"""Whole games on the real services, through the public interface alone."""

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from spades_client import Gateway
from spades_events import events
from spades_local.testing import Namespace
from spades_replay import Verifier, read
from tests.demo.game import Plan, Played, enter, play
from tests.demo.player import Manner
from tests.flow.services import Services, running

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(600)]

LIMIT_S = 240.0
OUTAGE_S = 3.0


@pytest.fixture(scope="module")
def services(module_namespace: Namespace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    with running(module_namespace, tmp_path_factory.mktemp("logs")) as started:
        yield started


def short(number: int, kind: str, *manners: Manner, stake_coins: int = 0) -> Plan:
    """A game to 200."""
    return Plan(number, kind, "classic", {"target": 200}, stake_coins, manners)


async def play_all(services: Services, games: Sequence[Played]) -> None:
    """Play the games beside each other; nobody may have been told anything wrong."""
    async with Gateway(services.address) as gateway, asyncio.timeout(LIMIT_S):
        await asyncio.gather(*(enter(gateway, game) for game in games))
        await asyncio.gather(*(play(game) for game in games))
    for game in games:
        assert game.faults == [], services.said()
        assert game.is_over


async def verified(services: Services) -> Verifier:
    """Read the whole record; it must be in order."""
    verifier = Verifier(settling_ms_max=0)
    faults = [str(fault) async for record in read(services.source) if (fault := verifier.feed(record)) is not None]
    assert faults + [str(fault) for fault in verifier.finish()] == []
    return verifier


async def test_a_practice_game_is_played_from_its_opening_to_500(services: Services) -> None:
    game = Played(Plan(1, "practice", "deniro", {}, 0, (Manner.STEADY,)))
    await play_all(services, [game])
    table = (await verified(services)).tables[game.table_id]
    assert isinstance(table.ended, events.GameEnded)
    assert table.ended.reason == "target"
    assert max(table.ended.scores) >= 500
    assert table.ended.scores == game.scores


async def test_coin_games_are_paid_whoever_stays_leaves_or_says_nothing(services: Services) -> None:
    games = [
        Played(short(2, "coins", Manner.STEADY, stake_coins=100)),
        Played(short(3, "online", Manner.STEADY, Manner.LEAVES, Manner.SILENT, stake_coins=50)),
        Played(short(4, "coins", Manner.LEAVES, stake_coins=20)),
    ]
    await play_all(services, games)
    verifier = await verified(services)
    for game in games:
        table = verifier.tables[game.table_id]
        assert table.settled is not None
    alone = verifier.tables[games[2].table_id].settled
    assert alone is not None
    nets = {payout.account_id: payout.net_coins for payout in alone.payouts}
    assert nets == {games[2].players[0].account.account_id: -22, "house": 20, "fees": 2}


async def test_games_go_on_after_everything_was_killed_and_the_time_is_given_back(services: Services) -> None:
    games = [
        Played(short(5, "coins", Manner.STEADY, stake_coins=10)),
        Played(short(6, "practice", Manner.STEADY, Manner.DROPS)),
    ]
    playing = asyncio.create_task(play_all(services, games))
    async with asyncio.timeout(LIMIT_S):
        while any(len(game.moves) < 10 for game in games):
            await asyncio.sleep(0.05)
    await asyncio.to_thread(services.kill_all)
    # Only what takes longer than two seconds is an outage.
    await asyncio.sleep(OUTAGE_S)
    await asyncio.to_thread(services.start)
    await playing
    verifier = await verified(services)
    assert all(verifier.tables[game.table_id].ended is not None for game in games)
    given_back = {record.stream async for record in read(services.source) if record.type == "spades.clock_extended.v1"}
    assert games[0].table_id in given_back
