"""How late timeouts are, also after a kill -9: `python -m tests.bench.clock [--timers 5000] [--seconds 20]`.

Runs the clock service as it is on the real Kafka and PostgreSQL and keeps so many deadlines running: each is
replaced when it fires, as tables do. Lateness is from a deadline to the moment its timeout could be read, by the
clock that set it. Bare round trips through the same Kafka, made meanwhile, are the floor under it.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import uvloop
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from spades_events import CE_TYPES, Envelope, decode, encode, envelope_of, headers_of
from spades_events.clock import TimedOut
from spades_events.events import DeadlineSet, GameSettled, TableEvent
from spades_events.values import DeadlineKind
from spades_local.testing import Namespace, serve_infra
from spades_runtime import Clock
from tests.processes import ServiceProcess

PARTITIONS = 8
SPREAD_MS = 30_000
"""Deadlines are up to so far away: the clock of an online table."""
DOWN_S = 1.0
AFTER_KILL_LIMIT_S = 30
BARE_EVERY_S = 0.05


class Goal(NamedTuple):
    """A figure and the most that it may be."""

    name: str
    figure: float
    most: float
    unit: str = " ms"

    @property
    def is_met(self) -> bool:
        return self.figure <= self.most

    def __str__(self) -> str:
        return f"{self.name} ({self.figure:.0f}{self.unit}, {self.most:.0f}{self.unit})"


class Tables:
    """So many tables that set deadlines and hear their timeouts."""

    def __init__(self, namespace: Namespace, timers: int) -> None:
        self._namespace = namespace
        self._chance = random.Random(7)
        self._clock = Clock()
        self._versions = [0] * timers
        self.due_ms = [0] * timers
        self.lateness_ms: list[int] = []
        self.heard_ms: dict[int, int] = {}
        """When tables that do not go on heard their timeout."""
        self.go_on = True

    async def start(self) -> None:
        bootstrap, events = self._namespace.bootstrap, self._namespace.topic("clock.events")
        self._producer = AIOKafkaProducer(bootstrap_servers=bootstrap)
        self._consumer = AIOKafkaConsumer(events, bootstrap_servers=bootstrap, fetch_max_wait_ms=20)
        await self._producer.start()
        await self._consumer.start()
        for table in range(len(self.due_ms)):
            await self._set(table)
        await self._producer.flush()

    async def stop(self) -> None:
        for table in range(len(self.due_ms)):
            await self._tell(table, GameSettled(payouts=()))
        await self._consumer.stop()
        await self._producer.stop()

    def now_ms(self) -> int:
        return self._clock.now_ms()

    async def hear(self) -> None:
        """Measure each timeout once; the table sets its next deadline while tables go on."""
        async for record in self._consumer:
            now_ms = self.now_ms()
            event = decode(envelope_of(record.headers).type, record.value)
            assert isinstance(event, TimedOut)
            table = int(record.key)
            if event.due_ms != self.due_ms[table] or table in self.heard_ms:
                continue
            self.lateness_ms.append(now_ms - event.due_ms)
            if self.go_on:
                await self._set(table)
            else:
                self.heard_ms[table] = now_ms

    async def _set(self, table: int) -> None:
        self.due_ms[table] = due_ms = self.now_ms() + self._chance.randrange(500, SPREAD_MS)
        version = self._versions[table] + 1
        await self._tell(table, DeadlineSet(deadline_id=version, due_ms=due_ms, kind=DeadlineKind.TURN))

    async def _tell(self, table: int, event: TableEvent) -> None:
        self._versions[table] += 1
        stream = str(table)
        envelope = Envelope(
            id=f"{stream}:{self._versions[table]}",
            type=CE_TYPES[type(event)],
            source="/spades/table",
            subject=stream,
            sequence=self._versions[table],
            time_ms=self.now_ms(),
        )
        topic = self._namespace.topic("table.events")
        await self._producer.send(topic, encode(event), key=stream.encode(), headers=headers_of(envelope))


def spread(values: list[int]) -> tuple[int, int, int]:
    """The median, the 99th percentile and the greatest."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2], ordered[int(0.99 * len(ordered))], ordered[-1]


async def bare_trips(namespace: Namespace, found: list[int]) -> None:
    """How long a record takes that nobody of ours has a part in."""
    topic, bootstrap = namespace.topic("lobby.events"), namespace.bootstrap
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=bootstrap, fetch_max_wait_ms=20)
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", enable_idempotence=True)
    await consumer.start()
    await producer.start()
    try:
        while True:
            await asyncio.sleep(BARE_EVERY_S)
            started_s = time.perf_counter()
            await producer.send(topic, b"bare")
            await consumer.getone()
            found.append(round((time.perf_counter() - started_s) * 1_000))
    finally:
        await producer.stop()
        await consumer.stop()


async def measure(namespace: Namespace, clock: ServiceProcess, timers: int, seconds: float) -> list[Goal]:
    tables = Tables(namespace, timers)
    await tables.start()
    bare: list[int] = []
    beside = [asyncio.create_task(tables.hear()), asyncio.create_task(bare_trips(namespace, bare))]
    try:
        # The first deadlines were set while the others still had to be sent.
        await asyncio.sleep(2)
        tables.lateness_ms.clear()
        bare.clear()
        await asyncio.sleep(seconds)
        return [*_running(tables, bare, seconds), await _after_a_kill(tables, clock)]
    finally:
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        await tables.stop()


def _running(tables: Tables, bare: list[int], seconds: float) -> list[Goal]:
    late = list(tables.lateness_ms)
    p50, p99, worst = spread(late)
    early = sum(1 for late_ms in late if late_ms < 0)
    overdue_ms = tables.now_ms() - 1_000
    lost = sum(1 for due_ms in tables.due_ms if due_ms < overdue_ms)
    print(f"{len(tables.due_ms)} running timers, {len(late) / seconds:.0f} timeouts/s")
    print(f"late: p50 {p50} ms, p99 {p99} ms, max {worst} ms; early: {early}; not fired: {lost}")
    print("a bare record through the same Kafka: p50 {} ms, p99 {} ms, max {} ms".format(*spread(bare)))
    return [
        Goal("late p99", p99, 50),
        Goal("late max", worst, 1_000),
        Goal("early", early, 0, ""),
        Goal("not fired a second after", lost, 0, ""),
    ]


async def _after_a_kill(tables: Tables, clock: ServiceProcess) -> Goal:
    """From the start of the new process, or the deadline if that is later, to the timeout."""
    tables.go_on = False
    await asyncio.to_thread(clock.kill)
    await asyncio.sleep(DOWN_S)
    started_ms = tables.now_ms()
    await asyncio.to_thread(clock.start)
    ready_ms = tables.now_ms()
    due_ms = {table: due_ms for table, due_ms in enumerate(tables.due_ms) if due_ms <= ready_ms}
    async with asyncio.timeout(AFTER_KILL_LIMIT_S):
        while not due_ms.keys() <= tables.heard_ms.keys():
            await asyncio.sleep(0.01)
    p50, _, worst = spread([tables.heard_ms[table] - max(due, started_ms) for table, due in due_ms.items()])
    print(
        f"kill -9: down {DOWN_S:.0f} s, ready {ready_ms - started_ms} ms after its start; {len(due_ms)} deadlines "
        f"overdue by then, late from the start p50 {p50} ms, max {worst} ms"
    )
    return Goal("late after a restart", worst, 2_000)


def verdict(goals: list[Goal]) -> str:
    """The last line: which goals are met."""
    missed = [str(goal) for goal in goals if not goal.is_met]
    listed = f": {', '.join(missed)}" if missed else ""
    return f"goals: {len(goals) - len(missed)} met, {len(missed)} missed{listed}"


def main() -> int:
    """Run the bench; 0 whatever the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.clock", description=__doc__)
    parser.add_argument("--timers", type=int, default=5_000)
    parser.add_argument("--seconds", type=float, default=20.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        with serve_infra(Path(folder)) as infra:
            namespace = Namespace(infra, Path(folder))
            try:
                namespace.create_topics(PARTITIONS)
                namespace.migrate("clock")
                env = namespace.service_env("clock")
                with ServiceProcess("clock", env, Path(folder) / "clock.log") as clock:
                    goals = uvloop.run(measure(namespace, clock, given.timers, given.seconds))
            finally:
                namespace.drop()
    print(verdict(goals))
    return 0


if __name__ == "__main__":
    sys.exit(main())
