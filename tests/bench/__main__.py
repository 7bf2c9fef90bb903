"""What a move costs at the WebSocket, beside the floor of the same run: `python -m tests.bench`.

A stack of its own is started, played on by one load client, and ended. A table and JSON come out;
the last line says which goals are met. The goals are for two quiet cores, everything on them.
"""

import argparse
import asyncio
import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg

from spades_local.postgres import ADMIN
from tests.bench import beside, floor
from tests.bench.goals import Goal, tell
from tests.bench.processes import usage
from tests.demo.stack import Stack, running

STATE = Path(".spades") / "bench"
ROOT = Path(__file__).parents[2]
SETTINGS = {
    "SPADES_BOT_PACE_MS": "0",
    "SPADES_LOBBY_PORT": "0",
    # A closed loop plays faster than any person; the bound on one socket's frames is not what is measured.
    "SPADES_LOBBY_FRAMES_PER_SECOND": "100000",
    "SPADES_LOBBY_FRAMES_BURST": "100000",
    # Thousands of people come from one address here.
    "SPADES_LOBBY_RATE_SESSIONS": "1000000/minute",
    "SPADES_LOBBY_RATE_REQUESTS": "1000000/minute",
}


@dataclass(frozen=True, slots=True)
class Scenario:
    """So many tables, and how long a person thinks: 0 is a closed loop."""

    name: str
    tables: int
    think_ms: int = 0
    people: int = 4
    """Bots, which play at once, take the other seats."""


WARMING = Scenario("warming", 100)
"""Played first and not shown: Kafka's broker compiles itself while it works, and costs four times as much till then."""
LOOPS = (Scenario("100 tables", 100), Scenario("20 tables", 20), Scenario("1 table", 1))
MANY = Scenario("500 moves/s", 250, 500)
PERSONS = Scenario("20 moves/s", 10, 500)
BOTS = Scenario("with bots", 20, people=1)
BEST_AT_20, BEST_AT_100 = 1_828, 1_383
"""Moves a second of the best peer that stores before it shows, on two quiet cores."""


async def play(stack: Stack, database_url: str, scenario: Scenario, seconds: float) -> dict[str, Any]:
    """Run the load client; its figures, and what the servers used meanwhile."""
    arguments = (stack.address, *map(str, (scenario.tables, seconds, scenario.think_ms, scenario.people)))
    client = await asyncio.create_subprocess_exec(
        *(ROOT / ".venv" / "node", ROOT / "tests" / "bench" / "load.mjs", *arguments), stdout=subprocess.PIPE
    )
    assert client.stdout is not None
    if not await client.stdout.readline():
        raise SystemExit("the load client found no game to play")
    before, written = usage(stack), _writes(database_url)
    figures: dict[str, Any] = json.loads(await client.stdout.readline())
    after, moves = usage(stack), max(1, figures["moves"])
    figures["cpu_us_a_move"] = after.a_move_us(before, moves)
    all_us = sum(figures["cpu_us_a_move"].values()) + figures["client_cpu_us"]
    # On a busy machine the figure to trust: what a move costs, and so what quiet cores could carry.
    figures["cores_used"] = round(all_us * figures["moves_per_s"] / 1e6, 2)
    figures["moves_per_s_and_core"] = round(1e6 / max(1, all_us))
    figures["commits_a_move"], figures["fsyncs_a_move"] = (
        round((now - then) / moves, 2) for now, then in zip(_writes(database_url), written, strict=True)
    )
    await client.wait()
    return figures


def _writes(database_url: str) -> tuple[int, int]:
    """Commits and flushes of the log so far."""
    with psycopg.connect(database_url, autocommit=True) as db:
        db.execute("SELECT pg_stat_force_next_flush()")
        row = db.execute(
            """
            SELECT (SELECT sum(xact_commit) FROM pg_stat_database),
                   (SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal')
            """
        ).fetchone()
    assert row is not None
    return int(row[0] or 0), int(row[1] or 0)


async def measure(seconds: float, peers: Path | None, more: Sequence[int]) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    if peers is not None:
        rows = await beside.play(peers, STATE.resolve() / "peers", [one.tables for one in LOOPS], seconds)
    async with running(STATE, SETTINGS) as stack:
        secrets = json.loads((stack.state / "secrets.json").read_text())
        port = stack.record()["ports"]["postgres"]
        database_url = f"postgresql://{ADMIN}:{secrets[ADMIN]}@127.0.0.1:{port}/postgres"
        result: dict[str, Any] = {"machine": _machine(), "peers": rows}
        await play(stack, database_url, WARMING, seconds)
        result |= await floor.measure(stack.bootstrap, database_url)
        result["scenarios"] = {}
        larger = [Scenario(f"{count} tables", count) for count in more]
        for scenario in (*larger, *LOOPS, MANY, PERSONS, BOTS):
            result["scenarios"][scenario.name] = await play(stack, database_url, scenario, seconds)
        result["resident_mb"] = {name: round(size / 1e6) for name, size in stack.resident_bytes().items()}
    return result


def _machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9),
        "python": platform.python_version(),
        "load_before": round(os.getloadavg()[0], 1),
    }


def goals(result: dict[str, Any]) -> list[Goal]:
    played, base, peers = result["scenarios"], result["floor"], result["peers"]
    at_20, at_100 = beside.best(peers, 20) or BEST_AT_20, beside.best(peers, 100) or BEST_AT_100
    ratio = round(played[PERSONS.name]["p50_ms"] / base["p50_ms"], 2)
    return [
        Goal("moves/s at 20 tables", played["20 tables"]["moves_per_s"], at_20, at_least=True),
        Goal("moves/s at 100 tables", played["100 tables"]["moves_per_s"], round(1.2 * at_100), at_least=True),
        Goal("p99 ms at 20 tables", played["20 tables"]["p99_ms"], 50),
        Goal("p50 of floor at 20 moves/s", ratio, 2),
    ]


def show(result: dict[str, Any]) -> None:
    for name in ("machine", "kafka_round_trip", "commit", "floor", "resident_mb"):
        print(f"{name:18}", "  ".join(f"{key} {value}" for key, value in result[name].items()))
    columns = {
        "moves/s": "moves_per_s",
        "p50 ms": "p50_ms",
        "p99 ms": "p99_ms",
        "max ms": "max_ms",
        "commits": "commits_a_move",
        "fsyncs": "fsyncs_a_move",
        "cores": "cores_used",
        "a core": "moves_per_s_and_core",
    }
    if result["peers"]:
        print(f"\n{'peers':25}{'moves/s':>9}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}  CPU µs a move")
        beside.show(result["peers"])
    print(f"\n{'':12}" + "".join(f"{title:>9}" for title in columns) + "  CPU µs a move")
    for name, one in result["scenarios"].items():
        spent = {**one["cpu_us_a_move"], "client": one["client_cpu_us"]}
        by_process = "  ".join(f"{process} {us}" for process, us in spent.items())
        figures = "".join(f"{one[key]:9}" for key in columns.values())
        print(f"{name:12}{figures}  {by_process}  = {sum(spent.values())}")
        if one["failures"] or one["stalled_tables"]:
            print(f"{'':12}stalled tables {one['stalled_tables']}, failures {one['failures']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--beside", type=Path, metavar="FOLDER", help="a folder whose run.sh plays other servers")
    parser.add_argument("--more", type=int, nargs="*", default=(), metavar="TABLES", help="further closed loops")
    options = parser.parse_args()
    result = asyncio.run(measure(options.seconds, options.beside, options.more))
    show(result)
    STATE.mkdir(parents=True, exist_ok=True)
    (STATE / "bench.json").write_text(json.dumps(result, indent=1) + "\n")
    print(f"\nJSON: {STATE / 'bench.json'}")
    tell(goals(result))


if __name__ == "__main__":
    main()
