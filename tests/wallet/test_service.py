"""The wallet as a process on real Kafka and PostgreSQL: killed at any moment, nothing is lost or doubled."""

import asyncio
import os
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import psycopg
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from spades_events import CE_TYPES, Envelope, Topic, decode, encode, envelope_of, headers_of
from spades_events.commands import OpenAccount
from spades_events.wallet import HoldPlaced, Settlement, WalletEvent
from spades_local.testing import Namespace
from spades_runtime import database, partition_of
from spades_wallet.audit import audit
from tests.wallet.desk import settings_of
from tests.wallet.games import CANCELLED, WIN_0, WIN_1, CoinGame

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(300)]


def games(moment: str) -> list[CoinGame]:
    """Three games of this test's own."""
    at = moment or "never"
    return [
        CoinGame(table=f"{at}-a", stake=100, people=(0, 1, 2, 3), leaves=(2,), end=WIN_0),
        CoinGame(table=f"{at}-b", stake=25, people=(1,), end=WIN_1),
        CoinGame(table=f"{at}-c", stake=10, people=(0, 2), end=CANCELLED),
    ]


WAIT_LIMIT_S = 90.0


@contextmanager
def running(namespace: Namespace, **settings: str) -> Iterator["subprocess.Popen[bytes]"]:
    """The service as a process; killed at the end if it still lives."""
    process = subprocess.Popen([sys.executable, "-m", "spades_wallet"], env=namespace.service_env("wallet", **settings))
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


class World:
    """What stands around the wallet: a producer of its inputs and a reader of all it says."""

    def __init__(self, namespace: Namespace, games: list[CoinGame]) -> None:
        self.games = games
        self._namespace = namespace
        self.told: dict[str, dict[int, WalletEvent]] = defaultdict(dict)

    async def __aenter__(self) -> "World":
        servers = self._namespace.bootstrap
        self._producer = AIOKafkaProducer(bootstrap_servers=servers, acks="all")
        self._consumer = AIOKafkaConsumer(bootstrap_servers=servers, auto_offset_reset="earliest")
        await self._producer.start()
        await self._consumer.start()
        topic = self._namespace.topic("wallet.events")
        self._consumer.assign([TopicPartition(topic, part) for part in range(self._namespace.partitions)])
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._producer.stop()
        await self._consumer.stop()

    async def open(self, name: str) -> None:
        envelope = Envelope(
            id=f"open-{name}", type=CE_TYPES[OpenAccount], source="/spades/lobby", subject=name, actor=name
        )
        await self._send(Topic.WALLET_COMMANDS, envelope, encode(OpenAccount()))

    async def tell(self, game: CoinGame, fact: Any, version: int) -> None:
        envelope = Envelope(
            id=f"{game.table}:{version}",
            type=CE_TYPES[type(fact)],
            source="/spades/table",
            subject=game.table,
            sequence=version,
        )
        await self._send(Topic.TABLE_EVENTS, envelope, encode(fact))

    async def _send(self, topic: Topic, envelope: Envelope, body: bytes) -> None:
        await self._producer.send_and_wait(
            self._namespace.topic(topic),
            body,
            key=envelope.subject.encode(),
            headers=headers_of(envelope),
            partition=partition_of(envelope.subject, self._namespace.partitions),
        )

    async def hear(self) -> None:
        """Read what has come. A version told twice says the same both times."""
        records = await self._consumer.getmany(timeout_ms=200)
        for record in (record for batch in records.values() for record in batch):
            envelope = envelope_of(record.headers)
            event = cast(WalletEvent, decode(envelope.type, record.value))
            if envelope.sequence is not None:
                before = self.told[envelope.subject].setdefault(envelope.sequence, event)
                assert before == event, envelope

    def settled(self) -> bool:
        return all(
            any(isinstance(event, Settlement) for event in self.told[game.table].values()) for game in self.games
        )


async def play(world: World) -> None:
    """Everything of all games, each record twice, as a broker may bring it."""
    names = [game.name(seat) for game in world.games for seat in game.people]
    for name in names:
        await world.open(name)
        await world.open(name)
    # As at the gateway: a player sits down when the wallet has said that it is open.
    async with asyncio.timeout(WAIT_LIMIT_S):
        while not all(world.told[name] for name in names):
            await world.hear()
    for game in world.games:
        for version, fact in enumerate(game.facts(), 1):
            await world.tell(game, fact, version)
            await world.tell(game, fact, version)


async def check(namespace: Namespace, world: World) -> None:
    """Every game settled once and as the rulings say, no version missing, the ledger right."""
    for stream, events in world.told.items():
        assert sorted(events) == list(range(1, len(events) + 1)), stream
    for game in world.games:
        settlements = [event for event in world.told[game.table].values() if isinstance(event, Settlement)]
        assert len(settlements) == 1
        payouts = {payout.account_id: payout.net_coins for payout in settlements[0].payouts}
        assert dict.fromkeys(("house", "fees"), 0) | payouts == game.nets()
        holds = [event for event in world.told[game.table].values() if isinstance(event, HoldPlaced)]
        assert len(holds) == len(game.people)
    db = await database.connect(settings_of(namespace))
    report = await audit(db)
    await db.close()
    assert report.faults == []


async def supervised(namespace: Namespace, world: World, **settings: str) -> int:
    """Keep the service running as a supervisor does, until every game is settled; how often it died."""
    playing = asyncio.create_task(play(world))
    deaths = 0
    async with asyncio.timeout(WAIT_LIMIT_S):
        while True:
            with running(namespace, **(settings if deaths == 0 else {})) as process:
                while process.poll() is None and not (playing.done() and world.settled()):
                    if playing.done():
                        playing.result()
                        await world.hear()
                    else:
                        await asyncio.wait([playing], timeout=0.2)
                if process.poll() is None:
                    process.terminate()
                    assert await asyncio.to_thread(process.wait, 20) == 0
                    return deaths
                assert process.returncode == -signal.SIGKILL
                deaths += 1


@pytest.fixture(scope="module")
def served(module_namespace: Namespace) -> Namespace:
    """Topics of one partition and the wallet's schema, for all tests here."""
    module_namespace.create_topics(partitions=1)
    module_namespace.migrate("wallet")
    return module_namespace


@pytest.mark.parametrize("crash_at", ["", "in_take:1", "before_commit:2", "after_commit:2", "after_publish:2"])
async def test_games_settle_once_whatever_the_moment_the_wallet_dies(served: Namespace, crash_at: str) -> None:
    async with World(served, games(crash_at.partition(":")[0])) as world:
        deaths = await supervised(served, world, **({"CRASH_AT": crash_at} if crash_at else {}))
        assert deaths == (1 if crash_at else 0)
        await world.hear()
        await check(served, world)


async def test_an_operators_grant_is_an_entry_with_its_reason_and_given_once(served: Namespace) -> None:
    name = "lucky"
    grant = [*["-m", "spades_wallet.grant", "lucky", "70"], "found a bug", *["--operator", "olga", "--id", "g1"]]
    env = served.service_env("wallet")

    async def said() -> tuple[int | None, bytes]:
        process = await asyncio.create_subprocess_exec(sys.executable, *grant, env=env, stdout=subprocess.PIPE)
        out, _ = await process.communicate()
        return process.returncode, out

    with running(served):
        async with World(served, []) as world, asyncio.timeout(WAIT_LIMIT_S):
            await world.open(name)
            while not world.told[name]:
                await world.hear()
            assert await said() == (0, b"granted 70; lucky now has 1070\n")
            assert await said() == (0, b"granted 70; lucky now has 1070\n")
            grant[2:4] = ["stranger", "5"]
            assert await said() == (1, b"refused: no_account\n")
    env["SPADES_KAFKA_BOOTSTRAP"] = "127.0.0.1:1"
    assert await said() == (2, b"no answer yet (KafkaConnectionError); repeat it with --id g1\n")


def test_the_wallet_is_not_ready_while_the_database_forgets_what_it_acknowledged(namespace: Namespace) -> None:
    namespace.create_topics(partitions=1)
    namespace.migrate("wallet")
    role = namespace.databases["wallet"].app_role
    with psycopg.connect(namespace.admin_url, autocommit=True) as admin:
        admin.execute(f'ALTER ROLE "{role}" SET synchronous_commit = off')
    env = namespace.service_env("wallet")
    with subprocess.Popen(
        [sys.executable, "-m", "spades_wallet"], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        try:
            said = next(line for line in process.stdout if b"not_ready" in line)
            assert b"synchronous_commit = off" in said
        finally:
            os.kill(process.pid, signal.SIGKILL)
