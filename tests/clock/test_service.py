"""The clock as a process, on the real Kafka and PostgreSQL."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Iterator

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from spades_events import CE_TYPES, Envelope, decode, encode, envelope_of, headers_of
from spades_events.clock import TimedOut
from spades_events.events import DeadlineSet, GameSettled, TableEvent
from spades_events.values import DeadlineKind
from spades_local.testing import Namespace
from tests.processes import ServiceProcess

pytestmark = pytest.mark.real

LIMIT_S = 20.0


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class Tables:
    """Stands in for the table service: tells events of tables of its own, hears their timeouts."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._prefix = secrets.token_hex(4) + "-"
        self._producer = AIOKafkaProducer(bootstrap_servers=namespace.bootstrap)
        self._consumer = AIOKafkaConsumer(
            namespace.topic("clock.events"), bootstrap_servers=namespace.bootstrap, auto_offset_reset="latest"
        )

    async def start(self) -> None:
        await self._producer.start()
        await self._consumer.start()
        # Only from here on is everything heard.
        await self._consumer.seek_to_end()

    async def stop(self) -> None:
        await self._consumer.stop()
        await self._producer.stop()

    async def tell(self, table: str, version: int, event: TableEvent) -> None:
        await self.tell_bytes(table, version, CE_TYPES[type(event)], encode(event))

    async def tell_bytes(self, table: str, version: int, ce_type: str, body: bytes) -> None:
        stream = self._prefix + table
        envelope = Envelope(
            id=f"{stream}:{version}",
            type=ce_type,
            source="/spades/table",
            subject=stream,
            sequence=version,
            time_ms=now_ms(),
        )
        await self._producer.send_and_wait(
            self._namespace.topic("table.events"), body, key=stream.encode(), headers=headers_of(envelope)
        )

    async def set(self, table: str, version: int, in_ms: int) -> int:
        """Set a deadline; returns when it is due."""
        due_ms = now_ms() + in_ms
        await self.tell(table, version, DeadlineSet(deadline_id=version, due_ms=due_ms, kind=DeadlineKind.TURN))
        return due_ms

    async def heard(self) -> tuple[str, TimedOut, int]:
        """The next timeout: its table, what it says, and when it was heard."""
        async with asyncio.timeout(LIMIT_S):
            return await self._heard()

    async def _heard(self) -> tuple[str, TimedOut, int]:
        async for record in self._consumer:
            if record.key.decode().startswith(self._prefix):
                event = decode(envelope_of(record.headers).type, record.value)
                assert isinstance(event, TimedOut)
                return record.key.decode().removeprefix(self._prefix), event, now_ms()
        raise AssertionError("the consumer was stopped")

    async def silence(self, for_s: float) -> None:
        """Nothing is heard for so long."""
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(for_s):
                await self._heard()


@pytest.fixture
async def tables(module_namespace: Namespace, clock: ServiceProcess) -> AsyncIterator[Tables]:
    stand_in = Tables(module_namespace)
    await stand_in.start()
    yield stand_in
    await stand_in.stop()


@pytest.fixture(scope="module")
def process(module_namespace: Namespace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    module_namespace.create_topics()
    module_namespace.migrate("clock")
    env = module_namespace.service_env("clock", SPADES_SESSION_MS="6000")
    with ServiceProcess("clock", env, tmp_path_factory.mktemp("logs") / "clock.log") as started:
        yield started


@pytest.fixture
def clock(process: ServiceProcess) -> ServiceProcess:
    """The clock, running; the test before may have stopped it."""
    return process if process.is_ready() else process.start()


async def test_a_deadline_fires_not_before_its_time_and_again_until_the_table_goes_on(
    tables: Tables, clock: ServiceProcess
) -> None:
    due_ms = await tables.set("t", 5, in_ms=400)
    for repetition in range(3):
        table, event, heard_ms = await tables.heard()
        assert (table, event) == ("t", TimedOut(deadline_id=5, due_ms=due_ms))
        assert heard_ms >= due_ms + 1_000 * repetition
    await tables.tell("t", 9, GameSettled(payouts=()))
    await tables.silence(1.5)


async def test_a_killed_clock_fires_what_was_set_before_and_while_it_was_down(
    tables: Tables, clock: ServiceProcess
) -> None:
    await tables.set("before", 5, in_ms=1_500)
    await asyncio.to_thread(clock.kill)
    await tables.set("meanwhile", 7, in_ms=0)
    await asyncio.to_thread(clock.start)
    heard: set[str] = set()
    while heard != {"before", "meanwhile"}:
        # The one that is over fires each second, until the other is due, too.
        heard.add((await tables.heard())[0])


async def test_a_clock_that_is_told_to_stop_saves_what_it_knows(tables: Tables, clock: ServiceProcess) -> None:
    due_ms = await tables.set("t", 5, in_ms=60_000)
    await tables.set("u", 6, in_ms=0)
    assert (await tables.heard())[0] == "u"
    assert await asyncio.to_thread(clock.stop) == 0
    assert due_ms > now_ms()
    await asyncio.to_thread(clock.start)
    assert (await tables.heard())[0] == "u"


async def test_events_told_twice_have_one_effect(tables: Tables, clock: ServiceProcess) -> None:
    due_ms = now_ms() + 600
    first = DeadlineSet(deadline_id=5, due_ms=due_ms - 300, kind=DeadlineKind.TURN)
    second = DeadlineSet(deadline_id=6, due_ms=due_ms, kind=DeadlineKind.TURN)
    for version, event in ((5, first), (6, second), (5, first), (6, second)):
        await tables.tell("t", version, event)
    _, event, _ = await tables.heard()
    assert event == TimedOut(deadline_id=6, due_ms=due_ms)


async def test_a_record_that_cannot_be_read_holds_up_its_own_table_only(tables: Tables, clock: ServiceProcess) -> None:
    await tables.tell_bytes("bad", 1, CE_TYPES[DeadlineSet], b"{")
    await tables.set("bad", 2, in_ms=0)
    for number in range(4):
        await tables.set(f"good{number}", 1, in_ms=100)
    heard = {(await tables.heard())[0] for _ in range(4)}
    assert heard == {"good0", "good1", "good2", "good3"}
