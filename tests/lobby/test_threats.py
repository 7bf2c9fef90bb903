"""Defences that have no file of their own, and the table of all of them in this folder's README."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio
from sqlalchemy import text

from spades_events import events
from spades_lobby import openapi
from spades_lobby.rates import Rates
from spades_lobby.rest.guard import Guard
from spades_lobby.settings import LobbySettings
from spades_local.testing import Namespace
from tests.lobby.conftest import House, house
from tests.lobby.judged_table import JudgedTable
from tests.lobby.player import Socket

REAL = pytest.mark.real
ASYNC = pytest.mark.asyncio(loop_scope="module")
HERE = Path(__file__).parent
INSIDE = "SELECT password FROM spades_lobby.account at /srv/spades/store.py, topic spades.table.commands"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def judged(lobby_namespace: Namespace) -> AsyncIterator[House]:
    async with house(lobby_namespace, table_of=JudgedTable) as made:
        yield made


def test_every_threat_names_tests_that_exist() -> None:
    rows = [line for line in (HERE / "README.md").read_text().splitlines() if line.startswith("| ")][2:]
    assert len(rows) >= 15
    for row in rows:
        named = re.findall(r"`([\w/]+\.py)::(\w+)`", row)
        assert named, row
        for file, test in named:
            path = HERE.parent / file if "/" in file else HERE / file
            assert re.search(rf"^(async )?def {test}\(", path.read_text(), re.MULTILINE), f"{file}::{test}"


@pytest.mark.parametrize("kind", [RuntimeError, OSError, KeyError, RecursionError])
async def test_an_error_of_our_own_says_nothing_of_our_inside(kind: type[Exception]) -> None:
    settings = LobbySettings.model_validate({"kafka_bootstrap": "nowhere:1", "database_url": "postgresql://nowhere"})

    async def broken(*_: Any) -> None:
        raise kind(INSIDE)

    said: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        said.append(message)

    scope = {"type": "http", "method": "GET", "path": "/v1/me", "headers": [], "client": ("192.0.2.1", 1)}
    await Guard(broken, settings, Rates(settings))(scope, receive, send)
    problem = json.loads(said[1]["body"])
    assert said[0]["status"] in (500, 503)
    assert {"code", "message", "ref"} <= problem.keys()
    for word in INSIDE.split():
        assert word not in json.dumps(problem) or word in ("at", "topic")


def test_no_endpoint_sets_a_balance() -> None:
    for path, operations in openapi.document()["paths"].items():
        for method in set(operations) & {"post", "put", "patch", "delete"}:
            # The one that brings coins takes no amount: the wallet knows it.
            assert "wallet" not in path or (method, path) == ("post", "/v1/wallet/top-up")
            assert "requestBody" not in operations[method] or "wallet" not in path


@REAL
@ASYNC
async def test_a_seat_or_an_account_in_a_message_is_not_obeyed(judged: House) -> None:
    async with judged.player() as player, judged.player() as other:
        await player.guest()
        await other.guest()
        table_id = await player.open_table()
        socket = await player.socket()
        await socket.watch(table_id)
        for fields in ({"account_id": other.account_id}, {"actor": other.account_id}, {"seat": 9}):
            command = socket.command("take_seat", **fields)
            assert (await socket.until("command_rejected", id=command))["code"] == "malformed"
        command = socket.command("bid", turn_id="1:1", bid=3, seat=2)
        assert (await socket.until("command_rejected", id=command))["code"] == "malformed"
        await socket.close()


@REAL
@ASYNC
async def test_a_ticket_is_void_after_its_time(judged: House) -> None:
    async with judged.player() as player:
        await player.guest()
        ticket = await player.ticket()
        socket = await player.socket()
        await socket.close()
        async with judged.gateway.engine.begin() as db:
            await db.execute(text("UPDATE ticket SET expires_at = now() - interval '1 ms'"))
        late = await type(socket).open(judged.address)
        late.say("hello", ticket=ticket)
        assert (await late.until("error"))["code"] == "ticket_refused"
        await late.close()


@REAL
@ASYNC
async def test_the_same_id_of_two_people_is_two_commands(judged: House) -> None:
    async with judged.player() as player, judged.player() as other:
        await player.guest()
        await other.guest()
        table_id = await player.open_table()
        sockets = [await one.socket() for one in (player, other)]
        for seat, socket in enumerate(sockets):
            await socket.watch(table_id)
            socket.command("take_seat", id="one", seat=seat)
            assert (await socket.until("ack", "command_rejected", id="one"))["type"] == "ack"
        assert seated_at(judged, table_id) == [player.account_id, other.account_id]
        for socket in sockets:
            await socket.close()


@REAL
@ASYNC
async def test_twenty_joins_of_one_person_by_all_ways_take_one_seat(judged: House) -> None:
    async with judged.player() as host, judged.player() as player:
        await host.guest()
        await player.guest()
        table_id = await host.open_table()
        sockets = [await player.socket() for _ in range(5)]
        for socket in sockets:
            await socket.watch(table_id)
        asked = [socket.command("take_seat") for socket in sockets for _ in range(2)]
        requests = [
            player.http.put(f"/v1/tables/{table_id}/seats/any", headers={"Idempotency-Key": uuid4().hex})
            for _ in range(10)
        ]
        answers = [answer.status_code for answer in await asyncio.gather(*requests)]
        told = [
            await answer_to(socket, asked[2 * place + number])
            for place, socket in enumerate(sockets)
            for number in range(2)
        ]
        assert answers.count(200) + [one["type"] for one in told].count("ack") == 1
        assert seated_at(judged, table_id) == [player.account_id]
        for socket in sockets:
            await socket.close()


@REAL
@ASYNC
async def test_ids_cannot_be_guessed(judged: House) -> None:
    async with judged.player() as player:
        await player.guest()
        # Chance, or a hash that begins with it.
        assert UUID(player.account_id).version == 4
        tables = [UUID(await player.open_table()) for _ in range(3)]
        assert {one.version for one in tables} <= {4, 5}
        assert len({str(one)[:8] for one in tables}) == len(tables)


def seated_at(judged: House, table_id: str) -> list[str]:
    """Who sat down at this table, in their order."""
    assert isinstance(judged.table, JudgedTable)
    facts = judged.table.worker.public(table_id)
    return [fact.holder.account_id for fact in facts if isinstance(fact, events.SeatTaken)]


async def answer_to(socket: Socket, command: str) -> dict[str, Any]:
    """What this command got, in whatever order the answers came."""
    async with asyncio.timeout(30):
        while True:
            for frame in socket.frames:
                if frame.get("id") == command:
                    return frame
            await asyncio.sleep(0.005)
