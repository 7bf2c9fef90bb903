"""The rematch as a frame: the same table as by request, and an answer to each."""

import asyncio

import pytest
from sqlalchemy import text

from spades_events import commands, events
from tests.lobby.conftest import House
from tests.lobby.test_invites import SEATS, _end, code_of

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]


async def test_a_rematch_by_frame_and_by_request_is_the_same_table(lobby: House) -> None:
    async with lobby.player() as host, lobby.player() as friend, lobby.player() as stranger:
        for player in (host, friend, stranger):
            await player.guest()
        table_id = await host.open_table(kind="private")
        await friend.http.post("/v1/invites", json={"code": await code_of(host, table_id)})
        for player in (host, friend):
            assert (await player.http.put(f"/v1/tables/{table_id}/seats/any")).status_code == 200
        one, two, other = await host.socket(), await friend.socket(), await stranger.socket()
        nothing_yet = one.command("rematch")
        assert (await one.until("command_rejected", id=nothing_yet))["code"] == "watch_first"
        for socket in (one, two):
            await socket.watch(table_id)
        early = one.command("rematch")
        assert (await one.until("command_rejected", id=early))["code"] == "wrong_phase"
        await _end(lobby, table_id, host)
        # Once more the game, which has ended now: whoever watches it again asks for a rematch, too.
        await two.watch(table_id)
        asked = [one.command("rematch", id="again"), one.command("rematch", id="again"), two.command("rematch")]
        request, *_ = await asyncio.gather(host.http.post(f"/v1/tables/{table_id}/rematch"))
        again = request.json()["table_id"]
        answers = [
            await one.until("ack", id=asked[0]),
            await one.until("ack", id=asked[1]),
            await two.until("ack", id=asked[2]),
        ]
        assert {answer["table_id"] for answer in answers} == {again}
        assert again != table_id
        refused = other.command("rematch", table_id=table_id)
        assert (await other.until("command_rejected", id=refused))["code"] == "not_found"
        for socket in (one, two, other):
            await socket.close()


async def test_who_did_not_play_to_the_end_is_refused(lobby: House) -> None:
    async with lobby.player() as host, lobby.player() as watcher:
        await host.guest()
        await watcher.guest()
        table_id = await host.open_table()
        assert (await host.http.put(f"/v1/tables/{table_id}/seats/0")).status_code == 200
        await _end(lobby, table_id, host)
        socket = await watcher.socket()
        await socket.watch(table_id)
        refused = socket.command("rematch")
        assert (await socket.until("command_rejected", id=refused))["code"] == "not_seated"
        await socket.close()


async def test_who_hears_of_the_end_before_the_lists_do_is_not_refused(lobby: House) -> None:
    async with lobby.player() as host:
        await host.guest()
        table_id = await host.open_table()
        assert (await host.http.put(f"/v1/tables/{table_id}/seats/0")).status_code == 200
        socket = await host.socket()
        await socket.watch(table_id)
        async with asyncio.timeout(20):
            while (known := await lobby.gateway.seats.game(table_id)) is None or host.account_id not in known.players:
                await asyncio.sleep(0.02)
        game = lobby.table.games[table_id]
        async with lobby.gateway.engine.begin() as db:
            # The lists cannot take up what comes until this ends.
            await db.execute(text("SELECT 1 FROM game WHERE table_id = :id FOR UPDATE"), {"id": table_id})
            game.version, game.phase = game.version + 1, "ended"
            ended = events.GameEnded(winner=0, reason="target", scores=(500, 100), hands=1, seats=SEATS, stake_coins=0)
            await lobby.table.publish(lobby.gateway.desk.part_of(table_id), table_id, game.version, ended)
            await socket.until("game_over")
            looks = _looks(lobby)
            asked = socket.command("rematch")
            request = asyncio.create_task(host.http.post(f"/v1/tables/{table_id}/rematch"))
            async with asyncio.timeout(20):
                while _looks(lobby) < looks + 2:
                    await asyncio.sleep(0.02)
            assert not request.done()
        again = (await request).json()["table_id"]
        assert (await socket.until("ack", id=asked))["table_id"] == again != table_id
        await socket.close()


def _looks(lobby: House) -> int:
    """How often the table was asked how it stands."""
    return sum(isinstance(command, commands.SyncSeat) for _, _, command in lobby.table.commands)
