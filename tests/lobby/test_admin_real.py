"""Operators on the real services: a cancelled game gives everything back, a grant is an entry, parks are read."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest
from aiokafka import AIOKafkaProducer

from spades_events import CE_TYPES, Envelope, commands, headers_of
from spades_local.testing import Namespace
from spades_runtime import partition_of
from spades_runtime.operators import new_operator
from tests.lobby.conftest import QUICK
from tests.lobby.player import Player
from tests.processes import ServiceProcess

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

LIMIT_S = 30.0


class Stack:
    """The services, the page's address, and a shell of the operator ada."""

    def __init__(self, namespace: Namespace, page: str, ports: dict[str, str], token: str) -> None:
        self.namespace = namespace
        self.page = page
        self._ports = ports
        self._token = token

    async def shell(self, service: str, command: str, *arguments: str) -> tuple[int, str]:
        """`python -m spades_lobby.admin COMMAND`, asked of this service's admin port."""
        env = {"SPADES_OPERATOR_TOKEN": self._token, "SPADES_ADMIN_AT": f"http://127.0.0.1:{self._ports[service]}"}
        line = [sys.executable, "-m", "spades_lobby.admin", command, *arguments]
        done = await asyncio.to_thread(
            subprocess.run, line, env=env, capture_output=True, text=True, timeout=60, check=False
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def operated(module_namespace: Namespace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    module_namespace.create_topics(partitions=2)
    module_namespace.migrate("lobby", "table", "wallet", "clock")
    folder = tmp_path_factory.mktemp("services")
    token, line = new_operator("ada")
    file: Path = folder / "operators"
    file.write_text(line + "\n")
    ports: dict[str, str] = {}
    page = ""
    with ExitStack() as running:
        for name in ("wallet", "clock", "bot", "table", "lobby"):
            env = module_namespace.service_env(name, **QUICK, SPADES_OPERATORS_FILE=str(file))
            ports[name] = env["SPADES_ADMIN_PORT"]
            page = f"http://127.0.0.1:{env.get('SPADES_LOBBY_PORT')}"
            running.enter_context(ServiceProcess(name, env, folder / f"{name}.log"))
        yield Stack(module_namespace, page, ports, token)


async def _has(player: Player, available: int, held: int) -> None:
    async with asyncio.timeout(LIMIT_S):
        while True:
            wallet = (await player.http.get("/v1/wallet")).json()
            if (wallet["available_coins"], wallet["held_coins"]) == (available, held):
                return
            await asyncio.sleep(0.05)


async def test_a_cancelled_coin_game_gives_everything_back_and_a_grant_is_an_entry(operated: Stack) -> None:
    async with Player(operated.page) as player:
        await player.account()
        table_id = await player.open_table(kind="coins", stake_coins=100)
        assert (await player.http.put(f"/v1/tables/{table_id}/seats/any")).status_code == 200
        socket = await player.socket()
        await socket.watch(table_id)
        await _has(player, 890, 110)
        code, said = await operated.shell("lobby", "cancel", table_id, "A fault of ours")
        assert code == 0, said
        assert (await socket.until("table_cancelled"))["reason"] == "operator"
        await socket.until("game_settled")
        await _has(player, 1_000, 0)
        for _ in range(2):
            code, said = await operated.shell(
                "lobby", "grant", player.account_id, "250", "A fault of ours", "--key", "ticket-9"
            )
            assert code == 0, said
        await _has(player, 1_250, 0)
        entries = (await player.http.get("/v1/wallet/entries")).json()["entries"]
        assert [entry["change_coins"] for entry in entries].count(250) == 1
        code, said = await operated.shell("lobby", "game", table_id)
        assert (code, '"end_reason": "operator"' in said) == (0, True), said
        code, said = await operated.shell("lobby", "cancel", table_id, "Again")
        assert (code, "game_over" in said) == (1, True), said
        await socket.close()


async def test_what_the_table_set_aside_is_listed_without_its_content_and_judged_again(operated: Stack) -> None:
    table_id = str(uuid4())
    part = partition_of(table_id, operated.namespace.partitions)
    envelope = Envelope("c1", CE_TYPES[commands.PlayCard], "/test", table_id, actor="ann")
    async with AIOKafkaProducer(bootstrap_servers=operated.namespace.bootstrap) as producer:
        sent = await producer.send_and_wait(
            operated.namespace.topic("table.commands"),
            b'{"turn_id":"kilroy","card":"AS","more":"was here"}',
            key=table_id.encode(),
            partition=part,
            headers=headers_of(envelope),
        )
    async with asyncio.timeout(LIMIT_S):
        while True:
            code, said = await operated.shell("table", "parked")
            assert code == 0, said
            if table_id in said:
                break
    assert '"payload": "sealed"' in said
    assert "kilroy" not in said
    assert '"AS"' not in said
    # This release cannot read it either: it says so, and nothing is marked.
    code, said = await operated.shell("table", "redrive", "table.commands", str(part), str(sent.offset))
    assert (code, "set_aside_again" in said) == (1, True), said
    for service in ("wallet", "clock"):
        code, said = await operated.shell(service, "parked")
        assert (code, '"parked": []' in said) == (0, True), said


async def test_what_wallet_and_clock_cannot_read_yet_goes_on_waiting(operated: Stack) -> None:
    table_id = str(uuid4())
    part = partition_of(table_id, operated.namespace.partitions)
    places = {}
    async with AIOKafkaProducer(bootstrap_servers=operated.namespace.bootstrap) as producer:
        for service, kind in (("wallet", "spades.game_ended.v9"), ("clock", "spades.deadline_set.v9")):
            sent = await producer.send_and_wait(
                operated.namespace.topic("table.events"),
                b"{}",
                key=table_id.encode(),
                partition=part,
                headers=headers_of(Envelope(f"{table_id}:{kind}", kind, "/test", table_id, sequence=1)),
            )
            places[service] = str(sent.offset)
    for service, offset in places.items():
        async with asyncio.timeout(LIMIT_S):
            while True:
                code, said = await operated.shell(service, "parked")
                assert code == 0, said
                if f'"offset": {offset},' in said:
                    break
        assert '"quarantined": true' in said
        code, said = await operated.shell(service, "redrive", "table.events", str(part), offset)
        assert (code, "set_aside_again" in said) == (1, True), said
        code, said = await operated.shell(service, "parked")
        assert ('"redriven_by": null' in said, "operator:" in said) == (True, False), said
