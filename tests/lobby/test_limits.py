"""Slow readers, silence, draining, outages: what one connection may cost, and how a gateway stops."""

import asyncio
import socket as sockets
from contextlib import AsyncExitStack

import pytest

from spades_events import events
from tests.lobby.conftest import House, Namespace, house
from tests.lobby.player import Player, Socket

pytestmark = [pytest.mark.real, pytest.mark.asyncio]

LONG = "x" * 30_000
"""An event so long that few fill a queue."""


async def publish_until_full(lobby: House, table_id: str, count: int) -> None:
    part = lobby.gateway.desk.part_of(table_id)
    game = lobby.table.games[table_id]
    for _ in range(count):
        game.version += 1
        await lobby.table.publish(
            part, table_id, game.version, events.TableCancelled(reason=LONG, stake_coins=0, seats=())
        )


async def slow_socket(lobby: House, player: Player, table_id: str) -> Socket:
    """A socket whose reader stops reading, with as little in between as there can be."""
    raw = sockets.socket()
    raw.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4_096)
    raw.setblocking(False)
    host, port = lobby.address.removeprefix("http://").split(":")
    await asyncio.get_running_loop().sock_connect(raw, (host, int(port)))
    slow = await player.socket(sock=raw, max_queue=1, ping_interval=None)
    await slow.watch(table_id)
    slow.connection.transport.pause_reading()
    return slow


async def test_a_slow_reader_gets_one_snapshot_and_the_second_time_has_to_go(lobby_namespace: Namespace) -> None:
    async with house(lobby_namespace, lobby_unread_bytes_max=64 * 1024) as lobby, lobby.player() as player:
        await player.guest()
        table_id = await player.open_table()
        fast = await player.socket()
        slow = await slow_socket(lobby, player, table_id)
        await fast.watch(table_id)
        await publish_until_full(lobby, table_id, 200)
        await fast.until("table_cancelled", seq=lobby.table.games[table_id].version)
        # What waits for the slow one is bounded, and the fast one has everything.
        assert fast.seqs == list(range(fast.seqs[0], fast.seqs[-1] + 1))
        slow.connection.transport.resume_reading()
        snapshot = await slow.until("snapshot")
        assert snapshot["seq"] == lobby.table.games[table_id].version
        assert len(slow.frames) < 200
        slow.connection.transport.pause_reading()
        await publish_until_full(lobby, table_id, 200)
        await fast.until("table_cancelled", seq=lobby.table.games[table_id].version)
        slow.connection.transport.resume_reading()
        assert await slow.closed() == 1013
        await fast.close()


async def test_a_socket_that_never_says_hello_is_closed(lobby_namespace: Namespace) -> None:
    async with house(lobby_namespace, lobby_hello_ms=200) as lobby:
        silent = await Socket.open(lobby.address)
        assert await silent.closed() == 4401
        assert silent.frames[-1]["code"] == "hello_first"


async def test_a_peer_that_answers_no_ping_is_closed(lobby_namespace: Namespace) -> None:
    async with house(lobby_namespace, lobby_ping_ms=100, lobby_pong_ms=150) as lobby, lobby.player() as player:
        await player.guest()
        socket = await player.socket()
        dead = await player.socket()
        dead.connection.transport.pause_reading()
        async with asyncio.timeout(5):
            while lobby.gateway.sockets.count > 1:
                await asyncio.sleep(0.02)
        # The one that answers lives.
        socket.say("ping", client_ms=1)
        await socket.until("pong")
        dead.connection.transport.resume_reading()
        await dead.closed()
        await socket.close()


async def test_an_answer_that_does_not_come_is_an_unknown_outcome_and_the_same_id_finds_out(
    lobby_namespace: Namespace,
) -> None:
    async with house(lobby_namespace, lobby_answer_ms=300) as lobby, lobby.player() as player:
        await player.guest()
        table_id = await player.open_table()
        socket = await player.socket()
        await socket.watch(table_id)
        lobby.table.is_silent = True
        command = socket.command("take_seat", id="seat", seat=0)
        unknown = await socket.until("error")
        assert (unknown["code"], unknown["id"]) == ("outcome_unknown", command)
        answer = await player.http.put(f"/v1/tables/{table_id}/seats/1", headers={"Idempotency-Key": "k"})
        assert (answer.status_code, answer.json()["code"]) == (504, "outcome_unknown")
        lobby.table.is_silent = False
        socket.command("take_seat", id="seat", seat=0)
        assert (await socket.until("ack"))["id"] == command
        await socket.close()


async def test_draining_tells_everybody_waits_for_answers_and_closes_with_1012(
    lobby_namespace: Namespace,
) -> None:
    async with AsyncExitStack() as stack:
        lobby = await stack.enter_async_context(house(lobby_namespace))
        player = await stack.enter_async_context(lobby.player())
        await player.guest()
        table_id = await player.open_table()
        socket = await player.socket()
        await socket.watch(table_id)
        lobby.table.is_silent = True
        command = socket.command("take_seat", seat=0)
        async with asyncio.timeout(5):
            while not any(one.awaits_answers for one in lobby.gateway.sockets._all):
                await asyncio.sleep(0.01)
        draining = asyncio.create_task(lobby.gateway.sockets.drain())
        await socket.until("server_draining")
        assert lobby.probes.problem() == "draining"
        assert not draining.done()
        lobby.table.is_silent = False
        socket.command("take_seat", id=command, seat=0)
        assert (await socket.until("ack"))["id"] == command
        await draining
        assert await socket.closed() == 1012


async def test_a_stopped_reader_lets_go_of_what_nobody_uses(lobby_namespace: Namespace) -> None:
    async with house(lobby_namespace, lobby_partition_idle_ms=100) as lobby, lobby.player() as player:
        await player.guest()
        table_id = await player.open_table()
        reader = lobby.gateway.hub.reader
        socket = await player.socket()
        await socket.watch(table_id)
        assert len(reader._next) >= 2
        await socket.close()
        async with asyncio.timeout(5):
            while reader._next:
                await asyncio.sleep(0.05)
        # And comes back as if it had never left.
        again = await player.socket()
        assert (await again.watch(table_id))["seq"] == 1
        again.command("take_seat", seat=0)
        await again.until("seat_taken", seq=2)
        await again.close()


async def test_a_table_that_does_not_answer_is_said_to_be_silent_and_asked_again(
    lobby_namespace: Namespace,
) -> None:
    async with house(lobby_namespace, lobby_supplement_ms=150) as lobby, lobby.player() as player:
        await player.guest()
        table_id = await player.open_table()
        socket = await player.socket()
        lobby.table.is_silent = True
        socket.say("watch", table_id=table_id)
        assert (await socket.until("error"))["code"] == "table_silent"
        lobby.table.is_silent = False
        assert (await socket.until("snapshot"))["seq"] == 1
        await socket.close()
