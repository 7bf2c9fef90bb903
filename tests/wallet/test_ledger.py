"""What the database itself refuses, whoever asks: overdrafts, second effects, rewritten history."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import psycopg
import pytest
import pytest_asyncio
from psycopg import errors

from spades_local.testing import Namespace
from spades_runtime import Database, database
from tests.wallet.desk import settings_of

pytestmark = pytest.mark.real

RACERS = 16


@pytest_asyncio.fixture
async def db(ledger: Namespace) -> AsyncIterator[Database]:
    connection = await database.connect(settings_of(ledger))
    yield connection
    await connection.close()


@pytest.fixture
def admin(ledger: Namespace) -> Iterator[psycopg.Connection[Any]]:
    schema = ledger.databases["wallet"].schema
    with psycopg.connect(ledger.admin_url, autocommit=True, options=f"-c search_path={schema}") as connection:
        yield connection


def row(code: str, debit: str, credit: str, amount: int, key: str, **more: Any) -> dict[str, Any]:
    return {
        "part": 0, "key": key, "fingerprint": "ab" * 32, "debit": debit, "credit": credit,
        "amount": amount, "code": code, "at_ms": 1, **more,
    }  # fmt: skip


async def post(db: Database, *rows: dict[str, Any]) -> dict[str, int]:
    cursor = await db.execute("SELECT id, balance FROM post(%s::jsonb)", [json.dumps(rows)])
    return dict(await cursor.fetchall())


async def opened(db: Database, name: str, coins: int) -> str:
    await post(db, row("welcome", "issuer", name, coins, f"welcome:{name}"))
    return name


def hold(name: str, number: int, amount: int) -> dict[str, Any]:
    escrow = f"hold:{name}:{number}"
    return row("hold", name, escrow, amount, escrow, table_id=f"table-{name}-{number}")


async def count(db: Database, where: str, *values: object) -> int:
    cursor = await db.execute(f"SELECT count(*) FROM transfer WHERE {where}", list(values))
    found = await cursor.fetchone()
    assert found is not None
    return int(found[0])


async def test_sixteen_racers_for_one_account_never_overspend_it(ledger: Namespace, db: Database) -> None:
    name = await opened(db, "raced", 1_000)
    racers = [await database.connect(settings_of(ledger)) for _ in range(RACERS)]
    fired: list[str | None] = []

    async def race(number: int) -> None:
        for turn in range(10):
            try:
                await post(racers[number], hold(name, number * 10 + turn, 30))
            except errors.CheckViolation as overdraft:
                fired.append(overdraft.diag.constraint_name)

    await asyncio.gather(*(race(number) for number in range(RACERS)))
    assert await count(db, "debit = %s", name) == 33
    assert fired == ["account_not_negative"] * (RACERS * 10 - 33)
    cursor = await db.execute("SELECT balance, entry_no FROM account WHERE id = %s", [name])
    assert await cursor.fetchone() == (10, 34)
    for racer in racers:
        await racer.close()


async def test_sixteen_times_the_same_transfer_is_one_row(ledger: Namespace, db: Database) -> None:
    name = await opened(db, "repeated", 1_000)
    racers = [await database.connect(settings_of(ledger)) for _ in range(RACERS)]
    results = await asyncio.gather(*(post(racer, hold(name, 1, 110)) for racer in racers))
    # One racer moves the coins; the others find them moved and move nothing.
    assert sorted(results, key=len) == [{}] * (RACERS - 1) + [{name: 890, f"hold:{name}:1": 110}]
    assert await count(db, "debit = %s", name) == 1
    for racer in racers:
        await racer.close()


async def test_sixteen_settlements_of_one_pot_pay_once(ledger: Namespace, db: Database) -> None:
    name = await opened(db, "winner", 1_000)
    await post(db, hold(name, 1, 110))
    of_table = {"table_id": f"table-{name}-1"}
    pot = f"pot:table-{name}-1"
    await post(
        db,
        row("capture", f"hold:{name}:1", pot, 100, f"capture:{name}", **of_table),
        row("house_stake", "house", pot, 300, f"house_stake:{name}", **of_table),
    )
    settling = [
        row("deposit_back", f"hold:{name}:1", name, 10, f"deposit_back:{name}", **of_table),
        row("payout", pot, name, 200, f"payout:{name}", **of_table),
        row("settle", pot, "house", 200, f"settle:{name}", **of_table),
    ]
    racers = [await database.connect(settings_of(ledger)) for _ in range(RACERS)]
    await asyncio.gather(*(post(racer, *settling) for racer in racers))
    assert await post(db, *settling) == {}
    cursor = await db.execute("SELECT balance FROM account WHERE id = %s", [name])
    assert await cursor.fetchone() == (1_100,)
    assert await count(db, "key = %s", f"settle:{name}") == 1
    for racer in racers:
        await racer.close()


async def test_the_same_key_with_another_request_is_refused(db: Database) -> None:
    name = await opened(db, "other", 1_000)
    await post(db, hold(name, 1, 110))
    with pytest.raises(errors.UniqueViolation) as refused:
        await post(db, {**hold(name, 1, 55), "fingerprint": "cd" * 32})
    assert refused.value.diag.constraint_name == "transfer_request"
    assert await count(db, "debit = %s", name) == 1


@pytest.mark.parametrize(
    ("broken", "constraint"),
    [
        (row("hold", "strict", "hold:strict:9", 1_001, "x", table_id="t"), "account_not_negative"),
        (row("grant", "issuer", "strict", -5, "x"), "transfer_amount"),
        (row("hold", "strict", "hold:strict:9", 0, "x", table_id="t"), "transfer_allowed"),
        (row("grant", "issuer", "strict", 2**53 - 1, "x"), "account_exact"),
        (row("grant", "strict", "issuer", 5, "x"), "transfer_allowed"),
        (row("payout", "house", "strict", 5, "x", table_id="t"), "transfer_allowed"),
        (row("gift", "issuer", "strict", 5, "x"), "transfer_allowed"),
        (row("grant", "issuer", "house", 5, "x"), "transfer_allowed"),
        (row("grant", "issuer", "bot", 5, "x"), "transfer_allowed"),
        (row("welcome", "issuer", "hold:a:1", 5, "x"), "transfer_allowed"),
        (row("welcome", "issuer", ":", 5, "x"), "transfer_allowed"),
        (row("hold", "strict", "pot:t", 5, "x", table_id="t"), "transfer_allowed"),
        (row("settle", "pot:t", "fees", 0, "x", table_id="t"), "transfer_allowed"),
        (row("fee", "strict", "fees", 5, "x", fingerprint="ab"), "transfer_allowed"),
        (row("hold", "strict", "hold:strict:9", 5, "x"), "transfer_allowed"),
    ],
)
async def test_a_transfer_that_may_not_be_is_refused_by_name(
    db: Database, broken: dict[str, Any], constraint: str
) -> None:
    if not await count(db, "credit = 'strict'"):
        await opened(db, "strict", 1_000)
    with pytest.raises(errors.CheckViolation) as refused:
        await post(db, broken)
    assert refused.value.diag.constraint_name == constraint


async def test_coins_of_an_account_that_nobody_opened_do_not_move(db: Database) -> None:
    with pytest.raises(errors.ForeignKeyViolation):
        await post(db, row("fee", "nobody", "fees", 5, "x", table_id="t"))
    with pytest.raises(errors.ForeignKeyViolation):
        await post(db, row("grant", "issuer", "nobody", 5, "x"))


async def test_a_hold_goes_back_to_its_own_player_only(db: Database) -> None:
    name, thief = await opened(db, "owner", 1_000), await opened(db, "thief", 1_000)
    await post(db, hold(name, 1, 110))
    with pytest.raises(errors.CheckViolation):
        await post(db, row("void", f"hold:{name}:1", thief, 110, "x", table_id=f"table-{name}-1"))


async def test_a_closed_account_takes_no_more_coins(db: Database) -> None:
    name = await opened(db, "leaving", 1_000)
    await post(db, row("close", name, "house", 1_000, f"close:{name}"))
    with pytest.raises(errors.CheckViolation) as refused:
        await post(db, row("grant", "issuer", name, 5, "x"))
    assert refused.value.diag.constraint_name == "account_shut_is_empty"


REWRITING = [
    "UPDATE transfer SET amount = 1",
    "UPDATE transfer SET amount = amount WHERE false",
    "DELETE FROM transfer",
    "TRUNCATE transfer",
    "UPDATE checkpoint SET balance = 0",
    "DELETE FROM checkpoint",
    "TRUNCATE checkpoint",
]
WRITING = [
    *REWRITING,
    "INSERT INTO transfer SELECT * FROM transfer LIMIT 1",
    "INSERT INTO checkpoint VALUES ('house', 0, 5, 5)",
    "UPDATE account SET balance = 1000000",
    "INSERT INTO account (id, kind, opened_coins, balance, entry_no) VALUES ('me', 'player', 0, 9, 1)",
    "DELETE FROM account",
    "TRUNCATE account",
    "UPDATE chain SET seq = 0",
    "DELETE FROM chain",
    "DROP TABLE transfer",
    "ALTER TABLE transfer DISABLE TRIGGER ALL",
    "ALTER TABLE account DROP CONSTRAINT account_not_negative",
    "CREATE OR REPLACE FUNCTION refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    "DROP FUNCTION post",
    "SELECT write_checkpoint(0, 1)",
    "SET session_replication_role = replica",
    "CREATE TABLE mine (id int)",
    "CREATE TRIGGER mine BEFORE INSERT ON transfer EXECUTE FUNCTION refuse_rewriting()",
    "CREATE RULE mine AS ON INSERT TO transfer DO INSTEAD NOTHING",
    "ALTER FUNCTION post(jsonb) SECURITY INVOKER",
    "ALTER TABLE transfer OWNER TO CURRENT_USER",
    "MERGE INTO account USING (SELECT 1) AS one ON true WHEN MATCHED THEN UPDATE SET balance = 0",
    "DO 'BEGIN LOCK TABLE transfer IN EXCLUSIVE MODE; END'",
    "DELETE FROM answer",
    "UPDATE answer SET fingerprint = ''",
]


@pytest.mark.parametrize("statement", WRITING)
async def test_the_services_role_cannot_write_the_ledger_but_by_its_functions(db: Database, statement: str) -> None:
    with pytest.raises((errors.InsufficientPrivilege, errors.FeatureNotSupported)):
        await db.execute(statement)


async def test_the_services_role_cannot_become_the_owner(ledger: Namespace, db: Database) -> None:
    with pytest.raises(errors.InsufficientPrivilege):
        await db.execute(f'SET ROLE "{ledger.databases["wallet"].owner_role}"')


@pytest.mark.parametrize("statement", REWRITING)
def test_history_is_not_rewritten_even_by_an_administrator(admin: psycopg.Connection[Any], statement: str) -> None:
    with pytest.raises(errors.InsufficientPrivilege):
        admin.execute(statement)
    # Nor where ordinary triggers keep still.
    admin.execute("SET session_replication_role = replica")
    with pytest.raises(errors.InsufficientPrivilege):
        admin.execute(statement)


def test_all_that_the_services_role_may_do_is_granted_by_name(
    ledger: Namespace, admin: psycopg.Connection[Any]
) -> None:
    role = ledger.databases["wallet"].app_role
    tables = admin.execute(
        "SELECT table_name, array_agg(privilege_type::text ORDER BY privilege_type) FROM"
        " information_schema.role_table_grants WHERE grantee = %s GROUP BY table_name",
        [role],
    ).fetchall()
    workers_own = {"answer", "parked", "partition", "quarantine", "redriven", "snapshot"}
    assert {table: may for table, may in tables if table not in workers_own} == {
        table: ["SELECT"] for table in ("account", "transfer", "chain", "checkpoint", "system_part", "system_balance")
    }
    functions = admin.execute(
        "SELECT p.proname FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace"
        " WHERE n.nspname = %s AND has_function_privilege(%s, p.oid, 'EXECUTE') ORDER BY 1",
        [ledger.databases["wallet"].schema, role],
    ).fetchall()
    assert [name for (name,) in functions] == ["forget_refusals", "lock_accounts", "post"]


async def test_a_table_of_ones_own_does_not_stand_before_the_ledgers(db: Database) -> None:
    await db.execute(
        "CREATE TEMPORARY TABLE account (id text, kind text, owner text, table_id text, opened_coins bigint,"
        " balance bigint, entry_no bigint, shut boolean)"
    )
    await db.execute("CREATE TEMPORARY TABLE chain (part int, seq bigint, hash bytea)")
    await post(db, row("welcome", "issuer", "shadowed", 5, "welcome:shadowed"))
    cursor = await db.execute("SELECT count(*) FROM pg_temp.account")
    assert await cursor.fetchone() == (0,)
    await db.execute("DISCARD TEMP")
    cursor = await db.execute("SELECT balance FROM account WHERE id = 'shadowed'")
    assert await cursor.fetchone() == (5,)


async def test_opposite_orders_of_the_same_accounts_do_not_wait_for_each_other(ledger: Namespace, db: Database) -> None:
    names = [await opened(db, f"crossed{n}", 10_000) for n in range(4)]
    racers = [await database.connect(settings_of(ledger)) for _ in range(8)]

    async def race(number: int) -> None:
        order = names if number % 2 else names[::-1]
        for turn in range(10):
            async with racers[number].transaction():
                await racers[number].execute("SELECT FROM lock_accounts(%s)", [order])
                await post(racers[number], *(hold(name, number * 10 + turn, 1) for name in order))

    await asyncio.gather(*(race(number) for number in range(8)))
    assert await count(db, "debit LIKE 'crossed%%' AND code = 'hold'") == 8 * 10 * 4
    for racer in racers:
        await racer.close()


async def test_the_house_stands_at_the_sum_of_its_transfers_whatever_the_checkpoints(db: Database) -> None:
    name = await opened(db, "patron", 1)
    for start in range(0, 2_500, 500):
        await post(
            db,
            *(row("grant", "issuer", name, 2, f"grant:{name}:{n}", part=7) for n in range(start, start + 500)),
        )
    cursor = await db.execute("SELECT seq, balance FROM checkpoint WHERE account = 'issuer' AND part = 7 ORDER BY seq")
    assert await cursor.fetchall() == [(1_000, -2_000), (2_000, -4_000)]
    cursor = await db.execute("SELECT balance FROM system_part WHERE account = 'issuer' AND part = 7")
    assert await cursor.fetchone() == (-5_000,)
    cursor = await db.execute(
        "SELECT sum(balance)::bigint + (SELECT sum(balance)::bigint FROM account) FROM system_balance"
    )
    assert await cursor.fetchone() == (0,)
