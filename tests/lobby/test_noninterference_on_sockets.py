"""Two deals alike for one seat, through Kafka, a gateway and its sockets: five pairs of `test_noninterference.py`."""

import asyncio
import re
from contextlib import AsyncExitStack
from random import Random

import msgspec
import pytest

from spades_events import RulesetChoice, commands
from spades_local.testing import Namespace
from spades_table.house import House as TableHouse
from tests.lobby.conftest import House, house
from tests.lobby.judged_table import JudgedTable
from tests.lobby.player import Player
from tests.lobby.test_noninterference import RULESETS, other_world
from tests.lobby.worlds import PLAYERS, World, asked_in, rules_of, script
from tests.table.fake_worker import FakeWorker

pytestmark = [pytest.mark.real, pytest.mark.asyncio]

PAIRS = 5
LIMIT_S = 30.0
IDS = re.compile(r"(?<=watch:)[0-9a-f]{16}")
KNOBS = {
    "lobby_frames_per_second": 5_000,
    "lobby_frames_burst": 50_000,
    # A slow machine gets no snapshot in place of a seat's part.
    "lobby_supplement_ms": 60_000,
}
KINDS = {
    commands.LookAtCards: "look_at_cards",
    commands.PlaceBid: "bid",
    commands.PassCards: "pass_cards",
    commands.PlayCard: "play_card",
}


async def test_on_real_sockets_nothing_differs_either(lobby_namespace: Namespace) -> None:
    async with house(lobby_namespace, table_of=JudgedTable, **KNOBS) as lobby, AsyncExitStack() as rest:
        people = [await rest.enter_async_context(lobby.player()) for _ in PLAYERS]
        for person in people:
            await person.guest()
        for number in range(PAIRS):
            draw = Random(number)
            choice = RULESETS[number % len(RULESETS)]
            seat = number % len(PLAYERS)
            world = script(draw, choice, 20)
            other = other_world(draw, world, seat)
            assert world != other
            mine, theirs = [await texts_on_a_socket(lobby, people, one, choice, seat) for one in (world, other)]
            assert mine == theirs, f"pair {number}: seat {seat} can tell the two deals apart"
            assert sum('"type":"card_played"' in text for text in mine) > 0


async def texts_on_a_socket(
    lobby: House, people: list[Player], world: World, choice: RulesetChoice, seat: int
) -> list[str]:
    """What this seat's socket was told of the table; ids of table and connection, of one length, are left out."""
    assert isinstance(lobby.table, JudgedTable)
    judged = TableHouse(rules={1: rules_of(world)}, rules_version=1)
    lobby.table.tick_ms = 0
    lobby.table.deal(FakeWorker(judged, random=Random(1).randbytes))
    table_id = await people[0].open_table(ruleset={"name": choice.name, "options": choice.options})
    sockets = [await person.socket() for person in people]
    for place, socket in enumerate(sockets):
        await socket.watch(table_id)
        socket.command("take_seat", id=f"seat-{place}", seat=place)
        await socket.until("ack", id=f"seat-{place}")
    sockets[0].command("start", id="start")
    await sockets[0].until("ack", id="start")
    for at, (account, command) in enumerate(asked_in(world)):
        socket = sockets[PLAYERS.index(account)]
        socket.command(KINDS[type(command)], id=f"step-{at}", **msgspec.to_builtins(command))
        await socket.until("ack", id=f"step-{at}")
    last = lobby.table.version(table_id)
    async with asyncio.timeout(LIMIT_S):
        while max(frame.get("seq", 0) for frame in sockets[seat].frames) < last:
            await asyncio.sleep(0.005)
    told = zip(sockets[seat].frames, sockets[seat].texts, strict=True)
    # Whether an answer or its events come first is chance.
    texts = [IDS.sub("", text.replace(table_id, "")) for frame, text in told if "seq" in frame]
    for socket in sockets:
        await socket.close()
    return texts
