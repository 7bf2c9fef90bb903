"""The floor under a move, measured on the same servers: a raw Kafka round trip, a raw commit of one row."""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

import psycopg
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from psycopg.types.numeric import Int8

SAMPLES = 150
WARM = 20
PER_S = 20
TOPIC = "bench.floor"


def percentiles_ms(samples_s: list[float]) -> dict[str, float]:
    ordered = sorted(samples_s)
    return {
        "p50_ms": round(1_000 * statistics.median(ordered), 2),
        "p99_ms": round(1_000 * ordered[int(len(ordered) * 0.99)], 2),
        "max_ms": round(1_000 * ordered[-1], 2),
    }


Step = Callable[[int], Awaitable[None]]


async def measure(bootstrap: str, database_url: str, **more: Step) -> dict[str, dict[str, float]]:
    """All in turn at 20 a second, so that whatever else the machine does weighs on all alike.

    `more` names further steps to be measured among them.
    """
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    await admin.create_topics([NewTopic(TOPIC, 1, 1)])
    await admin.close()
    partition = TopicPartition(TOPIC, 0)
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", enable_idempotence=True)
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, fetch_max_wait_ms=50, auto_offset_reset="earliest")
    await producer.start()
    await consumer.start()
    consumer.assign([partition])
    db = await psycopg.AsyncConnection.connect(database_url, autocommit=True)
    await db.execute("CREATE TABLE bench_floor (id bigint PRIMARY KEY, body text)")

    async def round_trip(_: int) -> None:
        await producer.send(TOPIC, b"x" * 200, key=b"k", partition=0)
        await consumer.getone()

    async def commit(number: int) -> None:
        await db.execute("INSERT INTO bench_floor VALUES (%s, %s)", [Int8(number), "x" * 400], prepare=True)

    try:
        trips, commits, *others = await _in_turn(round_trip, commit, *more.values())
        await db.execute("DROP TABLE bench_floor")
    finally:
        await asyncio.gather(producer.stop(), consumer.stop(), db.close())
    floor = {name: round(2 * trips[name] + commits[name], 2) for name in ("p50_ms", "p99_ms")}
    return {"kafka_round_trip": trips, "commit": commits, "floor": floor, **dict(zip(more, others, strict=True))}


async def _in_turn(*steps: Step) -> list[dict[str, float]]:
    samples: list[list[float]] = [[] for _ in steps]
    for number in range(WARM + SAMPLES):
        for step, taken in zip(steps, samples, strict=True):
            await asyncio.sleep(1 / PER_S / len(steps))
            started_s = time.perf_counter()
            await step(number)
            taken.append(time.perf_counter() - started_s)
    return [percentiles_ms(taken[WARM:]) for taken in samples]
