"""Kills and frozen owners under load: `python -m tests.bench.recovery`.

One table process serves people who play as fast as they can. It is killed and started again, over and
over; then one is frozen past its session while another takes over; then members come and go. In the
end everything that was sent is compared with what is stored and with what was published.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import psycopg
import uvloop
from aiokafka import AIOKafkaConsumer, TopicPartition

from spades_events import Topic
from spades_local.testing import Namespace, serve_infra
from spades_runtime import fetching
from spades_runtime.schema import quoted
from tests.bench.goals import Goal, tell
from tests.bench.players import Players
from tests.bench.tables import PARTITIONS, open_tables, table_process

BUSY = 100
"""Tables that play in a closed loop; all others wait for their people."""
BETWEEN_KILLS_S = (0.3, 1.0)
FENCED = 3
SESSION_MS = "3000"


async def kills(namespace: Namespace, players: Players, live: int, count: int) -> dict[str, Any]:
    """Kill and start again so many times; how long after each start the first move was seen."""
    await _enough(namespace, players, live)
    firsts_s: list[float] = []
    rates: list[float] = []
    for _ in range(count):
        with table_process(namespace) as process:
            started_s, before = time.perf_counter(), players.moves
            await players.until(lambda: players.moves > before, "a move again")  # noqa: B023 - awaited here
            firsts_s.append(players.last_move_s - started_s)
            played, from_s = players.moves, time.perf_counter()
            await asyncio.sleep(random.uniform(*BETWEEN_KILLS_S))
            rates.append((players.moves - played) / (time.perf_counter() - from_s))
            process.kill()
            process.wait()
    return {
        "kills": count,
        "moves_per_s": round(statistics.mean(rates)),
        "first_move_s_p50": round(statistics.median(firsts_s), 2),
        "first_move_s_max": round(max(firsts_s), 2),
    }


async def _enough(namespace: Namespace, players: Players, live: int) -> None:
    """Open tables until so many are live; the first of them play, the others wait."""
    missing = live - len(players.games)
    with table_process(namespace):
        if not players.games:
            await open_tables(players, "busy", BUSY)
            players.plays = True
            await players.wave()
            missing -= BUSY
        players.idle_from = len(players.games)
        await open_tables(players, f"live{live}", missing)


async def frozen(namespace: Namespace, players: Players) -> dict[str, Any]:
    """An owner is frozen past its session and wakes when another has taken over."""
    first = table_process(namespace, SPADES_MEMBER_ID="table-0", SPADES_SESSION_MS=SESSION_MS)
    second = table_process(namespace, SPADES_MEMBER_ID="table-1", SPADES_SESSION_MS=SESSION_MS)
    with first as owner:
        await _plays(players)
        owner.suspend()
        with second:
            started_s = time.perf_counter()
            await _plays(players)
            taken_s = players.last_move_s - started_s
            owner.resume()
            code = await asyncio.to_thread(owner.wait, 60)
            await _plays(players)
    return {"exit_code": code, "others_play_s": round(taken_s, 2)}


async def coming_and_going(namespace: Namespace, players: Players, rounds: int) -> dict[str, Any]:
    """Members join and leave in order while all play."""
    with table_process(namespace, SPADES_MEMBER_ID="table-0", SPADES_SESSION_MS=SESSION_MS):
        for number in range(rounds):
            with table_process(namespace, SPADES_MEMBER_ID=f"table-{number + 1}", SPADES_SESSION_MS=SESSION_MS):
                await _all_play(players)
            await _all_play(players)
        players.plays = False
        await players.until(lambda: _answered(namespace) >= players.sent.total(), "all answers")
    return {"rounds": rounds}


async def _plays(players: Players) -> None:
    before = players.moves
    await players.until(lambda: players.moves >= before + BUSY, "play")


async def _all_play(players: Players) -> None:
    """Every busy table has moved: so every partition has an owner."""
    busy = [game for game in players.games.values() if not game.idle and not game.ended]
    before = {game.table_id: game.version for game in busy}
    await players.until(
        lambda: all(game.ended or game.version > before[game.table_id] for game in busy), "play everywhere"
    )


def _answered(namespace: Namespace) -> int:
    return int(_stored(namespace, "SELECT count(*) FROM answer WHERE account <> 'clock'")[0][0])


def _stored(namespace: Namespace, query: str) -> list[tuple[Any, ...]]:
    database = namespace.databases["table"]
    with psycopg.connect(database.app_url, autocommit=True) as db:
        db.execute(f"SET search_path = {quoted(database.schema)}")
        return db.execute(query.encode()).fetchall()


async def audit(namespace: Namespace, players: Players) -> dict[str, int]:
    """Compare what was sent with what is stored, and what is stored with what was published."""
    # What the table does by itself, as giving an outage's time back, answers nobody's command.
    rows = _stored(
        namespace,
        """
        SELECT stream, count(*) FILTER (WHERE account <> 'clock'), max(last_version),
               sum(last_version - first_version + 1)
          FROM answer GROUP BY stream
        """,
    )
    stored = {stream: (answers, last, events) for stream, answers, last, events in rows}
    published, differing = await _published(namespace)
    lost = sum(max(0, sent - stored.get(table, (0, 0, 0))[0]) for table, sent in players.sent.items())
    lost += sum(max(0, game.version - stored[game.table_id][1]) for game in players.games.values())
    twice = sum(max(0, stored[table][0] - sent) for table, sent in players.sent.items()) + differing
    twice += sum(max(0, int(events) - last) for _, last, events in stored.values())
    gaps = len(players.gaps)
    for stream, (_, last, _) in stored.items():
        gaps += len(set(range(1, last + 1)) ^ published[stream])
    return {"commands": players.sent.total(), "moves": players.moves, "lost": lost, "duplicated": twice, "gaps": gaps}


async def _published(namespace: Namespace) -> tuple[dict[str, set[int]], int]:
    """The versions of each stream in the topic, and how many came again with another body."""
    consumer = AIOKafkaConsumer(bootstrap_servers=namespace.bootstrap, auto_offset_reset="earliest")
    await consumer.start()
    partitions = [TopicPartition(namespace.topic(Topic.TABLE_EVENTS), part) for part in range(PARTITIONS)]
    consumer.assign(partitions)
    ends = await consumer.end_offsets(partitions)
    bodies: dict[tuple[bytes, bytes], int] = {}
    versions: dict[str, set[int]] = defaultdict(set)
    differing = 0
    missing = {partition for partition, end in ends.items() if end}
    while missing:
        for partition, records in (await consumer.getmany(timeout_ms=200)).items():
            for record in records:
                version = dict(record.headers)["ce_sequence"]
                print_of = hash(record.value)
                differing += bodies.setdefault((record.key, version), print_of) != print_of
                versions[record.key.decode()].add(int(version))
            if records[-1].offset >= ends[partition] - 1:
                missing.discard(partition)
    await consumer.stop()
    return versions, differing


async def measure(namespace: Namespace, rounds: Sequence[tuple[int, int]]) -> dict[str, Any]:
    result: dict[str, Any] = {"machine": {"load": round(psutil.getloadavg()[0], 1), "cores": psutil.cpu_count()}}
    async with Players(namespace.bootstrap, namespace.topic, PARTITIONS) as players:
        for live, count in rounds:
            result[f"{live} tables"] = await kills(namespace, players, live, count)
        result["frozen"] = await frozen(namespace, players)
        result["members"] = await coming_and_going(namespace, players, 2)
        result["audit"] = await audit(namespace, players)
    return result


def goals(result: dict[str, Any], rounds: Sequence[tuple[int, int]]) -> list[Goal]:
    audited = result["audit"]
    limits_s = {1_000: 3.0, 5_000: 6.0}
    return [
        *(Goal(name, audited[name], 0) for name in ("lost", "duplicated", "gaps")),
        Goal("exit code of the frozen owner", result["frozen"]["exit_code"], FENCED),
        *(
            Goal(f"first move s, {live} tables", result[f"{live} tables"]["first_move_s_max"], limits_s[live])
            for live, _ in rounds
            if live in limits_s
        ),
    ]


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--many", type=int, default=5_000, help="live tables of the second round, with 3 kills")
    options = parser.parse_args()
    fetching.install()
    rounds = ((1_000, options.kills), (options.many, 3))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        with serve_infra(Path(folder)) as infra:
            namespace = Namespace(infra, Path(folder))
            namespace.create_topics(PARTITIONS)
            namespace.migrate("table")
            try:
                result = await measure(namespace, rounds)
            finally:
                namespace.drop()
    for name, figures in result.items():
        print(f"{name:14}", "  ".join(f"{key} {value}" for key, value in figures.items()))
    print(json.dumps(result))
    tell(goals(result, rounds))


if __name__ == "__main__":
    sys.exit(uvloop.run(main()))
