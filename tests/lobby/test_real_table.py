"""The gateway before the real table, wallet, clock and bots, as processes; two gateways, one table."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest

from spades_client import Seen
from tests.architecture.source import ROOT
from tests.lobby.conftest import Stack
from tests.lobby.player import Player, Socket

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(300)]


@asynccontextmanager
async def person_of(address: str) -> AsyncIterator[Player]:
    async with Player(address) as player:
        yield player


def move_for(turn: dict[str, Any]) -> dict[str, Any]:
    """A legal move of one's own turn: bid 3, else the first legal card."""
    if turn["kind"] == "bid":
        return {"type": "bid", "turn_id": turn["turn_id"], "bid": 3}
    return {"type": "play_card", "turn_id": turn["turn_id"], "card": turn["you"]["legal_cards"][0]}


class Memory:
    """What a client has of a table: its events by number, wherever they came from."""

    def __init__(self) -> None:
        self.events: dict[int, dict[str, Any]] = {}
        self.snapshot: dict[str, Any] = {}
        self.seq = 0

    def take(self, frame: dict[str, Any]) -> None:
        if frame["type"] == "snapshot":
            self.snapshot, self.seq = frame, frame["seq"]
        elif "seq" in frame:
            assert frame["seq"] == self.seq + 1, "a gap, or an event twice"
            self.seq = frame["seq"]
            self.events[self.seq] = {name: value for name, value in frame.items() if name != "you"}


async def play_a_hand(player: Player, addresses: tuple[str, str], table_id: str, drop_after: int | None) -> Memory:
    """Play until the first hand is scored; drop the socket after so many frames, again and again."""
    memory = Memory()
    connections = 0
    while True:
        socket = await _socket(player, addresses[connections % 2])
        connections += 1
        socket.say("watch", table_id=table_id, last_seq=memory.seq)
        if await _play(socket, memory, drop_after):
            await socket.close()
            return memory
        # Without a goodbye, as in a tunnel.
        socket.connection.transport.close()
        await socket.closed()


async def _socket(player: Player, address: str) -> Socket:
    ticket = await player.ticket()
    socket = await Socket.open(address)
    socket.say("hello", ticket=ticket)
    await socket.until("welcome")
    return socket


async def _play(socket: Socket, memory: Memory, drop_after: int | None) -> bool:
    """Whether the hand was scored before the socket is to be dropped."""
    taken = 0
    async with asyncio.timeout(60):
        while True:
            frame = await socket.until(*TOLD)
            memory.take(frame)
            taken += 1
            if frame["type"] == "hand_scored" or frame.get("phase") == "between_hands":
                return True
            turn = _own_turn(frame)
            if turn is not None:
                # The same id for the same turn: whoever comes back may send it twice.
                await socket.connection.send(json.dumps({"id": turn["turn_id"], **turn}))
            if drop_after is not None and taken > drop_after:
                return False


TOLD = (
    *("snapshot", "hand_committed", "hand_dealt", "cards_seen", "turn_started", "bid_made", "card_played"),
    *("spades_broken", "trick_taken", "hand_scored", "deadline_set", "seat_taken", "seats_locked", "seeds_fixed"),
    *("game_started", "deal_revealed", "seat_autoplayed", "clock_extended"),
)


def _own_turn(frame: dict[str, Any]) -> dict[str, Any] | None:
    if frame["type"] == "turn_started" and "you" in frame:
        return move_for(frame)
    if frame["type"] == "snapshot" and frame["turn"] and frame["turn"]["seat"] == frame["seat"]:
        turn = frame["turn"] | {"you": {"legal_cards": frame["view"]["legal_cards"]}}
        return move_for(turn)
    return None


async def table_with_a_person(player: Player) -> str:
    await player.guest()
    table_id = await player.open_table()
    taken = await player.http.put(f"/v1/tables/{table_id}/seats/0")
    assert taken.status_code == 200, taken.text
    started = await player.http.post(f"/v1/tables/{table_id}/start")
    assert started.status_code == 200, started.text
    return table_id


async def test_the_example_of_the_clients_readme_plays_a_game(stack: Stack) -> None:
    readme = (ROOT / "libs/spades_client/README.md").read_text()
    example = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    assert example
    program: dict[str, Any] = {}
    exec(example[1], program)
    async with asyncio.timeout(240):
        ended: Seen = await program["main"](stack.addresses[0])
    assert (ended.phase, ended.end_reason, ended.seat) == ("ended", "target", 0)
    assert max(ended.scores) >= 200


@pytest.mark.parametrize("drop_after", [0, 1, 3, 7])
async def test_who_drops_again_and_again_and_comes_back_by_another_gateway_misses_nothing(
    stack: Stack, drop_after: int
) -> None:
    async with person_of(stack.addresses[0]) as player, person_of(stack.addresses[1]) as friend:
        table_id = await table_with_a_person(player)
        await friend.guest()
        watcher = await friend.socket()
        steady = Memory()
        watcher.say("watch", table_id=table_id)
        dropped = await play_a_hand(player, stack.addresses, table_id, drop_after)
        async with asyncio.timeout(20):
            while not steady.events or steady.events[steady.seq]["type"] != "hand_scored":
                steady.take(await watcher.until(*TOLD))
        # They agree on all that both saw, and on how it stands.
        both = dropped.events.keys() & steady.events.keys()
        assert {seq: dropped.events[seq] for seq in both} == {seq: steady.events[seq] for seq in both}
        mine = await (await player.socket()).watch(table_id)
        theirs = await (await friend.socket()).watch(table_id)
        assert mine["seq"] == theirs["seq"] >= max(steady.events)
        for name in ("phase", "hand_no", "scores", "bags", "seats", "fingerprint", "turn", "seeds"):
            assert mine[name] == theirs[name]
        await watcher.close()


async def test_a_gateway_that_is_killed_costs_no_move(stack: Stack) -> None:
    async with person_of(stack.addresses[0]) as player:
        table_id = await table_with_a_person(player)
        memory = Memory()
        socket = await _socket(player, stack.addresses[0])
        socket.say("watch", table_id=table_id)
        assert not await _play(socket, memory, drop_after=20)
        stack.processes["lobby-0"].kill()
        await socket.closed()
        player.http.base_url = stack.addresses[1]
        again = await _socket(player, stack.addresses[1])
        again.say("watch", table_id=table_id, last_seq=memory.seq)
        assert await _play(again, memory, drop_after=None)
        await again.close()
        stack.processes["lobby-0"].start()


async def test_a_table_service_that_is_killed_mid_trick_leaves_no_gap(stack: Stack) -> None:
    async with person_of(stack.addresses[1]) as player:
        table_id = await table_with_a_person(player)
        memory = Memory()
        socket = await _socket(player, stack.addresses[1])
        socket.say("watch", table_id=table_id)
        assert not await _play(socket, memory, drop_after=30)
        stack.processes["table"].kill()
        stack.processes["table"].start()
        # What was said to nobody is said again, by the same id.
        socket.say("resync")
        assert await _play(socket, memory, drop_after=None)
        await socket.close()


async def test_a_coin_game_is_charged_once_and_its_leaving_price_is_named(stack: Stack) -> None:
    async with person_of(stack.addresses[1]) as player:
        await player.account()
        table_id = await player.open_table(kind="coins", stake_coins=100)
        headers = {"Idempotency-Key": uuid4().hex}
        seats = await asyncio.gather(
            *(player.http.put(f"/v1/tables/{table_id}/seats/any", headers=headers) for _ in range(5))
        )
        assert {seat.status_code for seat in seats} == {200}
        socket = await player.socket()
        snapshot = await socket.watch(table_id)
        if snapshot["phase"] != "playing":
            await socket.until("game_started")
        async with asyncio.timeout(10):
            while (await player.http.get("/v1/wallet")).json()["available_coins"] != 890:
                await asyncio.sleep(0.05)
        socket.command("leave")
        refused = await socket.until("command_rejected")
        assert (refused["code"], refused["price_coins"]) == ("price_changed", 110)
        socket.command("leave", confirm_price=110)
        await socket.until("game_over")
        settled = await socket.until("game_settled")
        assert {payout["account_id"]: payout["net_coins"] for payout in settled["payouts"]}[player.account_id] == -110
        async with asyncio.timeout(10):
            while (await player.http.get(f"/v1/games/{table_id}")).json().get("settled") is not True:
                await asyncio.sleep(0.05)
        assert (await player.http.get("/v1/wallet")).json()["available_coins"] == 890
        # The table has let go of it; its last state is still shown.
        again = await player.socket()
        last = await again.watch(table_id)
        assert (last["phase"], last["settled"]) == ("ended", True)
        await again.close()
        await socket.close()


async def test_too_few_coins_are_said_with_the_numbers(stack: Stack) -> None:
    async with person_of(stack.addresses[1]) as player:
        await player.account()
        table_id = await player.open_table(kind="coins", stake_coins=1_000)
        seat, same_key = f"/v1/tables/{table_id}/seats/any", {"Idempotency-Key": uuid4().hex}
        refused = await player.http.put(seat, headers=same_key)
        assert (refused.status_code, refused.json()["code"]) == (409, "insufficient_balance")
        assert (refused.json()["needed_coins"], refused.json()["available_coins"]) == (1_100, 1_000)
        # The request again has the outcome that it had, though its events went by long ago.
        again = await player.http.put(seat, headers=same_key, timeout=30)
        assert (again.status_code, again.json()["code"]) == (409, "insufficient_balance")
