"""The table service at the topic: `python -m tests.bench.tables`.

Real tables, real rules, real servers, no gateway: what one table process carries, and what a move
costs it in full. The people are played by this process, which costs about as much as the service.
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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import uvloop

from spades_local.testing import Namespace, serve_infra
from spades_runtime import fetching
from tests.bench import floor
from tests.bench.goals import Goal, tell
from tests.bench.players import Players

PARTITIONS = 8
OPENED_AT_ONCE = 250
"""Tables opened before the next: a service that is asked for all at once answers none of them soon."""
WAVES = 10
"""Four bids and six cards: no hand ends."""
LOOPS = (20, 100, 1_000)
AGED_TABLES, AGED_MOVES = 20, 1_000


@contextmanager
def table_process(namespace: Namespace, **settings: str) -> Iterator[psutil.Popen]:
    """The table service as a process that ends with the block."""
    env = namespace.service_env("table", SPADES_LOG_LEVEL="warning", PATH=os.environ["PATH"], **settings)
    process = psutil.Popen([sys.executable, "-m", "spades_table"], env=env, stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.resume()
            process.terminate()
            process.wait(30)


def cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


async def open_tables(players: Players, name: str, count: int) -> None:
    """Seat four people at each of so many new tables, and wait until every first turn has begun."""
    for start in range(0, count, OPENED_AT_ONCE):
        before = players.ready
        number = min(OPENED_AT_ONCE, count - start)
        await players.open(f"{name}-{start + index}" for index in range(number))
        await players.until(lambda: players.ready >= before + number, "tables")  # noqa: B023 - awaited here


async def drain(players: Players, process: psutil.Process, waves: int) -> dict[str, float]:
    """Waves of one move a table, each a backlog that is worked off in batches as large as a poll may be."""
    moves, used_s, took_s = 0, 0.0, 0.0
    for _ in range(waves):
        # Stopped while the wave is sent, so that what it costs to send it is not in the figure.
        process.suspend()
        count = await players.wave()
        await asyncio.sleep(0.2)
        before, before_s, started_s = players.moves, cpu_s(process), time.perf_counter()
        process.resume()
        await players.until(lambda: players.moves >= before + count, "a wave")  # noqa: B023 - awaited here
        took_s += players.last_move_s - started_s
        await players.until(lambda: players.ready >= count, "the next turns")  # noqa: B023 - awaited here
        used_s += cpu_s(process) - before_s
        moves += count
    return {"per_s": round(moves / took_s), "worker_cpu_us": round(1e6 * used_s / moves, 1), "moves": moves}


async def closed_loop(players: Players, process: psutil.Process, seconds: float) -> dict[str, float]:
    """Every table plays on the moment its next turn is seen."""
    players.plays = True
    await players.wave()
    await asyncio.sleep(1.0)
    players.samples_s.clear()
    before, before_s, own_s, started_s = players.moves, cpu_s(process), time.process_time(), time.perf_counter()
    await asyncio.sleep(seconds)
    took_s, moves = time.perf_counter() - started_s, max(1, players.moves - before)
    used_s, own_s = cpu_s(process) - before_s, time.process_time() - own_s
    figures = floor.percentiles_ms(players.samples_s)
    players.plays = False
    await asyncio.sleep(0.5)
    cpu = {"worker_cpu_us": round(1e6 * used_s / moves, 1), "client_cpu_us": round(1e6 * own_s / moves, 1)}
    return {"per_s": round(moves / took_s), **figures, **cpu}


async def aging(players: Players) -> dict[str, float]:
    """A few long games: what a move takes in their last third, beside the first."""
    players.samples_s.clear()
    players.plays = True
    await players.wave()
    await players.until(lambda: len(players.samples_s) >= AGED_MOVES * AGED_TABLES, "long games")
    players.plays = False
    third = len(players.samples_s) // 3
    first, last = (statistics.median(part) for part in (players.samples_s[:third], players.samples_s[-third:]))
    return {
        "first_third_ms": round(1e3 * first, 2),
        "last_third_ms": round(1e3 * last, 2),
        "to": round(last / first, 2),
    }


async def alone(players: Players, bootstrap: str, database_url: str) -> dict[str, Any]:
    """One move at a time at 20 a second, in turn with a raw round trip and a raw commit."""

    async def move(_: int) -> None:
        players.moved.clear()
        assert await players.wave() == 1
        await players.moved.wait()

    result: dict[str, Any] = await floor.measure(bootstrap, database_url, move=move)
    one, base = result["move"], result["floor"]
    result["to_floor"] = {name: round(one[name] / base[name], 2) for name in ("p50_ms", "p99_ms")}
    return result


async def measure(namespace: Namespace, live: int, seconds: float) -> dict[str, Any]:
    result: dict[str, Any] = {}
    topic = namespace.topic
    with table_process(namespace) as process:
        for count in LOOPS:
            async with Players(namespace.bootstrap, topic, PARTITIONS) as players:
                await open_tables(players, f"loop{count}", count)
                result[f"closed_loop_{count}"] = await closed_loop(players, process, seconds)
        async with Players(namespace.bootstrap, topic, PARTITIONS) as players:
            await open_tables(players, "alone", 1)
            result |= await alone(players, namespace.bootstrap, namespace.admin_url)
        async with Players(namespace.bootstrap, topic, PARTITIONS) as players:
            await open_tables(players, "aged", AGED_TABLES)
            result["aging"] = await aging(players)
    with table_process(namespace) as process:
        async with Players(namespace.bootstrap, topic, PARTITIONS) as players:
            await open_tables(players, "live", live - sum(LOOPS) - 1 - AGED_TABLES)
            result["resident"] = {"tables": live, "mb": round(process.memory_info().rss / 1e6)}
            result["drain"] = await drain(players, process, WAVES)
    return result


def goals(result: dict[str, Any]) -> list[Goal]:
    loop, drained, ratio = result[f"closed_loop_{LOOPS[-1]}"], result["drain"], result["to_floor"]
    return [
        Goal("p50 of floor at 20 moves/s", ratio["p50_ms"], 1.25),
        Goal("p99 of floor at 20 moves/s", ratio["p99_ms"], 2.5),
        Goal("last third of 1,000 moves to the first", result["aging"]["to"], 1.1),
        Goal("moves/s closed loop", loop["per_s"], 5_000, at_least=True),
        Goal("p99 ms closed loop", loop["p99_ms"], 50),
        Goal("moves/s draining", drained["per_s"], 10_000, at_least=True),
        Goal("worker CPU µs a move, draining", drained["worker_cpu_us"], 80),
        Goal(f"resident MB at {result['resident']['tables']} live tables", result["resident"]["mb"], 1_074),
    ]


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=5_000)
    parser.add_argument("--seconds", type=float, default=6.0)
    options = parser.parse_args()
    fetching.install()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        with serve_infra(Path(folder)) as infra:
            namespace = Namespace(infra, Path(folder))
            namespace.create_topics(PARTITIONS)
            namespace.migrate("table")
            try:
                result = await measure(namespace, options.tables, options.seconds)
            finally:
                namespace.drop()
    for name, figures in result.items():
        print(f"{name:18}", "  ".join(f"{key} {value}" for key, value in figures.items()))
    print(json.dumps(result))
    tell(goals(result))


if __name__ == "__main__":
    uvloop.run(main())
