"""A gateway in the test's process, on the real Kafka and Postgres, before a fake table service."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio

from spades_lobby.app import running
from spades_lobby.rest.gateway import Gateway
from spades_lobby.settings import LobbySettings
from spades_local.testing import Namespace
from spades_runtime.probes import Probes
from tests.lobby.fake_table import FakeTable
from tests.lobby.player import Player
from tests.processes import ServiceProcess

PARTITIONS = 2


@dataclass
class House:
    """What a test of the gateway has."""

    gateway: Gateway
    address: str
    table: FakeTable
    probes: Probes
    namespace: Namespace

    def player(self) -> Player:
        return Player(self.address)


@pytest.fixture(scope="module")
def lobby_namespace(module_namespace: Namespace) -> Namespace:
    module_namespace.create_topics(partitions=PARTITIONS)
    module_namespace.migrate("lobby")
    return module_namespace


def lobby_settings(namespace: Namespace, **knobs: Any) -> LobbySettings:
    """The settings as the process would read them, with a test's own knobs."""
    env = namespace.service_env("lobby")
    read = {name.removeprefix("SPADES_").lower(): value for name, value in env.items() if name.startswith("SPADES_")}
    return LobbySettings(**{**read, "lobby_port": 0, **knobs})


@asynccontextmanager
async def house(namespace: Namespace, *, table_of: type[FakeTable] = FakeTable, **knobs: Any) -> AsyncIterator[House]:
    probes = Probes()
    async with AsyncExitStack() as stack:
        table = table_of(namespace.bootstrap, namespace.topic_prefix, namespace.partitions)
        await stack.enter_async_context(table.running())
        settings = lobby_settings(namespace, **knobs)
        gateway, address = await stack.enter_async_context(running(settings, probes))
        yield House(gateway, address, table, probes, namespace)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lobby(lobby_namespace: Namespace) -> AsyncIterator[House]:
    """One gateway for a file's tests; each makes its own people and tables."""
    async with house(lobby_namespace) as made:
        yield made


SERVICES = ("wallet", "clock", "table", "bot")
QUICK = {
    "SPADES_BOT_PACE_MS": "2",
    "SPADES_TABLE_NEXT_HAND_PRACTICE_MS": "600000",
}


@dataclass(frozen=True)
class Stack:
    """Two gateways over one table service."""

    addresses: tuple[str, str]
    processes: dict[str, ServiceProcess]


@pytest.fixture(scope="module")
def stack(module_namespace: Namespace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    module_namespace.create_topics(partitions=2)
    module_namespace.migrate("lobby", "table", "wallet", "clock")
    logs = tmp_path_factory.mktemp("logs")
    with ExitStack() as running:
        processes = {
            name: running.enter_context(ServiceProcess(name, module_namespace.service_env(name, **QUICK), logs / name))
            for name in SERVICES
        }
        addresses = []
        for number in range(2):
            env = module_namespace.service_env("lobby", **QUICK, SPADES_MEMBER_ID=f"lobby-{number}")
            name = f"lobby-{number}"
            processes[name] = running.enter_context(ServiceProcess("lobby", env, logs / name))
            addresses.append(f"http://127.0.0.1:{env['SPADES_LOBBY_PORT']}")
        yield Stack((addresses[0], addresses[1]), processes)
