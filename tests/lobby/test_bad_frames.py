"""Every bad frame gets a clear answer, the connection lives, and nobody else notices."""

import asyncio
import json
from typing import Any

import pytest
from websockets.frames import Frame, Opcode

from tests.lobby.conftest import House
from tests.lobby.player import Player, Socket

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]

DEEP = 2_000
"""As deep as a frame of 4 KiB can be; deeper ones are too long anyway."""
MOVE = '{"type":"play_card","id":"m","turn_id":"1:1","card":"2S"}'
TABLE = "00000000-0000-4000-8000-000000000000"

NOT_FRAMES = {
    "empty": "",
    "not JSON": "hello",
    "truncated": '{"type":"ping"',
    "scalar": "3",
    "null": "null",
    "array": "[]",
    "deep nesting": "[" * DEEP,
    "deep nesting in a field": '{"type":"ping","client_ms":' + "[" * DEEP,
    "lone surrogate": '{"type":"ping","client_ms":"\\ud800"}',
    "NUL": '{"type":"ping\\u0000"}',
    "control character": '{"type":"ping\n"}',
    "NaN": '{"type":"ping","client_ms":NaN}',
    "Infinity": '{"type":"ping","client_ms":Infinity}',
    "1e400": '{"type":"ping","client_ms":1e400}',
    "no type": '{"id":"x"}',
    "type is a number": '{"type":1}',
    "unknown type": '{"type":"teleport"}',
    "__proto__": '{"type":"ping","__proto__":{}}',
    "extra field": '{"type":"resync","to":3}',
    "two frames": '{"type":"ping"}{"type":"ping"}',
    "binary": b"\x00\x01\x02",
    "hello again": '{"type":"hello","ticket":"x"}',
    "path in an id": '{"type":"watch","table_id":"../../etc/passwd"}',
    "NUL in an id": '{"type":"watch","table_id":"\\u0000"}',
    "line feed behind an id": f'{{"type":"watch","table_id":"{TABLE}\\n"}}',
    "seq below zero": f'{{"type":"watch","table_id":"{TABLE}","last_seq":-1}}',
    "seq of text": f'{{"type":"watch","table_id":"{TABLE}","last_seq":"3"}}',
    "no table watched": '{"type":"resync"}',
}

MALFORMED_COMMANDS = {
    "bid -1": {"type": "bid", "turn_id": "1:1", "bid": -1},
    "bid 14": {"type": "bid", "turn_id": "1:1", "bid": 14},
    "bid 3.5": {"type": "bid", "turn_id": "1:1", "bid": 3.5},
    "bid 3.0": {"type": "bid", "turn_id": "1:1", "bid": 3.0},
    "bid of text": {"type": "bid", "turn_id": "1:1", "bid": "3"},
    "bid true": {"type": "bid", "turn_id": "1:1", "bid": True},
    "bid null": {"type": "bid", "turn_id": "1:1", "bid": None},
    "no bid": {"type": "bid", "turn_id": "1:1"},
    "no turn": {"type": "bid", "bid": 3},
    "10H": {"type": "play_card", "turn_id": "1:1", "card": "10H"},
    "swap of one": {"type": "pass_cards", "turn_id": "1:1", "cards": ["2S"]},
    "swap of three": {"type": "pass_cards", "turn_id": "1:1", "cards": ["2S", "3S", "4S"]},
    "seat 4": {"type": "take_seat", "seat": 4},
    "seed of 31 bytes": {"type": "open_seed", "seed": "ab" * 31},
    "seed not hex": {"type": "open_seed", "seed": "zz" * 32},
    "seed with a line feed": {"type": "open_seed", "seed": "ab" * 32 + "\n"},
    "price 1.5": {"type": "leave", "confirm_price": 1.5},
    "price beyond 2^53": {"type": "leave", "confirm_price": 2**53 + 1},
    "price of 2^63": {"type": "leave", "confirm_price": 2**63},
    "hand 0": {"type": "look_at_cards", "hand_no": 0},
}


async def alive(socket: Socket) -> None:
    """The canary: a ping is answered."""
    socket.say("ping", client_ms=7)
    assert (await socket.until("pong"))["client_ms"] == 7


async def at_a_table(lobby: House, player: Player) -> tuple[str, Socket]:
    await player.guest()
    table_id = await player.open_table()
    socket = await player.socket()
    await socket.watch(table_id)
    return table_id, socket


async def test_what_is_no_frame_gets_an_error_and_the_connection_lives(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        for what, text in NOT_FRAMES.items():
            # A new socket each: the list is longer than a burst.
            socket = await player.socket()
            socket.say_raw(text)
            error = await socket.until("error")
            assert {"code", "message"} <= error.keys(), what
            assert error["code"] not in ("internal", "unavailable"), what
            await alive(socket)
            await socket.close()


async def test_a_malformed_command_is_rejected_by_its_id_and_reaches_no_table(lobby: House) -> None:
    async with lobby.player() as player:
        table_id, socket = await at_a_table(lobby, player)
        before = len(lobby.table.commands)
        for what, fields in MALFORMED_COMMANDS.items():
            socket.say_raw(json.dumps({"id": "bad", **fields}))
            rejected = await socket.until("command_rejected", id="bad")
            assert rejected["code"] == "malformed", what
        await alive(socket)
        sent = [command for *_, command in lobby.table.commands[before:] if "SyncSeat" not in repr(command)]
        assert sent == []
        assert lobby.table.games[table_id].version == 1
        await socket.close()


async def test_a_number_of_ten_thousand_digits_and_a_frame_of_five_mib_are_too_long(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        for text in ('{"type":"ping","client_ms":' + "9" * 10_000 + "}", "x" * 5 * 1024 * 1024):
            socket = await player.socket()
            socket.say_raw(text)
            assert await socket.closed() == 1009


async def test_text_that_is_not_utf_8_closes_with_1007(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        socket = await player.socket()
        protocol = socket.connection.protocol
        protocol.send_frame(Frame(Opcode.TEXT, b"\xff\xfe"))
        socket.connection.send_data()
        assert await socket.closed() == 1007


async def test_before_hello_nothing_is_obeyed(lobby: House) -> None:
    socket = await Socket.open(lobby.address)
    for text in (MOVE, f'{{"type":"watch","table_id":"{TABLE}"}}', '{"type":"resync"}'):
        socket.say_raw(text)
        answer = await socket.until("error", "command_rejected")
        assert answer["code"] == "hello_first"
    await socket.close()


@pytest.mark.parametrize("ticket", ["", "x", "A" * 43, "é" * 43, "../" * 20])
async def test_a_wrong_ticket_is_refused_and_the_right_one_still_welcome(lobby: House, ticket: str) -> None:
    async with lobby.player() as player:
        await player.guest()
        socket = await Socket.open(lobby.address)
        socket.say("hello", ticket=ticket)
        assert (await socket.until("error"))["code"] == "ticket_refused"
        socket.say("hello", ticket=await player.ticket())
        await socket.until("welcome")
        await socket.close()


async def test_another_table_than_the_watched_one_gets_no_command(lobby: House) -> None:
    async with lobby.player() as player:
        _, socket = await at_a_table(lobby, player)
        other = await player.open_table()
        command = socket.command("take_seat", table_id=other)
        assert (await socket.until("command_rejected", id=command))["code"] == "not_watching"
        await alive(socket)
        await socket.close()


async def test_a_flood_of_pings_is_slowed_and_nobody_else_notices(lobby: House) -> None:
    async with lobby.player() as player, lobby.player() as other:
        await player.guest()
        await other.guest()
        socket, calm = await player.socket(), await other.socket()
        for _ in range(120):
            socket.say("ping", client_ms=1)
        limited = await socket.until("error")
        assert limited["code"] == "rate_limited"
        assert limited["retry_after_ms"] > 0
        await alive(calm)
        pongs = sum(frame["type"] == "pong" for frame in socket.frames)
        # The burst of 40, of which hello was one, and whatever came in at the rate meanwhile.
        assert 39 <= pongs < 120
        await socket.close()
        await calm.close()


async def test_a_dropped_command_is_named(lobby: House) -> None:
    async with lobby.player() as player:
        _, socket = await at_a_table(lobby, player)
        for number in range(80):
            socket.command("ready", id=f"c{number}")
        limited: dict[str, Any] = await socket.until("error")
        assert (limited["code"], limited["id"][0]) == ("rate_limited", "c")
        await socket.close()


async def test_a_fragment_that_never_ends_stops_nobody(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        hanging, calm = await player.socket(), await player.socket()
        hanging.connection.protocol.send_text(b'{"type":', fin=False)
        hanging.connection.send_data()
        await alive(calm)
        hanging.connection.protocol.send_continuation(b'"ping"}', fin=True)
        hanging.connection.send_data()
        await hanging.until("pong")
        await hanging.close()
        await calm.close()


async def test_text_in_a_frame_is_only_text(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        socket = await player.socket()
        socket.say("bid", id="x", turn_id="'; DROP TABLE account; --", bid=3)
        assert (await socket.until("command_rejected"))["code"] == "watch_first"
        await asyncio.gather(alive(socket))
        await socket.close()
