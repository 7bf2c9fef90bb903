"""The bot as a process, on the real Kafka."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from spades_bot.domain import answer
from spades_events import decode, envelope_of
from spades_events.private import Prompt
from spades_local.testing import Namespace
from tests.bot.prompts import games, record_of
from tests.processes import ServiceProcess
from tests.undecodable import send_undecodable

pytestmark = pytest.mark.real

LIMIT_S = 20.0
TURNS = [prompt for _, prompt in games(5)]


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@pytest.fixture(scope="module")
def bot(module_namespace: Namespace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    module_namespace.create_topics()
    env = module_namespace.service_env("bot", SPADES_BOT_PACE_MS="0")
    with ServiceProcess("bot", env, tmp_path_factory.mktemp("logs") / "bot.log") as started:
        yield started


class Table:
    """Stands in for the table service: asks, and hears."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._producer = AIOKafkaProducer(bootstrap_servers=namespace.bootstrap)
        topics = [namespace.topic("table.commands"), namespace.topic("parked")]
        self._consumer = AIOKafkaConsumer(*topics, bootstrap_servers=namespace.bootstrap)

    async def start(self) -> None:
        await self._producer.start()
        await self._consumer.start()
        await self._consumer.seek_to_end()

    async def stop(self) -> None:
        await self._consumer.stop()
        await self._producer.stop()

    async def ask(self, prompt: Prompt, part: int = 0, value: bytes | None = None) -> None:
        record = record_of(prompt, made_ms=now_ms())
        await self._producer.send_and_wait(
            self._namespace.topic("table.prompts"),
            record.value if value is None else value,
            key=record.key,
            partition=part,
            headers=list(record.headers),
        )

    async def heard(self) -> Any:
        return await asyncio.wait_for(self._consumer.getone(), LIMIT_S)


@pytest.fixture
async def table(module_namespace: Namespace, bot: ServiceProcess) -> AsyncIterator[Table]:
    stand_in = Table(module_namespace)
    await stand_in.start()
    yield stand_in
    await stand_in.stop()


@pytest.mark.parametrize("part", [0, 1])
async def test_a_prompt_comes_back_as_the_judged_command_on_its_partition(table: Table, part: int) -> None:
    await table.ask(TURNS[part], part)
    record = await table.heard()
    expected = answer(TURNS[part])
    envelope = envelope_of(record.headers)
    assert (record.topic.split(".", 1)[1], record.partition, record.key) == ("table.commands", part, b"t")
    assert (envelope.id, envelope.type) == (expected.command_id, expected.type)
    assert (envelope.actor, envelope.subject, envelope.source) == ("bot", "t", "/spades/bot")
    assert envelope.traceparent == "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    assert decode(envelope.type, record.value) == expected.body


async def test_a_prompt_asked_twice_is_the_same_command_twice(table: Table) -> None:
    await table.ask(TURNS[7])
    await table.ask(TURNS[7])
    first, second = await table.heard(), await table.heard()
    assert (first.value, envelope_of(first.headers).id) == (second.value, envelope_of(second.headers).id)


async def test_a_record_that_is_no_prompt_is_parked_without_its_payload(table: Table) -> None:
    await table.ask(TURNS[3], value=b'{"hand":["AS"]')
    parked = await table.heard()
    headers = dict(parked.headers)
    assert parked.topic.endswith("parked")
    assert parked.value == b""
    assert headers["parked_topic"] == b"table.prompts"
    assert b"AS" not in headers["parked_reason"]
    await table.ask(TURNS[4])
    assert (await table.heard()).topic.endswith("table.commands")


async def test_a_killed_bot_answers_again_as_soon_as_it_is_back(table: Table, bot: ServiceProcess) -> None:
    await asyncio.to_thread(bot.kill)
    await asyncio.to_thread(bot.start)
    await table.ask(TURNS[11])
    ids = {answer(TURNS[11]).command_id}
    # What it had answered before its end it may answer once more; the table knows the ids.
    while ids:
        record = await table.heard()
        if record.topic.endswith("table.commands"):
            ids.discard(envelope_of(record.headers).id)


async def test_a_bot_told_to_stop_ends_well(bot: ServiceProcess) -> None:
    assert await asyncio.to_thread(bot.stop) == 0
    await asyncio.to_thread(bot.start)


async def test_a_record_that_cannot_be_decoded_is_stepped_over(table: Table, module_namespace: Namespace) -> None:
    topic = module_namespace.topic("table.prompts")
    for part in (0, 1):
        for _ in range(2):
            await send_undecodable(module_namespace.bootstrap, topic, part)
        await table.ask(TURNS[part], part)
        assert envelope_of((await table.heard()).headers).id == answer(TURNS[part]).command_id
