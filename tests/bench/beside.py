"""Other servers for the same kind of game, played on the same machine in the same run.

The folder that is named holds a `run.sh`: it starts each peer in turn under a load client of its own
(four sockets a table, a seat plays the moment it sees its turn) and writes a JSON line a row to OUT.
"""

import asyncio
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PEERS = ("colyseus-pg", "bgio-pg")
STORES_FIRST = "colyseus-pg"
"""The best of them that stores a move before it shows it."""


async def play(folder: Path, scratch: Path, tables: Sequence[int], seconds: float) -> list[dict[str, Any]]:
    """Run the peers; a row each and number of tables. Raises SystemExit where they do not run."""
    scratch.mkdir(parents=True, exist_ok=True)
    results = scratch / "results.jsonl"
    results.unlink(missing_ok=True)
    env = {
        **os.environ,
        "SCRATCH": str(scratch),
        "OUT": str(results),
        "PEERS": " ".join(PEERS),
        "NS": " ".join(map(str, tables)),
        "SECS": str(round(seconds)),
    }
    with (scratch / "run.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            str(folder / "run.sh"), env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        await process.wait()
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for line in results.read_text().splitlines() if results.exists() else ():
        row = json.loads(line)
        if row.get("label") in PEERS and "tables" in row:
            rows.setdefault((row["label"], row["tables"]), {}).update(row)
    if not any("moves_per_s" in row for row in rows.values()):
        raise SystemExit(f"the peers did not play; see {scratch / 'run.log'}")
    return [row for row in rows.values() if "moves_per_s" in row]


def show(rows: Sequence[dict[str, Any]]) -> None:
    for row in rows:
        cpu = ""
        if row.get("server_cpu_s"):
            # What the server used covers the two seconds before the measuring, too.
            share = row["seconds"] / (row["seconds"] + 2)
            cpu = f"server {1e6 * row['server_cpu_s'] * share / max(1, row['moves']):.0f}"
        figures = "".join(f"{row[key]:9}" for key in ("moves_per_s", "p50_ms", "p99_ms", "max_ms"))
        print(f"{row['label']:14}{row['tables']:4} tables{figures}  {cpu}")


def best(rows: Sequence[dict[str, Any]], tables: int) -> float | None:
    """Moves a second of the best peer that stores first; None where it was not played."""
    found = [row["moves_per_s"] for row in rows if row["label"] == STORES_FIRST and row["tables"] == tables]
    return max(found, default=None)
