"""What the partition worker costs, beside the floor measured in the same run: `python -m tests.bench.runtime`.

The domain is a counter, so nearly all that is measured is the runtime. The floor of one step is two
Kafka round trips (the command in, the event out) and one commit of the same row.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
import psycopg
import uvloop
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from psycopg.types.numeric import Int8

from spades_local.testing import Namespace, serve_infra
from spades_runtime import partition_of
from tests.runtime.corner import Corner
from tests.runtime.counter import COMMANDS, EVENTS, command

SLOW_STEPS = 200
SLOW_PER_S = 20
WARM_STEPS = 20
BACKLOG = 20_000
STREAMS = 400


def percentiles(samples_s: list[float]) -> dict[str, float]:
    ordered = sorted(samples_s)
    return {
        "p50_ms": round(1_000 * statistics.median(ordered), 3),
        "p99_ms": round(1_000 * ordered[int(len(ordered) * 0.99)], 3),
        "max_ms": round(1_000 * ordered[-1], 3),
    }


async def steps_and_floor(corner: Corner) -> dict[str, Any]:
    """One at a time, at 20 a second, in turn: a raw round trip, a raw commit, a whole step.

    In turn, because what else the machine does then weighs on all three alike.
    """
    raw_topic = corner.namespace.topic("lobby.events")
    producer = await _producer(corner)
    raw, events = await _consumer(corner, raw_topic), await _consumer(corner, corner.namespace.topic(EVENTS))
    database = corner.namespace.databases["table"]
    owner = await psycopg.AsyncConnection.connect(database.owner_url, autocommit=True)
    await owner.execute(f'CREATE TABLE "{database.schema}".floor (id bigint PRIMARY KEY, body text)'.encode())
    insert = f'INSERT INTO "{database.schema}".floor VALUES (%s, %s)'.encode()

    async def round_trip(number: int) -> None:
        await producer.send(raw_topic, b"x" * 200, key=b"k", partition=number % corner.partitions)
        await raw.getone()

    async def commit(number: int) -> None:
        await owner.execute(insert, [Int8(number), "x" * 400], prepare=True)

    async def step(number: int) -> None:
        await _send(producer, corner, f"s{number % 20}", f"step{number}")
        await events.getone()

    samples: dict[str, list[float]] = {"kafka_round_trip": [], "commit": [], "step_at_20_per_s": []}
    for number in range(SLOW_STEPS + WARM_STEPS):
        for name, one in zip(samples, (round_trip, commit, step), strict=True):
            await asyncio.sleep(1 / SLOW_PER_S / len(samples))
            started_s = time.perf_counter()
            await one(number)
            samples[name].append(time.perf_counter() - started_s)
    await asyncio.gather(producer.stop(), raw.stop(), events.stop(), owner.close())
    result: dict[str, Any] = {name: percentiles(taken[WARM_STEPS:]) for name, taken in samples.items()}
    names = ("p50_ms", "p99_ms")
    floor = {name: round(2 * result["kafka_round_trip"][name] + result["commit"][name], 3) for name in names}
    result["floor"] = floor
    result["step_to_floor"] = {name: round(result["step_at_20_per_s"][name] / floor[name], 2) for name in names}
    return result


async def closed_loop(corner: Corner, in_flight: int, limit_s: float) -> dict[str, float]:
    """So many streams, each sending its next command as soon as it sees its event."""
    producer = await _producer(corner)
    consumer = await _consumer(corner, corner.namespace.topic(EVENTS))
    sent_s: dict[str, float] = {}
    samples: list[float] = []
    number = 0
    for stream in range(in_flight):
        sent_s[f"l{stream}"] = time.perf_counter()
        await _send(producer, corner, f"l{stream}", f"loop{in_flight}-{stream}")
    until_s = time.perf_counter() + limit_s
    started_s = time.perf_counter()
    while time.perf_counter() < until_s:
        for batch in (await consumer.getmany(timeout_ms=200)).values():
            for record in batch:
                key = record.key.decode()
                samples.append(time.perf_counter() - sent_s[key])
                number += 1
                sent_s[key] = time.perf_counter()
                await _send(producer, corner, key, f"loop{in_flight}-{key}-{number}")
    took_s = time.perf_counter() - started_s
    await producer.stop()
    await consumer.stop()
    return {"per_s": round(len(samples) / took_s), **percentiles(samples)}


async def drain(corner: Corner, env: Mapping[str, str]) -> dict[str, float]:
    """A backlog sent while no worker runs, then worked off."""
    await corner.add_many((f"b{number % STREAMS}", f"drain{number}", 1) for number in range(BACKLOG))
    before = corner.answered()
    with worker(env) as process:
        # Without the start: imports and joining are not what is measured.
        await corner.until(lambda: corner.answered() > before + BACKLOG // 10, "the first tenth")
        first, started_s, cpu_s = corner.answered(), time.perf_counter(), _cpu_s(process)
        await corner.until(lambda: corner.answered() >= before + BACKLOG, "the backlog")
        took_s, used_s = time.perf_counter() - started_s, _cpu_s(process) - cpu_s
        done = before + BACKLOG - first
        return {
            "per_s": round(done / took_s),
            "worker_cpu_us": round(1e6 * used_s / done, 1),
            "rss_mb": round(psutil.Process(process.pid).memory_info().rss / 1e6),
        }


class worker:  # noqa: N801 - read as `with worker(env)`
    """The counter worker as a process, ended with the block."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = dict(env)

    def __enter__(self) -> "subprocess.Popen[bytes]":
        profiled = os.environ.get("BENCH_PROFILE")
        python = [sys.executable, *(["-m", "cProfile", "-o", profiled] if profiled else [])]
        self._process = subprocess.Popen([*python, "-m", "tests.runtime.counter_worker"], env=self._env)
        return self._process

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(30)


def _cpu_s(process: "subprocess.Popen[bytes]") -> float:
    times = psutil.Process(process.pid).cpu_times()
    return float(times.user + times.system)


async def _producer(corner: Corner) -> AIOKafkaProducer:
    producer = AIOKafkaProducer(bootstrap_servers=corner.namespace.bootstrap, acks="all", enable_idempotence=True)
    await producer.start()
    return producer


async def _consumer(corner: Corner, topic: str) -> AIOKafkaConsumer:
    consumer = AIOKafkaConsumer(bootstrap_servers=corner.namespace.bootstrap, fetch_max_wait_ms=50)
    await consumer.start()
    partitions = [TopicPartition(topic, part) for part in range(corner.partitions)]
    consumer.assign(partitions)
    for partition, end in (await consumer.end_offsets(partitions)).items():
        consumer.seek(partition, end)
    await consumer.getmany(timeout_ms=200)
    return consumer


async def _send(producer: AIOKafkaProducer, corner: Corner, stream: str, command_id: str) -> None:
    value, headers = command(stream, command_id, b'{"add": 1}')
    await producer.send(
        corner.namespace.topic(COMMANDS),
        value,
        key=stream.encode(),
        partition=partition_of(stream, corner.partitions),
        headers=headers,
    )


async def measure(corner: Corner, env: Mapping[str, str]) -> dict[str, Any]:
    result: dict[str, Any] = {"drain": await drain(corner, env)}
    with worker(env):
        await corner.add("ready", "ready")
        before = corner.answered()
        await corner.until(lambda: corner.answered() > before, "the worker")
        result |= await steps_and_floor(corner)
        for in_flight in (20, 100, 1_000):
            result[f"closed_loop_{in_flight}"] = await closed_loop(corner, in_flight, 4.0)
    return result


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        with serve_infra(Path(folder)) as infra:
            corner = Corner(Namespace(infra, Path(folder)), options.partitions)
            corner.prepare()
            try:
                env = corner.env(SPADES_LOG_LEVEL="warning", PATH=os.environ["PATH"])
                result = await measure(corner, env)
            finally:
                await corner.close()
                corner.namespace.drop()
    for name, figures in result.items():
        print(f"{name:20}", "  ".join(f"{key} {value}" for key, value in figures.items()))
    print(json.dumps(result))


if __name__ == "__main__":
    uvloop.run(main())
