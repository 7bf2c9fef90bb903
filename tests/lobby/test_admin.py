"""The gateway's admin port: what operators may do, each act an event with its operator."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio
from aiokafka import AIOKafkaConsumer, TopicPartition
from sqlalchemy import text

from spades_events import Topic, commands, decode, envelope_of
from spades_events.lobby import OperatorActed
from spades_lobby.operators import routes_admin
from spades_local.testing import Namespace
from spades_runtime.operators import new_operator
from spades_runtime.probes import Probes
from tests.lobby.conftest import House, house
from tests.lobby.player import Player

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]

Event = tuple[str | None, str, OperatorActed]
"""Actor, subject, what was done."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def operated(lobby_namespace: Namespace, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """A gateway with an operator, ada."""
    file = tmp_path_factory.mktemp("operators") / "operators"
    token, line = new_operator("ada")
    file.write_text(line + "\n")
    async with house(lobby_namespace, operators_file=file) as made:
        made.table.token = token  # type: ignore[attr-defined]
        yield made


@asynccontextmanager
async def at_admin_port(lobby: House, token: str | None = None) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=lobby.probes.app())
    headers = {"Authorization": f"Bearer {token or lobby.table.token}"}  # type: ignore[attr-defined]
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as client:
        yield client


async def told(lobby: House) -> list[Event]:
    """All of lobby.events, in the order of each partition."""
    consumer = AIOKafkaConsumer(bootstrap_servers=lobby.namespace.bootstrap)
    await consumer.start()
    try:
        name = lobby.namespace.topic(Topic.LOBBY_EVENTS)
        parts = [TopicPartition(name, part) for part in range(lobby.namespace.partitions)]
        consumer.assign(parts)
        ends = await consumer.end_offsets(parts)
        found: list[Event] = []
        for part, end in ends.items():
            consumer.seek(part, 0)
            while await consumer.position(part) < end:
                for record in (await consumer.getmany(part, timeout_ms=200)).get(part, ()):
                    envelope = envelope_of(record.headers)
                    assert record.key == envelope.subject.encode()
                    act = decode(envelope.type, record.value)
                    assert isinstance(act, OperatorActed)
                    found.append((envelope.actor, envelope.subject, act))
        return found
    finally:
        await consumer.stop()


async def acts_about(lobby: House, subject: str) -> list[OperatorActed]:
    found = [(actor, act) for actor, about, act in await told(lobby) if about == subject]
    assert {actor for actor, _ in found} <= {"operator:ada"}
    return [act for _, act in found]


async def sat_at(lobby: House, player: Player) -> str:
    table_id = await player.open_table(kind="coins", stake_coins=100)
    assert (await player.http.put(f"/v1/tables/{table_id}/seats/any")).status_code == 200
    return table_id


async def known_to_the_lists(lobby: House, table_id: str) -> None:
    async with asyncio.timeout(20):
        while await lobby.gateway.seats.game(table_id) is None:
            await asyncio.sleep(0.02)


PATHS = (
    ("GET", "/admin/drain"),
    ("POST", "/admin/drain"),
    ("DELETE", "/admin/drain"),
    ("GET", f"/admin/games/{uuid4()}"),
    ("GET", f"/admin/games/{uuid4()}/events"),
    ("POST", f"/admin/games/{uuid4()}/cancel"),
    ("POST", "/admin/grants"),
    ("GET", "/admin/reports"),
)


async def test_nobody_else_comes_in_and_nothing_of_it_is_on_the_public_port(operated: House) -> None:
    async with operated.player() as player, at_admin_port(operated) as ada:
        await player.account()
        before = len(await told(operated))
        for method, path in PATHS:
            for token in ("x", player.token):
                answer = await ada.request(method, path, headers={"Authorization": f"Bearer {token}"})
                assert (answer.status_code, answer.json()["code"]) == (401, "not_an_operator"), path
            for address in (path, path.removeprefix("/admin")):
                answer = await player.http.request(method, address)
                assert answer.status_code in (404, 405), address
        # An operator's token opens no door for people either.
        by_operator = {"Authorization": ada.headers["Authorization"]}
        assert (await player.http.get("/v1/me", headers=by_operator)).status_code == 401
        assert len(await told(operated)) == before


async def test_without_operators_everything_is_refused(operated: House) -> None:
    gateway = operated.gateway
    closed = replace(gateway, settings=gateway.settings.model_copy(update={"operators_file": None}))
    probes = Probes()
    probes.operated = routes_admin.application(closed)
    async with at_admin_port(replace(operated, probes=probes)) as nobody:
        for method, path in PATHS:
            answer = await nobody.request(method, path)
            assert (answer.status_code, answer.json()["code"]) == (403, "no_operators")


async def test_a_game_is_looked_at_as_its_public_stream(operated: House) -> None:
    async with operated.player() as player, at_admin_port(operated) as ada:
        await player.guest()
        table_id = await player.open_table(kind="private")
        assert (await player.http.put(f"/v1/tables/{table_id}/seats/0")).status_code == 200
        assert (await player.http.post(f"/v1/tables/{table_id}/start")).status_code == 200
        await known_to_the_lists(operated, table_id)
        async with asyncio.timeout(20):
            while True:
                page = (await ada.get(f"/admin/games/{table_id}/events?limit=200")).json()
                if [event["type"] for event in page["events"]][-1] == "turn_started":
                    break
                await asyncio.sleep(0.02)
        assert [event["seq"] for event in page["events"]] == list(range(1, len(page["events"]) + 1))
        # The seat was dealt cards; none of them is here.
        stream = await ada.get(f"/admin/games/{table_id}/events", headers={"Accept": "application/x-ndjson"})
        assert len(stream.text.splitlines()) == len(page["events"])
        for card in ("2S", "3S", "4S", '"you"', "legal"):
            assert card not in stream.text
        game = (await ada.get(f"/admin/games/{table_id}")).json()
        assert (game["table_id"], game["kind"]) == (table_id, "private")
        assert (await ada.get(f"/admin/games/{uuid4()}")).status_code == 404
        assert {act.action for act in await acts_about(operated, table_id)} == {"look_at_game"}


async def test_a_game_is_cancelled_by_a_command_of_the_operator(operated: House) -> None:
    async with operated.player() as player, at_admin_port(operated) as ada:
        await player.account()
        table_id = await sat_at(operated, player)
        socket = await player.socket()
        await socket.watch(table_id)
        for body in ({}, {"reason": ""}, {"reason": "a\nb"}, {"reason": "x", "refund": 5}, {"reason": "x" * 201}):
            assert (await ada.post(f"/admin/games/{table_id}/cancel", json=body)).status_code == 422
        key = {"Idempotency-Key": "ticket-7"}
        answers = [
            await ada.post(f"/admin/games/{table_id}/cancel", json={"reason": "Our fault"}, headers=key)
            for _ in range(2)
        ]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert answers[0].json() == answers[1].json()
        assert (await socket.until("table_cancelled"))["reason"] == "operator"
        again = await ada.post(f"/admin/games/{table_id}/cancel", json={"reason": "Our fault"})
        assert (again.status_code, again.json()["code"]) == (409, "game_over")
        sent = [
            (account, command)
            for account, _, command in operated.table.commands
            if isinstance(command, commands.CancelTable)
        ]
        assert sent == [("operator:ada", commands.CancelTable(reason="Our fault"))] * 3
        acts = await acts_about(operated, table_id)
        assert [(act.action, act.reason) for act in acts] == [("cancel_game", "Our fault")] * 3
        missing = await ada.post(f"/admin/games/{uuid4()}/cancel", json={"reason": "x"})
        assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
        await socket.close()


async def test_a_grant_needs_a_reason_and_a_key_and_is_one_however_often_it_is_sent(operated: House) -> None:
    async with operated.player() as player, at_admin_port(operated) as ada:
        await player.account()
        body = {"account_id": player.account_id, "amount_coins": 250, "reason": "Lost by a fault of ours"}
        without = await ada.post("/admin/grants", json=body)
        assert (without.status_code, without.json()["code"]) == (400, "idempotency_key_required")
        key = {"Idempotency-Key": uuid4().hex}
        answers = await asyncio.gather(*(ada.post("/admin/grants", json=body, headers=key) for _ in range(4)))
        assert {answer.status_code for answer in answers} == {201}
        assert answers[0].json() == {
            "account_id": player.account_id,
            "amount_coins": 250,
            "available_coins": 1_250,
        }
        [(actor, command, _)] = [
            grant for (account, _), grant in operated.table.grants.items() if account == player.account_id
        ]
        assert (actor, command) == (
            "operator:ada",
            commands.GrantCoins(amount_coins=250, reason="Lost by a fault of ours"),
        )
        other = await ada.post("/admin/grants", json=body | {"amount_coins": 251}, headers=key)
        assert (other.status_code, other.json()["code"]) == (422, "conflict")
        # A name is no account id, and a guest has no wallet: nothing is done, and the words say which.
        async with operated.player() as guest:
            await guest.guest()
            for who, said in (("nobody", (404, "no_player")), (guest.account_id, (409, "account_required"))):
                answer = await ada.post("/admin/grants", json=body | {"account_id": who}, headers=key)
                assert (answer.status_code, answer.json()["code"]) == said
                assert await acts_about(operated, who) == []
        acts = await acts_about(operated, player.account_id)
        assert {(act.action, act.amount_coins, act.reason) for act in acts} == {
            ("grant_coins", coins, "Lost by a fault of ours") for coins in (250, 251)
        }
        wrongs: list[dict[str, Any]] = [
            *({"amount_coins": 0}, {"amount_coins": -5}, {"amount_coins": 1.5}, {"amount_coins": "250"}),
            *({"amount_coins": 2**63}, {"reason": ""}, {"account_id": "house:x"}, {"balance": 5}),
        ]
        for wrong in wrongs:
            assert (await ada.post("/admin/grants", json=body | wrong, headers=key)).status_code == 422, wrong


async def test_reports_are_read_page_by_page_and_about_one_person(operated: House) -> None:
    async with operated.player() as one, operated.player() as two, at_admin_port(operated) as ada:
        await one.account()
        await two.account()
        async with operated.gateway.engine.begin() as db:
            for number in range(5):
                by, about = (one, two) if number % 2 else (two, one)
                await db.execute(
                    text(
                        "INSERT INTO report (account_id, about_id, table_id, reason, said)"
                        " VALUES (:by, :about, 't', :reason, :said)"
                    ),
                    {
                        "by": by.account_id,
                        "about": about.account_id,
                        "reason": f"reason {number}",
                        "said": '["words"]',
                    },
                )
        reasons, cursor = [], ""
        while cursor is not None:
            page = (await ada.get(f"/admin/reports?limit=2{cursor and '&cursor=' + cursor}")).json()
            reasons += [one["reason"] for one in page["reports"]]
            cursor = page["next"]
        assert reasons == [f"reason {number}" for number in (4, 3, 2, 1, 0)]
        found = (await ada.get(f"/admin/reports?about={two.account_id}")).json()["reports"]
        assert [(one["reason"], one["said"], one["about_id"]) for one in found] == [
            (f"reason {number}", ["words"], two.account_id) for number in (3, 1)
        ]
        assert found[0]["at_ms"] > 0
        for wrong in ("limit=0", "cursor=x", "about=a:b", "about="):
            assert (await ada.get(f"/admin/reports?{wrong}")).status_code in (400, 422), wrong
        assert [act.action for act in await acts_about(operated, two.account_id)] == ["read_reports"]


async def test_what_cannot_be_told_is_not_done(operated: House) -> None:
    async with operated.player() as player, at_admin_port(operated) as ada:
        await player.account()
        table_id = await sat_at(operated, player)
        desk = operated.gateway.desk
        send_surely = desk.send_surely
        sent = len(operated.table.commands)

        async def fails(*_: object) -> None:
            raise OSError

        desk.send_surely = fails  # type: ignore[method-assign, assignment]
        try:
            answer = await ada.post(f"/admin/games/{table_id}/cancel", json={"reason": "x"})
        finally:
            desk.send_surely = send_surely  # type: ignore[method-assign]
        assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
        assert len(operated.table.commands) == sent


async def test_a_drained_gateway_sends_its_people_away_until_it_is_resumed(
    lobby_namespace: Namespace, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    token, line = new_operator("ada")
    file = tmp_path / "operators"
    file.write_text(line)
    # Beside the other gateway, so a member of its own.
    beside = house(lobby_namespace, operators_file=file, member_id="lobby-drained")
    async with beside as lobby, at_admin_port(lobby, token) as ada:
        player = await lobby.player().guest()
        socket = await player.socket()
        assert (await ada.get("/admin/drain")).json() == {"draining": False, "sockets": 1}
        assert (await ada.post("/admin/drain")).status_code == 202
        assert await socket.closed() == 1012
        assert socket.frames[-1]["type"] == "server_draining"
        assert lobby.probes.problem() == "draining"
        assert (await ada.post("/admin/drain")).json()["draining"] is True
        with pytest.raises(Exception, match="503"):
            await player.socket()
        # Who is sent away is no error of ours: each would be a line of the log.
        assert [
            one.getMessage() for one in caplog.records if one.name == "uvicorn.error" and one.levelname == "ERROR"
        ] == []
        assert (await ada.delete("/admin/drain")).json()["draining"] is False
        async with asyncio.timeout(20):
            while lobby.probes.problem() is not None:
                await asyncio.sleep(0.02)
        socket = await player.socket()
        await socket.close()
        await player.http.aclose()
        name = lobby.gateway.settings.member_name
        assert [act.action for act in await acts_about(lobby, name)] == ["drain", "drain", "resume"]
