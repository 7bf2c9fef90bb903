"""The queue: fours are seated, nobody twice, nobody waits in vain."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from spades_events import commands
from spades_lobby.tables import invites, matchmaker
from spades_lobby.tables import queueing as queue_sql
from spades_local.testing import Namespace
from tests.lobby.conftest import House, house
from tests.lobby.player import Player

pytestmark = [pytest.mark.real, pytest.mark.asyncio]

WANTED = {"ruleset": "deniro", "stake_coins": 50}
PATIENCE_MS = 1_500


@asynccontextmanager
async def queueing(namespace: Namespace, count: int) -> AsyncIterator[tuple[House, list[Player]]]:
    """A gateway that loses its patience soon, and people with accounts."""
    async with (
        house(namespace, lobby_queue_ms=50, lobby_queue_patience_ms=PATIENCE_MS) as lobby,
        AsyncExitStack() as rest,
    ):
        players = [await rest.enter_async_context(lobby.player()) for _ in range(count)]
        for player in players:
            await player.guest()
        async with lobby.gateway.engine.begin() as db:
            # Accounts, without the time that a password takes.
            await db.execute(text("UPDATE account SET password = 'none', wallet_open = true WHERE password IS NULL"))
        yield lobby, players
        async with lobby.gateway.engine.begin() as db:
            await db.execute(text("DELETE FROM queued"))


async def enter(player: Player, **wanted: Any) -> dict[str, Any]:
    answer = await player.http.post("/v1/queue", json=WANTED | wanted)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def until(player: Player, *states: str, **fields: Any) -> dict[str, Any]:
    async with asyncio.timeout(20):
        while True:
            place = (await player.http.get("/v1/queue")).json()
            if place["state"] in states and fields.items() <= place.items():
                return dict(place)
            await asyncio.sleep(0.05)


async def test_fours_are_seated_at_tables_of_their_own_and_nobody_twice(lobby_namespace: Namespace) -> None:
    async with queueing(lobby_namespace, 9) as (lobby, (*players, stranger)):
        # Everybody asks three times at once: they wait once.
        await asyncio.gather(*(enter(player) for player in players * 3))
        places = await asyncio.gather(*(until(player, "seated") for player in players))
        tables = {place["table_id"] for place in places}
        assert len(tables) == 2
        seated = []
        for table_id in tables:
            table = (await stranger.http.get(f"/v1/tables/{table_id}")).json()
            assert (table["kind"], table["stake_coins"], table["ruleset"]["name"]) == ("online", 50, "deniro")
            seated += [seat["account_id"] for seat in table["seats"]]
            # Strangers may watch, and not sit.
            refused = await stranger.http.put(f"/v1/tables/{table_id}/seats/any")
            assert (refused.status_code, refused.json()["code"]) == (403, "not_matched")
        assert sorted(seated) == sorted(player.account_id for player in players)
        # However often it was sent: a seat is asked for by one command id.
        taken = [(account, name) for account, name, one in lobby.table.commands if isinstance(one, commands.TakeSeat)]
        assert len(set(taken)) == len(players)
        assert all(one.seat is None for _, _, one in lobby.table.commands if isinstance(one, commands.TakeSeat))


async def test_forty_who_come_at_once_all_sit_and_nobody_twice(lobby_namespace: Namespace) -> None:
    async with queueing(lobby_namespace, 40) as (lobby, players):
        await asyncio.gather(*(enter(player) for player in players * 2))
        places = await asyncio.gather(*(until(player, "seated") for player in players))
        assert len({place["table_id"] for place in places}) == 10
        seated = [
            holder.account_id for game in lobby.table.games.values() for holder in game.seats if holder is not None
        ]
        assert sorted(seated) == sorted(player.account_id for player in players)


async def test_who_wants_another_game_meanwhile_is_not_matched_for_the_first(lobby_namespace: Namespace) -> None:
    async with queueing(lobby_namespace, 2) as (lobby, (player, other)):
        await enter(player)
        await enter(other)
        async with lobby.gateway.engine.begin() as db:
            read = await queue_sql.waiting(db)
        assert {one.account_id for one in read} == {player.account_id, other.account_id}
        await enter(player, stake_coins=100)
        async with lobby.gateway.engine.begin() as db:
            assert await queue_sql.hold(db, read) == {other.account_id}
            # Who is held waits with a change of mind until it is known what became of the match.
            changing = asyncio.create_task(enter(other, stake_coins=100))
            table_id = str(uuid4())
            await invites.close(db, table_id, other.account_id, None)
            await queue_sql.match(db, [queue_sql.Match(table_id, other.account_id, timedelta(0), False)])
        changed = await changing
        assert (changed["state"], changed["stake_coins"]) == ("matched", 50)
        await other.http.delete("/v1/queue")


async def test_other_stakes_and_rulesets_wait_apart_and_one_may_leave(lobby_namespace: Namespace) -> None:
    async with queueing(lobby_namespace, 4) as (_, players):
        for player, wanted in zip(players, ({}, {}, {"stake_coins": 10}, {"ruleset": "club"}), strict=True):
            place = await enter(player, **wanted)
            assert (place["state"], place["missed_trick_points"]) == ("waiting", -10)
        offered = await until(players[0], "waiting", bots_offered=True)
        assert (offered["needed_coins"], offered["table_id"]) == (55, None)
        for player in players:
            assert (await player.http.delete("/v1/queue")).status_code == 204
            assert (await player.http.get("/v1/queue")).json()["state"] == "idle"


async def test_who_takes_the_offered_bots_plays_with_them(lobby_namespace: Namespace) -> None:
    async with queueing(lobby_namespace, 2) as (lobby, (first, second)):
        for player in (first, second):
            await enter(player, bots_accepted=True)
        places = [await until(player, "seated") for player in (first, second)]
        assert places[0]["table_id"] == places[1]["table_id"]
        assert lobby.table.games[places[0]["table_id"]].opened.bots_welcome
        seats = (await first.http.get(f"/v1/tables/{places[0]['table_id']}")).json()["seats"]
        assert [seat["computer"] for seat in seats].count(True) == 2


async def test_who_cannot_pay_is_told_and_the_next_one_comes_in(lobby_namespace: Namespace) -> None:
    async with queueing(lobby_namespace, 5) as (lobby, (poor, *others)):
        lobby.table.poor.add(poor.account_id)
        for player in (poor, *others):
            await enter(player)
        assert (await until(poor, "refused"))["refusal"] == "insufficient_balance"
        places = await asyncio.gather(*(until(player, "seated") for player in others))
        assert len({place["table_id"] for place in places}) == 1


async def test_a_match_without_a_fourth_is_cancelled_and_the_others_keep_their_place(
    lobby_namespace: Namespace,
) -> None:
    async with queueing(lobby_namespace, 4) as (lobby, (poor, *others)):
        lobby.table.poor.add(poor.account_id)
        for player in (poor, *others):
            await enter(player)
        table_id = (await until(others[0], "matched"))["table_id"]
        again = await asyncio.gather(*(until(player, "waiting") for player in others))
        assert all(place["waited_ms"] > PATIENCE_MS for place in again)
        async with asyncio.timeout(10):
            while any(lobby.table.games[table_id].seats):
                await asyncio.sleep(0.02)


async def test_who_leaves_while_being_seated_gets_up(lobby_namespace: Namespace) -> None:
    async with queueing(lobby_namespace, 4) as (lobby, (poor, leaver, *others)):
        lobby.table.poor.add(poor.account_id)
        for player in (poor, leaver, *others):
            await enter(player)
        table_id = (await until(leaver, "matched"))["table_id"]
        assert (await leaver.http.delete("/v1/queue")).status_code == 204
        async with asyncio.timeout(30):
            # Who leaves at once may be ahead of the table, whose opening is on its way.
            while (
                table_id not in lobby.table.games or lobby.table.games[table_id].seat_of(leaver.account_id) is not None
            ):
                await asyncio.sleep(0.02)
        assert (await until(leaver, "idle"))["table_id"] is None


async def test_a_match_that_lost_its_host_waits_again_and_holds_nobody_up(lobby_namespace: Namespace) -> None:
    async with queueing(lobby_namespace, 5) as (lobby, (odd, *players)):
        await enter(odd, stake_coins=1_000)
        async with lobby.gateway.engine.begin() as db:
            lost = "UPDATE queued SET state = 'matched', table_id = :table, matched_at = now() WHERE account_id = :who"
            await db.execute(text(lost), {"table": str(uuid4()), "who": odd.account_id})
        for player in players:
            await enter(player)
        for player in players:
            await until(player, "seated")
        assert (await until(odd, "waiting"))["table_id"] is None


async def test_a_turn_that_fails_is_followed_by_another(
    lobby_namespace: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with queueing(lobby_namespace, 4) as (lobby, players):
        turn, failed = lobby.gateway.matchmaker.turn, asyncio.Event()

        async def fails_once() -> bool:
            if failed.is_set():
                return await turn()
            failed.set()
            raise KeyError("a fault of ours")

        monkeypatch.setattr(matchmaker, "AFTER_A_FAULT_S", 0.01)
        monkeypatch.setattr(lobby.gateway.matchmaker, "turn", fails_once)
        await asyncio.wait_for(failed.wait(), 20)
        for player in players:
            await enter(player)
        for player in players:
            await until(player, "seated")


async def test_a_guest_needs_an_account_and_a_stake_is_one_of_those_offered(lobby_namespace: Namespace) -> None:
    async with queueing(lobby_namespace, 1) as (lobby, (player,)), lobby.player() as guest:
        await guest.guest()
        refused = await guest.http.post("/v1/queue", json=WANTED)
        assert (refused.status_code, refused.json()["code"]) == (403, "account_required")
        for wrong in ({"stake_coins": 11}, {"ruleset": "poker"}):
            refused = await player.http.post("/v1/queue", json=WANTED | wrong)
            assert (refused.status_code, refused.json()["code"]) == (422, "option_refused")
