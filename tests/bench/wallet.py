"""How fast the ledger takes transfers with the house, beside a plain ledger whose house is one hot row.

`make bench-wallet`. Both designs run in turns on the same PostgreSQL, with as many connections, as many
transfers a transaction and as many round trips; both keep balances, a unique key a transfer, and its
row. The plain one does no more than that; ours chains hashes, numbers entries and knows repeated
requests besides. Two shapes: a transaction as the wallet's worker makes it (lock the accounts, decide
on their balances, post, commit), and the bare call.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import NamedTuple

import psycopg

from spades_local.testing import Namespace, serve_infra
from spades_runtime import Database

CLIENTS = 16
POTS = 512
ROUNDS = 3
ROUND_S = 2.0
SIZES = (1, 4)
TIMES_MIN = 2.0

PLAIN = (
    "CREATE TABLE plain_account (id text PRIMARY KEY, balance bigint NOT NULL) WITH (fillfactor = 50)",
    """
    CREATE TABLE plain_transfer (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key text NOT NULL UNIQUE, debit text NOT NULL,
        credit text NOT NULL, amount bigint NOT NULL, code text NOT NULL, at_ms bigint NOT NULL)
    """,
    "INSERT INTO plain_account VALUES ('house', 0)",
    f"INSERT INTO plain_account SELECT 'pot:' || n, 0 FROM generate_series(0, {POTS - 1}) AS n",
    # The accounts in the order of their ids, so that nobody deadlocks: the house among them.
    """
    CREATE FUNCTION plain_lock(ids text[]) RETURNS SETOF plain_account LANGUAGE sql AS $$
        SELECT * FROM plain_account WHERE id = ANY (ids) ORDER BY id FOR UPDATE $$
    """,
    """
    CREATE FUNCTION plain_post(rows jsonb) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE r record;
    BEGIN
        PERFORM 1 FROM plain_account WHERE id IN (
            SELECT x.id FROM jsonb_to_recordset(rows) AS q(debit text, credit text),
                   LATERAL (VALUES (q.debit), (q.credit)) AS x(id)) ORDER BY id FOR UPDATE;
        FOR r IN SELECT * FROM jsonb_to_recordset(rows) AS q(
            key text, debit text, credit text, amount bigint, code text, at_ms bigint)
        LOOP
            UPDATE plain_account SET balance = balance - r.amount WHERE id = r.debit;
            UPDATE plain_account SET balance = balance + r.amount WHERE id = r.credit;
            INSERT INTO plain_transfer (key, debit, credit, amount, code, at_ms)
            VALUES (r.key, r.debit, r.credit, r.amount, r.code, r.at_ms);
        END LOOP;
    END $$
    """,
)

_keys = count()


class Design(NamedTuple):
    """The two functions of a ledger."""

    lock: str
    post: str


OURS = Design("SELECT * FROM lock_accounts(%s::text[])", "SELECT FROM post(%s::jsonb)")
HOT_ROW = Design("SELECT * FROM plain_lock(%s::text[])", "SELECT FROM plain_post(%s::jsonb)")


def stakes(client: int, size: int) -> list[dict[str, object]]:
    """House stakes for pots of the client's own, as its partition's tables would bring them."""
    return [
        {
            "part": client,
            "key": f"house_stake:{n}",
            "fingerprint": "ab" * 32,
            "debit": "house",
            "credit": f"pot:{(n * CLIENTS + client) % POTS}",
            "amount": 100,
            "code": "house_stake",
            "table_id": f"{(n * CLIENTS + client) % POTS}",
            "at_ms": 1,
        }
        for n in (next(_keys) for _ in range(size))
    ]


async def worker(db: Database, design: Design, rows: list[dict[str, object]]) -> None:
    """A transaction as the partition worker makes it. Our house has no row to lock."""
    async with db.transaction():
        accounts = sorted({str(row["credit"]) for row in rows} | {"house"})
        await (await db.execute(design.lock, [accounts])).fetchall()
        await db.execute(design.post, [json.dumps(rows)])


async def call(db: Database, design: Design, rows: list[dict[str, object]]) -> None:
    """Nothing but the call."""
    await db.execute(design.post, [json.dumps(rows)])


Shape = Callable[[Database, Design, list[dict[str, object]]], Awaitable[None]]
SHAPES: tuple[tuple[str, Shape], ...] = (("as the worker", worker), ("bare call", call))


async def rate(connections: list[Database], shape: Shape, design: Design, size: int) -> float:
    """Transfers a second with every connection posting without pause."""
    end_s = time.perf_counter() + ROUND_S
    posted = 0

    async def client(number: int) -> None:
        nonlocal posted
        while time.perf_counter() < end_s:
            await shape(connections[number], design, stakes(number, size))
            posted += size

    started_s = time.perf_counter()
    await asyncio.gather(*(client(number) for number in range(len(connections))))
    return posted / (time.perf_counter() - started_s)


async def connected(url: str, schema: str) -> list[Database]:
    return [
        await psycopg.AsyncConnection.connect(
            url, autocommit=True, options=f"-c search_path={schema}", prepare_threshold=0
        )
        for _ in range(CLIENTS)
    ]


async def measured(namespace: Namespace) -> dict[str, float]:
    """How many times the hot row's rate ours is: medians over several turns, printed as they come."""
    own = namespace.databases["wallet"]
    with psycopg.connect(own.owner_url, autocommit=True, options=f"-c search_path={own.schema}") as owner:
        for statement in PLAIN:
            owner.execute(statement)
    connections = await connected(own.owner_url, own.schema)
    figures: dict[str, float] = {}
    try:
        for name, shape in SHAPES:
            for size in SIZES:
                ours, hot = [], []
                for _ in range(ROUNDS):
                    ours.append(await rate(connections, shape, OURS, size))
                    hot.append(await rate(connections, shape, HOT_ROW, size))
                fast, slow = statistics.median(ours), statistics.median(hot)
                label = f"{name}, {size} a transaction"
                figures[label] = fast / slow
                print(f"{label:<32} {fast:7.0f} transfers/s hot house, {slow:7.0f} hot row: {fast / slow:.1f}×")
    finally:
        for connection in connections:
            await connection.close()
    return figures


def verdict(figures: dict[str, float]) -> str:
    """The last line: which goals are met."""
    missed = [f"{name} ({times:.1f}×, {TIMES_MIN:.1f}×)" for name, times in figures.items() if times < TIMES_MIN]
    listed = f": {', '.join(missed)}" if missed else ""
    return f"goals: {len(figures) - len(missed)} met, {len(missed)} missed{listed}"


def main() -> int:
    """Run the bench; 0 whatever the figures."""
    argparse.ArgumentParser(prog="python -m tests.bench.wallet", description=__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        with serve_infra(Path(folder)) as infra:
            namespace = Namespace(infra, Path(folder))
            try:
                namespace.migrate("wallet")
                figures = asyncio.run(measured(namespace))
            finally:
                namespace.drop()
    print(verdict(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
