"""Private tables and their codes; the rematch."""

import asyncio

import pytest

from spades_events import events
from spades_local.testing import Namespace
from tests.lobby.conftest import House, house
from tests.lobby.player import Player

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]

FIRST, SECOND, THIRD, FOURTH = (
    events.SeatResult(seat=seat, account_id="bot", reservation_id=None) for seat in range(4)
)
SEATS = (FIRST, SECOND, THIRD, FOURTH)


async def code_of(host: Player, table_id: str) -> str:
    answer = await host.http.post(f"/v1/tables/{table_id}/invites")
    assert answer.status_code == 201, answer.text
    return str(answer.json()["code"])


async def test_a_private_table_is_nowhere_for_who_has_no_code(lobby: House) -> None:
    async with lobby.player() as host, lobby.player() as stranger:
        await host.guest()
        await stranger.guest()
        table_id = await host.open_table(kind="private")
        nowhere = table_id[:-4] + "0000"
        bodies = []
        for one in (table_id, nowhere):
            seat = await stranger.http.put(f"/v1/tables/{one}/seats/any")
            seen = await stranger.http.get(f"/v1/tables/{one}")
            invited = await stranger.http.post(f"/v1/tables/{one}/invites")
            assert (seat.status_code, seen.status_code, invited.status_code) == (404, 404, 404)
            bodies.append({name: value for name, value in seen.json().items() if name != "ref"})
        assert bodies[0] == bodies[1]
        socket = await stranger.socket()
        for one in (table_id, nowhere):
            socket.say("watch", table_id=one)
            told = await socket.until("error", "snapshot")
            assert told == {
                "type": "error",
                "code": "not_found",
                "message": "There is no such table, or it is not yours.",
                "table_id": one,
            }
        await socket.close()


async def test_whoever_has_the_code_comes_in_sits_down_and_watches(lobby: House) -> None:
    async with lobby.player() as host, lobby.player() as friend:
        await host.guest()
        await friend.guest()
        table_id = await host.open_table(kind="private", ruleset={"name": "club", "options": {"target": 300}})
        code = await code_of(host, table_id)
        assert code == await code_of(host, table_id)
        # 12 signs of 32: 60 bits.
        assert len(code) == 12
        entered = await friend.http.post("/v1/invites", json={"code": f" {code.lower()} "})
        assert (entered.status_code, entered.json()["table_id"]) == (200, table_id)
        assert entered.json()["ruleset"]["options"] == {"target": 300}
        assert entered.json()["ruleset"]["missed_trick_points"] == -10
        assert (await friend.http.put(f"/v1/tables/{table_id}/seats/2")).status_code == 200
        socket = await friend.socket()
        assert (await socket.watch(table_id))["seat"] == 2
        await socket.close()


async def test_after_five_wrong_codes_in_a_minute_the_right_one_is_not_looked_at(
    lobby_namespace: Namespace,
) -> None:
    async with house(lobby_namespace) as lobby, lobby.player() as host, lobby.player() as stranger:
        await host.guest()
        await stranger.guest()
        code = await code_of(host, await host.open_table(kind="private"))
        wrong = [await stranger.http.post("/v1/invites", json={"code": "A" * 12}) for _ in range(6)]
        assert [answer.status_code for answer in wrong] == [404] * 5 + [429]
        right = await stranger.http.post("/v1/invites", json={"code": code})
        assert (right.status_code, right.json()["code"]) == (429, "rate_limited")
        # Another guest of the same address has used them up, too.
        again = await Player(lobby.address).guest()
        assert (await again.http.post("/v1/invites", json={"code": code})).status_code == 429
        await again.http.aclose()


async def test_a_rematch_is_one_new_table_whoever_of_its_players_asks(lobby: House) -> None:
    async with lobby.player() as host, lobby.player() as friend, lobby.player() as stranger:
        for player in (host, friend, stranger):
            await player.guest()
        table_id = await host.open_table(kind="private")
        await friend.http.post("/v1/invites", json={"code": await code_of(host, table_id)})
        for player in (host, friend):
            assert (await player.http.put(f"/v1/tables/{table_id}/seats/any")).status_code == 200
        async with asyncio.timeout(30):
            # The read model hears of the table a little later than who sits down.
            while (early := await host.http.post(f"/v1/tables/{table_id}/rematch")).status_code == 404:
                await asyncio.sleep(0.05)
        assert (early.status_code, early.json()["code"]) == (409, "wrong_phase")
        await _end(lobby, table_id, host)
        answers = await asyncio.gather(
            *(player.http.post(f"/v1/tables/{table_id}/rematch") for player in (host, friend) * 4)
        )
        assert {answer.status_code for answer in answers} == {201}
        (again,) = {answer.json()["table_id"] for answer in answers}
        assert again != table_id
        assert answers[0].json()["kind"] == "private"
        assert (await stranger.http.post(f"/v1/tables/{table_id}/rematch")).status_code == 404
        assert (await friend.http.put(f"/v1/tables/{again}/seats/any")).status_code == 200
        assert (await stranger.http.get(f"/v1/tables/{again}")).status_code == 404


async def _end(lobby: House, table_id: str, player: Player) -> None:
    game = lobby.table.games[table_id]
    game.version += 1
    ended = events.GameEnded(winner=0, reason="target", scores=(500, 100), hands=1, seats=SEATS, stake_coins=0)
    await lobby.table.publish(lobby.gateway.desk.part_of(table_id), table_id, game.version, ended)
    async with asyncio.timeout(5):
        while (await player.http.get(f"/v1/games/{table_id}")).json().get("phase") != "ended":
            await asyncio.sleep(0.02)
