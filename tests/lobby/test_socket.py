"""The WebSocket `spades.v1` before a fake table: joining, the seat's own part, answers, takeovers."""

import asyncio
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from spades_events import events, private
from tests.lobby.conftest import House
from tests.lobby.fake_table import HANDS
from tests.lobby.player import Player, Socket

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]


async def seated(lobby: House, player: Player, seat: int = 0) -> tuple[str, Socket]:
    """A person at a new practice table, watching it over a socket."""
    await player.guest()
    table_id = await player.open_table()
    socket = await player.socket()
    await socket.watch(table_id)
    command = socket.command("take_seat", seat=seat)
    await socket.until("ack", id=command)
    return table_id, socket


async def test_hello_is_answered_with_who_one_is(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest("Euclid")
        socket = await Socket.open(lobby.address)
        assert socket.connection.subprotocol == "spades.v1"
        socket.say("hello", ticket=await player.ticket())
        welcome = await socket.until("welcome")
        assert welcome["server_ms"] > 0
        assert welcome == {
            "type": "welcome",
            "account_id": player.account_id,
            "name": "Euclid",
            "guest": True,
            "server_ms": welcome["server_ms"],
        }
        await socket.close()


async def test_a_viewer_starts_with_a_snapshot_and_goes_on_without_a_gap(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest("Hypatia")
        table_id = await player.open_table()
        socket = await player.socket()
        snapshot = await socket.watch(table_id)
        assert (snapshot["seq"], snapshot["phase"], snapshot["seat"]) == (1, "seating", None)
        assert snapshot["names"] == {player.account_id: "Hypatia"}
        command = socket.command("take_seat", seat=2)
        taken = await socket.until("seat_taken")
        assert (taken["seq"], taken["holder"]["seat"]) == (2, 2)
        assert taken["names"] == {player.account_id: "Hypatia"}
        assert await socket.until("ack") == {"type": "ack", "id": command, "first_seq": 2, "last_seq": 2}
        socket.command("start")
        await socket.until("turn_started")
        assert socket.seqs == [1, 2, 3, 4, 5]
        await socket.close()


async def test_a_seat_gets_its_own_part_in_the_same_frame_and_nobody_else_does(lobby: House) -> None:
    async with lobby.player() as north, lobby.player() as south, lobby.player() as watcher:
        table_id, mine = await seated(lobby, north, seat=0)
        await south.guest()
        await watcher.guest()
        theirs, only_watching = await south.socket(), await watcher.socket()
        for socket in (theirs, only_watching):
            await socket.watch(table_id)
        await theirs.until("ack", id=theirs.command("take_seat", seat=2))
        mine.command("start")
        for socket, seat in ((mine, 0), (theirs, 2)):
            dealt = await socket.until("hand_dealt")
            assert dealt["you"]["cards"] == list(HANDS[seat])
        assert "you" not in await only_watching.until("hand_dealt")
        assert (await mine.until("turn_started"))["you"]["legal_bids"] == [1, 2, "nil"]
        assert "you" not in await theirs.until("turn_started")
        assert mine.seqs == list(range(1, mine.seqs[-1] + 1))
        for socket, foreign in ((mine, HANDS[2]), (theirs, HANDS[0]), (only_watching, HANDS[0] + HANDS[2])):
            assert not any(card in str(socket.frames) for card in foreign)
            await socket.close()


async def test_joining_while_the_table_moves_gives_every_event_once_and_in_order(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        table_id = await player.open_table()
        part = lobby.gateway.desk.part_of(table_id)
        game = lobby.table.games[table_id]
        enough = asyncio.Event()

        async def moves() -> None:
            # The table's own order: a version is never published before its state is.
            while not enough.is_set():
                game.version += 1
                await lobby.table.publish(part, table_id, game.version, events.SpadesBroken())
                await asyncio.sleep(0)

        moving = asyncio.create_task(moves())
        sockets = [await player.socket() for _ in range(6)]
        for socket in sockets:
            await socket.watch(table_id)
        joined_at = game.version
        enough.set()
        await moving
        for socket in sockets:
            while socket.seqs[-1] < game.version:
                await socket.until("spades_broken")
            assert socket.seqs == list(range(socket.seqs[0], game.version + 1))
            await socket.close()
        assert joined_at > 1


async def test_the_same_command_twice_is_one_effect_with_the_same_answer(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        table_id = await player.open_table()
        socket = await player.socket()
        await socket.watch(table_id)
        for _ in range(2):
            socket.command("take_seat", id="seat-1", seat=1)
        answers = [await socket.until("ack", "command_rejected") for _ in range(2)]
        assert answers[0] == answers[1] == {"type": "ack", "id": "seat-1", "first_seq": 2, "last_seq": 2}
        socket.command("take_seat", id="seat-1", seat=3)
        assert (await socket.until("command_rejected"))["code"] == "conflict"
        assert lobby.table.games[table_id].version == 2
        await socket.close()


async def test_a_refusal_comes_typed_to_its_sender_alone(lobby: House) -> None:
    async with lobby.player() as player, lobby.player() as other:
        table_id, socket = await seated(lobby, player)
        await other.guest()
        watching = await other.socket()
        await watching.watch(table_id)
        socket.command("start")
        await watching.until("turn_started")
        command = socket.command("leave", confirm_price=7)
        rejected = await socket.until("command_rejected")
        assert rejected == {
            "type": "command_rejected",
            "id": command,
            "code": "price_changed",
            "message": "refused: price_changed",
            "price_coins": 0,
        }
        watching.say("ping", client_ms=1)
        await watching.until("pong")
        assert [frame for frame in watching.frames if frame["type"] == "command_rejected"] == []
        await watching.close()
        await socket.close()


async def test_a_part_that_does_not_come_is_replaced_by_a_snapshot(lobby: House) -> None:
    async with lobby.player() as player:
        table_id, socket = await seated(lobby, player)
        lobby.table.keeps_back = {private.Supplement}
        try:
            socket.command("start")
            snapshot = await socket.until("snapshot")
        finally:
            lobby.table.keeps_back = set()
        assert snapshot["view"] == {"hand": list(HANDS[0])}
        socket.command("bid", turn_id="1:4", bid=2)
        await socket.until("turn_started")
        assert socket.seqs == list(range(snapshot["seq"], socket.seqs[-1] + 1))
        assert lobby.table.games[table_id].version == socket.seqs[-1]
        await socket.close()


async def test_a_fresh_snapshot_after_a_restart_of_the_table_ends_the_wait_at_once(lobby: House) -> None:
    async with lobby.player() as player:
        table_id, socket = await seated(lobby, player)
        part = lobby.gateway.desk.part_of(table_id)
        asked = len(lobby.table.commands)
        lobby.table.keeps_back = {private.Supplement}
        socket.command("start")
        await socket.until("game_started")
        lobby.table.keeps_back = set()
        # As a take does: a snapshot for the seat, asked for by nobody.
        await lobby.table.snapshot(part, table_id, player.account_id, None)
        snapshot = await socket.until("snapshot")
        assert snapshot["seq"] == lobby.table.games[table_id].version
        assert [one for *_, one in lobby.table.commands[asked:] if "SyncSeat" in repr(one)] == []
        await socket.close()


async def test_events_published_again_are_shown_once(lobby: House) -> None:
    async with lobby.player() as player:
        table_id, socket = await seated(lobby, player)
        part = lobby.gateway.desk.part_of(table_id)
        taken = events.SpadesBroken()
        for version in (1, 2, 3, 2, 3, 4):
            await lobby.table.publish(part, table_id, version, taken)
        await socket.until("spades_broken", seq=4)
        assert socket.seqs == [1, 2, 3, 4]
        await socket.close()


async def test_a_gap_is_closed_by_a_snapshot(lobby: House) -> None:
    async with lobby.player() as player:
        table_id, socket = await seated(lobby, player)
        part = lobby.gateway.desk.part_of(table_id)
        game = lobby.table.games[table_id]
        game.version = 9
        await lobby.table.publish(part, table_id, 9, events.SpadesBroken())
        snapshot = await socket.until("snapshot")
        assert snapshot["seq"] == 9
        await lobby.table.publish(part, table_id, 10, events.SpadesBroken())
        await socket.until("spades_broken", seq=10)
        await socket.close()


async def test_who_comes_back_gets_the_whole_state_whatever_they_say_they_have(lobby: House) -> None:
    async with lobby.player() as player:
        table_id, socket = await seated(lobby, player)
        socket.command("start")
        await socket.until("turn_started")
        await socket.close()
        for last_seq in (None, 0, 3, 5, 2**53 - 1):
            again = await player.socket()
            fields: dict[str, Any] = {} if last_seq is None else {"last_seq": last_seq}
            snapshot = await again.watch(table_id, **fields)
            assert (snapshot["seq"], snapshot["view"]) == (5, {"hand": list(HANDS[0])})
            await again.close()


async def test_the_newest_connection_plays_and_the_older_is_told(lobby: House) -> None:
    async with lobby.player() as player:
        table_id, older = await seated(lobby, player)
        newer = await player.socket()
        assert (await newer.watch(table_id))["seat"] == 0
        assert (await older.until("error"))["code"] == "played_elsewhere"
        newer.command("start")
        assert (await newer.until("hand_dealt"))["you"]["cards"] == list(HANDS[0])
        # The older one goes on as a watcher, and its moves are refused.
        assert "you" not in await older.until("hand_dealt")
        older.command("bid", turn_id="1:4", bid=1)
        assert (await older.until("command_rejected"))["code"] == "played_elsewhere"
        assert older.seqs == list(range(1, older.seqs[-1] + 1))
        # Whoever sends watch again is the newest.
        assert (await older.watch(table_id))["view"] == {"hand": list(HANDS[0])}
        assert (await newer.until("error"))["code"] == "played_elsewhere"
        await newer.close()
        await older.close()


async def test_a_seat_that_was_left_gets_no_more_of_its_own(lobby: House) -> None:
    async with lobby.player() as north, lobby.player() as south:
        table_id, mine = await seated(lobby, north, seat=0)
        await south.guest()
        theirs = await south.socket()
        await theirs.watch(table_id)
        await theirs.until("ack", id=theirs.command("take_seat", seat=2))
        mine.command("start")
        await mine.until("turn_started")
        mine.command("leave", confirm_price=0)
        left = await mine.until("seat_left")
        assert left["account_id"] == north.account_id
        bot = await mine.until("seat_taken")
        assert (bot["holder"]["account_id"], bot["replaces"]) == ("bot", north.account_id)
        assert "Computer" in bot["names"].values()
        game = lobby.table.games[table_id]
        part = lobby.gateway.desk.part_of(table_id)
        secret = private.Supplement(seat=0, cards=("AS",))
        game.version += 1
        await lobby.table.publish(part, table_id, game.version, events.CardsSeen(seat=0), (secret,))
        assert "you" not in await mine.until("cards_seen")
        await mine.close()
        await theirs.close()


async def test_an_unknown_table_is_said_to_be_none(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        socket = await player.socket()
        socket.say("watch", table_id="00000000-0000-4000-8000-000000000000")
        assert (await socket.until("error"))["code"] == "not_found"
        # The connection lives.
        socket.say("ping", client_ms=1)
        await socket.until("pong")
        await socket.close()


@pytest.mark.parametrize(
    ("origin", "admitted"),
    [
        ("{own}", True),
        ("null", False),
        ("http://evil.example", False),
        ("{own}.evil.example", False),
        ("{own}0", False),
        ("http://127.0.0.1", False),
        ("http://evil.example/{own}", False),
    ],
)
async def test_only_our_own_pages_may_open_a_socket(lobby: House, origin: str, admitted: bool) -> None:
    origin = origin.replace("{own}", lobby.address)
    if admitted:
        socket = await Socket.open(lobby.address, origin=origin)
        await socket.close()
        return
    with pytest.raises(InvalidStatus) as refused:
        await Socket.open(lobby.address, origin=origin)
    assert refused.value.response.status_code == 403


async def test_a_host_name_that_is_not_ours_makes_no_origin_ours(lobby: House) -> None:
    # A stranger's name that resolves to us: origin and host agree, and are both theirs.
    headers = {"Host": "evil.example"}
    with pytest.raises(InvalidStatus):
        await Socket.open(lobby.address, origin="http://evil.example", additional_headers=headers)
