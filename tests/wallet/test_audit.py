"""The audit: silent on a right ledger, and naming the row where somebody with every right has changed one."""

import io
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import psycopg
import pytest
import pytest_asyncio

from spades_events.commands import GrantCoins, OpenAccount
from spades_local.testing import Namespace
from spades_runtime import Database
from spades_wallet.audit import audit, check, imbalance_coins
from tests.wallet import conformance
from tests.wallet.desk import Desk, desk_at
from tests.wallet.games import WIN_1, CoinGame

pytestmark = pytest.mark.real

CASES = Path(__file__).parents[1] / "cases" / "settlement.json"


SETTLED = CoinGame(table="settled", stake=25, people=(0, 1, 3), leaves=(3,), end=WIN_1)
RUNNING = CoinGame(table="running", stake=100, people=(0, 2))
KEY = "payout:settled:1:1"


@pytest_asyncio.fixture
async def played(ledger: Namespace, desk: Desk) -> Desk:
    """A settled game, one that runs, and a reason that JSON has to escape. A second call changes nothing."""
    for game in (SETTLED, RUNNING):
        for seat in game.people:
            await desk.ask(game.name(seat), OpenAccount(), f"open-{game.name(seat)}")
    await desk.tell(SETTLED, *SETTLED.facts())
    await desk.tell(RUNNING, RUNNING.reserved(0), RUNNING.reserved(2), RUNNING.locked())
    await desk.ask("settled-u0", GrantCoins(amount_coins=7, reason='Grüße „Zoë“ \\ ♠ "\u007f\u2028'), "grant")
    return desk


@pytest_asyncio.fixture
async def superuser(ledger: Namespace) -> AsyncIterator[Database]:
    """Somebody who has removed every safeguard first; what they change is rolled back."""
    schema = ledger.databases["wallet"].schema
    async with await psycopg.AsyncConnection.connect(ledger.admin_url, options=f"-c search_path={schema}") as admin:
        for table in ("transfer", "checkpoint"):
            await admin.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        await admin.execute("ALTER TABLE account DROP CONSTRAINT account_shut_is_empty")
        yield admin
        await admin.rollback()


async def faults_after(superuser: Database, statement: str) -> list[str]:
    await superuser.execute(statement)
    return (await check(superuser)).faults


async def seq_of(desk: Desk, key: str) -> int:
    cursor = await desk.db.execute("SELECT seq FROM transfer WHERE key = %s", [key])
    found = await cursor.fetchone()
    assert found is not None
    return int(found[0])


async def test_a_right_ledger_has_no_fault(played: Desk) -> None:
    report = await audit(played.db)
    assert report.faults == []
    assert report.transfers > 20
    assert await imbalance_coins(played.db) == 0


@pytest.mark.parametrize(
    "column",
    [
        "amount = 51",
        "credit = 'settled-u0'",
        "note = 'x'",
        "at_ms = 5",
        "fingerprint = sha256('x')",
        "code = 'stake_back'",
    ],
)
async def test_a_changed_transfer_is_named(played: Desk, superuser: Database, column: str) -> None:
    faults = await faults_after(superuser, f"UPDATE transfer SET {column} WHERE key = '{KEY}'")
    named = f"transfer part 0 seq {await seq_of(played, KEY)} ({KEY})"
    changed = [fault for fault in faults if "the row was changed" in fault]
    assert changed == [f"{named}: its hash is not that of its content: the row was changed"]


async def test_a_transfer_changed_together_with_its_hash_breaks_the_chain_behind_it(
    played: Desk, superuser: Database
) -> None:
    seq = await seq_of(played, KEY)
    faults = await faults_after(superuser, f"UPDATE transfer SET hash = sha256('forged') WHERE key = '{KEY}'")
    assert any(f"seq {seq + 1} " in fault and "does not continue the chain" in fault for fault in faults)


async def test_a_removed_transfer_is_named(played: Desk, superuser: Database) -> None:
    seq = await seq_of(played, KEY)
    faults = await faults_after(superuser, f"DELETE FROM transfer WHERE key = '{KEY}'")
    assert any(f"transfers {seq} to {seq} of its partition are missing" in fault for fault in faults)


async def test_a_removed_end_of_the_chain_is_noticed(played: Desk, superuser: Database) -> None:
    faults = await faults_after(superuser, "DELETE FROM transfer WHERE seq = (SELECT max(seq) FROM transfer)")
    assert any(fault.startswith("chain part 0: ends at") for fault in faults)


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE account SET balance = balance + 1 WHERE id = 'settled-u1'", "account settled-u1: has"),
        ("UPDATE account SET entry_no = entry_no + 1 WHERE id = 'settled-u1'", "account settled-u1: counts"),
        ("DELETE FROM account WHERE id = 'hold:running:0:1'", "moves coins of hold:running:0:1, which does not exist"),
        ("UPDATE account SET balance = 100 WHERE id = 'pot:settled'", "account pot:settled: holds 100 of a game"),
        ("INSERT INTO checkpoint VALUES ('house', 0, 5, 12345)", "checkpoint house part 0 seq 5: says 12345"),
        ("INSERT INTO checkpoint VALUES ('house', 0, 5000, 0)", "checkpoint house part 0 seq 5000: there is no such"),
    ],
)
async def test_a_changed_sum_is_named(played: Desk, superuser: Database, statement: str, named: str) -> None:
    assert any(named in fault for fault in await faults_after(superuser, statement))


def run_audit(env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "spades_wallet.audit"], env=env, capture_output=True, text=True, check=False, timeout=60
    )


async def test_the_program_exits_with_0_1_or_2(namespace: Namespace, tmp_path: Path) -> None:
    namespace.migrate("wallet")
    async with desk_at(namespace) as desk:
        await desk.ask("ann", OpenAccount())
    env = namespace.service_env("wallet")
    del env["SPADES_KAFKA_BOOTSTRAP"]
    right = run_audit(env)
    assert (right.returncode, right.stderr) == (0, "")
    assert right.stdout == "1 transfers, 1 accounts: sum 0, every balance and every hash right\n"
    with psycopg.connect(
        namespace.admin_url, options=f"-c search_path={namespace.databases['wallet'].schema}"
    ) as admin:
        admin.execute("ALTER TABLE transfer DISABLE TRIGGER USER")
        admin.execute("UPDATE transfer SET amount = 51")
    wrong = run_audit(env)
    assert wrong.returncode == 1
    assert "WRONG transfer part 0 seq 1 (welcome:ann): its hash is not that of its content" in wrong.stdout
    # Without an address it is that of the local stack, and without a stack that is said.
    address = env.pop("SPADES_DATABASE_URL")
    stack = {**env, "SPADES_STATE_DIR": str(tmp_path)}
    nothing = run_audit(stack)
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert nothing.stderr.startswith("Set SPADES_DATABASE_URL")
    (tmp_path / "given.json").write_text(json.dumps({"wallet": {"SPADES_DATABASE_URL": address}}))
    assert run_audit(stack).stdout == wrong.stdout
    env["SPADES_DATABASE_URL"] = address
    for unreadable in (
        {**env, "SPADES_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"},
        {**env, "SPADES_DATABASE_SCHEMA": "nobody_here"},
        {**env, "SPADES_PARTITIONS": "some"},
    ):
        told = run_audit(unreadable)
        assert (told.returncode, told.stdout) == (2, "")
        assert told.stderr.startswith("The ledger could not be read: ")


async def test_the_conformance_runner_agrees_with_the_cases_and_sees_a_difference(ledger: Namespace) -> None:
    rows: list[dict[str, Any]] = json.loads(CASES.read_text())
    wrong = [{**rows[0], "name": "wrong", "net": {**rows[0]["net"], "u0": 101}}]
    said = io.StringIO()
    with redirect_stdout(said):
        assert await conformance.judged(ledger, conformance.cases_in(rows)) == 0
    assert said.getvalue().count("ok ") == len(rows)
    with redirect_stdout(said):
        assert await conformance.judged(ledger, conformance.cases_in([*rows[1:], *wrong], first=100)) == 1


def test_the_conformance_runner_is_a_program(tmp_path: Path) -> None:
    rows = json.loads(CASES.read_text())[:2]
    (tmp_path / "right.json").write_text(json.dumps(rows))
    rows[1]["fee"] = 11
    (tmp_path / "wrong.json").write_text(json.dumps(rows))
    (tmp_path / "none.json").write_text('[{"name": "no game"}]')
    for name, code in (("right", 0), ("wrong", 1), ("none", 2), ("absent", 2)):
        done = subprocess.run(
            [sys.executable, "-m", "tests.wallet.conformance", str(tmp_path / f"{name}.json")],
            cwd=Path(__file__).parents[2],
            env=os.environ.copy(),
            capture_output=True,
            text=True,
            check=False,
            timeout=110,
        )
        assert done.returncode == code, done.stdout + done.stderr
