"""`python -m spades_wallet.audit`: recompute the whole ledger from its transfers and name every row that is wrong.

It reads one snapshot of the database, as the role and from the address that the service has
(SPADES_DATABASE_URL, SPADES_DATABASE_SCHEMA; else those of the local stack that runs here), and uses none of
the service's own sums: hashes, entry numbers and balances are worked out again here, in another language than
they were made in.
Exit 0 where all is well, 1 where a row is wrong, 2 where it could not look.
"""

import argparse
import asyncio
import hashlib
import json
import sys
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import psycopg
from pydantic import ValidationError

from spades_runtime import Database, NotReady, database, local_stack
from spades_wallet.ledger import COINS_MAX, SYSTEM_ACCOUNTS, AccountId
from spades_wallet.settings import WalletSettings

GENESIS: Final = bytes(32)
FAULTS_SHOWN_MAX: Final = 100
FETCH_ROWS: Final = 10_000


class Row(NamedTuple):
    """One transfer as it stands."""

    part: int
    seq: int
    key: str
    fingerprint: bytes
    debit: AccountId
    credit: AccountId
    amount: int
    code: str
    table_id: str | None
    note: str | None
    at_ms: int
    debit_entry_no: int | None
    debit_balance: int | None
    credit_entry_no: int | None
    credit_balance: int | None
    previous_hash: bytes
    hash: bytes

    @property
    def name(self) -> str:
        return f"transfer part {self.part} seq {self.seq} ({self.key})"

    def expected_hash(self) -> bytes:
        told = [self.part, self.seq, self.key, self.fingerprint.hex(), *self[4:15]]
        return hashlib.sha256(self.previous_hash + json.dumps(told, ensure_ascii=False).encode()).digest()


class Entry(NamedTuple):
    """What one transfer says of one account that has a balance."""

    number: int
    balance: int
    moved: int
    row: str


@dataclass(slots=True)
class Report:
    """What was looked at and what is wrong, each fault with the row it is in."""

    transfers: int = 0
    accounts: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, row: str, fault: str) -> None:
        self.faults.append(f"{row}: {fault}")


async def audit(db: Database) -> Report:
    """Check everything, in one snapshot."""
    async with db.transaction():
        await db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        await db.execute("SET LOCAL statement_timeout = 0")
        return await check(db)


async def check(db: Database) -> Report:
    """Check everything that the running transaction sees."""
    report = Report()
    entries: dict[AccountId, list[Entry]] = defaultdict(list)
    sums: dict[AccountId, int] = defaultdict(int)
    settled: dict[str, str] = {}
    chains: dict[int, tuple[int, bytes]] = {}
    checkpoints = await _checkpoints(db)
    # The sum of a system account in one partition, to be compared at its checkpoints.
    running: dict[tuple[str, int], int] = defaultdict(int)
    async for row in _rows(db):
        report.transfers += 1
        _follow_chain(report, row, chains)
        _note_entries(row, entries, sums)
        for account, sign in ((row.debit, -1), (row.credit, 1)):
            if account in SYSTEM_ACCOUNTS:
                running[account, row.part] += sign * row.amount
        for account in SYSTEM_ACCOUNTS:
            _compare_checkpoint(report, checkpoints, account, row, running[account, row.part])
        if row.code == "settle" and row.table_id is not None:
            settled[row.table_id] = row.name
    for of, part, seq in checkpoints:
        report.add(f"checkpoint {of} part {part} seq {seq}", "there is no such transfer")
    await _check_heads(report, db, chains)
    await _check_accounts(report, db, entries, settled)
    await _check_system(report, db, sums)
    return report


async def imbalance_coins(db: Database) -> int:
    """The sum over all accounts, in one snapshot: zero, or coins were made or lost."""
    cursor = await db.execute(
        "SELECT coalesce((SELECT sum(balance) FROM account), 0) + (SELECT sum(balance) FROM system_balance)"
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0] or 0)


async def _rows(db: Database) -> AsyncIterator[Row]:
    async with db.cursor(name="audit") as cursor:
        cursor.itersize = FETCH_ROWS
        await cursor.execute(f"SELECT {', '.join(Row._fields)} FROM transfer ORDER BY part, seq")  # noqa: S608
        async for found in cursor:
            yield Row(*found)


def _follow_chain(report: Report, row: Row, chains: dict[int, tuple[int, bytes]]) -> None:
    last_seq, last_hash = chains.get(row.part, (0, GENESIS))
    if row.seq != last_seq + 1:
        report.add(row.name, f"transfers {last_seq + 1} to {row.seq - 1} of its partition are missing")
    elif row.previous_hash != last_hash:
        report.add(row.name, "does not continue the chain: it or the row before it was changed")
    if row.hash != row.expected_hash():
        report.add(row.name, "its hash is not that of its content: the row was changed")
    chains[row.part] = (row.seq, row.hash)


def _note_entries(row: Row, entries: dict[AccountId, list[Entry]], sums: dict[AccountId, int]) -> None:
    sides = (
        (row.debit, -row.amount, row.debit_entry_no, row.debit_balance),
        (row.credit, row.amount, row.credit_entry_no, row.credit_balance),
    )
    for account, moved, number, balance in sides:
        sums[account] += moved
        if account not in SYSTEM_ACCOUNTS:
            entries[account].append(Entry(number or 0, balance or 0, moved, row.name))


async def _checkpoints(db: Database) -> dict[tuple[str, int, int], int]:
    cursor = await db.execute("SELECT account, part, seq, balance FROM checkpoint")
    return {(account, part, seq): balance for account, part, seq, balance in await cursor.fetchall()}


def _compare_checkpoint(
    report: Report, checkpoints: dict[tuple[str, int, int], int], account: str, row: Row, running: int
) -> None:
    noted = checkpoints.pop((account, row.part, row.seq), None)
    if noted is not None and noted != running:
        name = f"checkpoint {account} part {row.part} seq {row.seq}"
        report.add(name, f"says {noted}, the transfers up to it make {running}")


async def _check_heads(report: Report, db: Database, chains: dict[int, tuple[int, bytes]]) -> None:
    cursor = await db.execute("SELECT part, seq, hash FROM chain ORDER BY part")
    for part, seq, last_hash in await cursor.fetchall():
        found_seq, found_hash = chains.pop(part, (0, GENESIS))
        if (seq, last_hash) != (found_seq, found_hash):
            report.add(f"chain part {part}", f"ends at {seq}, the transfers at {found_seq}, or with another hash")
    for part in chains:
        report.add(f"chain part {part}", "is missing")


async def _check_accounts(
    report: Report, db: Database, entries: dict[AccountId, list[Entry]], settled: dict[str, str]
) -> None:
    cursor = await db.execute("SELECT id, kind, table_id, balance, entry_no, shut FROM account ORDER BY id")
    async for account, kind, table, balance, entry_no, shut in cursor:
        report.accounts += 1
        name = f"account {account}"
        number, sum_coins = _walk(report, name, sorted(entries.pop(account, [])))
        if balance != sum_coins:
            report.add(name, f"has {balance}, its transfers make {sum_coins}")
        if entry_no != number:
            report.add(name, f"counts {entry_no} entries, the transfers make {number}")
        if balance < 0 or balance > COINS_MAX:
            report.add(name, f"has {balance}, outside of what an account may have")
        if kind != "player" and table in settled and balance != 0:
            report.add(name, f"holds {balance} of a game that was settled by {settled[table]}")
        if shut and balance != 0:
            report.add(name, f"was shut and has {balance}")
    for account, missing in sorted(entries.items()):
        report.add(missing[0].row, f"moves coins of {account}, which does not exist")


def _walk(report: Report, name: str, entries: list[Entry]) -> tuple[int, int]:
    """Follow an account through its entries; the last number and the sum."""
    number = balance = 0
    for entry in entries:
        if entry.number != number + 1:
            report.add(entry.row, f"is entry {entry.number} of {name}, after entry {number}")
        elif entry.balance != balance + entry.moved:
            report.add(entry.row, f"leaves {name} {entry.balance}, {balance} and {entry.moved} make another sum")
        number, balance = entry.number, balance + entry.moved
    return number, balance


async def _check_system(report: Report, db: Database, sums: dict[AccountId, int]) -> None:
    cursor = await db.execute("SELECT account, balance FROM system_balance")
    for account, balance in await cursor.fetchall():
        if (balance or 0) != sums[account]:
            report.add(f"system account {account}", f"stands at {balance}, its transfers make {sums[account]}")
        if abs(sums[account]) > COINS_MAX:
            report.add(f"system account {account}", "is beyond the exact integers")
    total = await imbalance_coins(db)
    if total != 0:
        report.add("ledger", f"all accounts together make {total}, not zero")


async def _main() -> int:
    if not local_stack.adopt("wallet", "SPADES_DATABASE_URL"):
        sys.stderr.write("Set SPADES_DATABASE_URL to the wallet's database, or start the local stack here.\n")
        return 2
    try:
        # Kafka is not asked, so nobody has to say where it is.
        settings = WalletSettings(kafka_bootstrap="")  # type: ignore[call-arg]  # the rest is in the environment
        db = await database.connect(settings)
        try:
            return _told(await audit(db))
        finally:
            await db.close()
    except (ValidationError, NotReady, psycopg.Error) as error:
        sys.stderr.write(f"The ledger could not be read: {error}\n")
        return 2


def _told(report: Report) -> int:
    for fault in report.faults[:FAULTS_SHOWN_MAX]:
        sys.stdout.write(f"WRONG {fault}\n")
    looked_at = f"{report.transfers} transfers, {report.accounts} accounts"
    if report.faults:
        sys.stdout.write(f"{looked_at}: {len(report.faults)} faults\n")
        return 1
    sys.stdout.write(f"{looked_at}: sum 0, every balance and every hash right\n")
    return 0


def main() -> int:
    """Run the audit; the process's exit code."""
    argparse.ArgumentParser(prog="python -m spades_wallet.audit", description=__doc__).parse_args()
    return asyncio.run(_main())


if __name__ == "__main__":
    sys.exit(main())
