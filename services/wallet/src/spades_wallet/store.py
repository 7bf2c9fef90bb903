"""The wallet's SQL, one question a function. What may not be is refused by the database itself."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from spades_runtime import Database
from spades_wallet.ledger import (
    Account,
    AccountId,
    Hold,
    Player,
    Pot,
    TableId,
    Transfer,
    TransferKey,
)

_COLUMNS = "id, kind, owner, table_id, opened_coins, balance, entry_no, shut"


async def escrow_of(db: Database, tables: Iterable[TableId]) -> list[Account]:
    """The pots and the running holds of these tables, unlocked.

    Only the owner of a table's partition adds to them, and it is the one who asks.
    """
    wanted = sorted(set(tables))
    if not wanted:
        return []
    cursor = await db.execute(
        f"SELECT {_COLUMNS} FROM account"  # noqa: S608 - a constant of this module
        " WHERE table_id = ANY(%s::text[]) AND kind <> 'player' AND (kind = 'pot' OR NOT shut)",
        [wanted],
    )
    return [account_of(row) for row in await cursor.fetchall()]


async def running_holds(db: Database, owners: Iterable[AccountId]) -> list[Account]:
    """All running holds of these players. Final only while the players are locked."""
    wanted = sorted(set(owners))
    if not wanted:
        return []
    cursor = await db.execute(
        f"SELECT {_COLUMNS} FROM account"  # noqa: S608
        " WHERE owner = ANY(%s::text[]) AND kind = 'hold' AND NOT shut",
        [wanted],
    )
    return [account_of(row) for row in await cursor.fetchall()]


async def lock_accounts(db: Database, ids: Iterable[AccountId]) -> list[Account]:
    """Lock these accounts until the transaction ends and return those that exist, as they stand then."""
    wanted = sorted(set(ids))
    if not wanted:
        return []
    cursor = await db.execute(f"SELECT {_COLUMNS} FROM lock_accounts(%s::text[])", [wanted])  # noqa: S608
    return [account_of(row) for row in await cursor.fetchall()]


async def known_keys(db: Database, keys: Iterable[TransferKey]) -> list[TransferKey]:
    """Those of the keys under which a transfer stands."""
    wanted = sorted(set(keys))
    if not wanted:
        return []
    cursor = await db.execute("SELECT key FROM transfer WHERE key = ANY(%s::text[])", [wanted])
    return [TransferKey(row[0]) for row in await cursor.fetchall()]


async def last_versions(db: Database, streams: Iterable[str]) -> dict[str, int]:
    """The version of the last event of each stream; a stream without events is left out."""
    wanted = sorted(set(streams))
    if not wanted:
        return {}
    cursor = await db.execute(
        """
        SELECT w.stream, l.last_version
          FROM unnest(%s::text[]) AS w(stream)
         CROSS JOIN LATERAL (
               SELECT a.last_version FROM answer AS a
                WHERE a.stream = w.stream AND a.events IS NOT NULL
                ORDER BY a.first_version DESC LIMIT 1) AS l
        """,
        [wanted],
    )
    return {row[0]: row[1] for row in await cursor.fetchall()}


async def post(db: Database, transfers: Sequence[tuple[int, Transfer]], at_ms: int) -> list[Account]:
    """Post transfers, each in its partition's chain, in this order; return each account as each left it.

    A transfer whose key stands with the same fingerprint is left out. Raises
    psycopg.errors.IntegrityError where a key stands with another one, or a constraint forbids it.
    """
    if not transfers:
        return []
    rows = [
        {
            "part": part,
            "key": transfer.key,
            "fingerprint": transfer.fingerprint.hex(),
            "debit": transfer.debit,
            "credit": transfer.credit,
            "amount": transfer.amount_coins,
            "code": transfer.code,
            "table_id": transfer.table,
            "note": transfer.note,
            "at_ms": at_ms,
        }
        for part, transfer in transfers
    ]
    cursor = await db.execute(f"SELECT {_COLUMNS} FROM post(%s::jsonb)", [json.dumps(rows)])  # noqa: S608
    return [account_of(row) for row in await cursor.fetchall()]


async def unsettled_streams(db: Database, part: int) -> list[str]:
    """The streams of this partition that somebody may still wait for: accounts, and tables not settled."""
    cursor = await db.execute(
        """
        SELECT DISTINCT a.stream FROM answer AS a
         WHERE a.part = %s AND a.events IS NOT NULL
           AND NOT EXISTS (SELECT FROM transfer AS t WHERE t.key = 'settle:' || a.stream)
         ORDER BY a.stream
        """,
        [part],
    )
    return [row[0] for row in await cursor.fetchall()]


def account_of(row: tuple[Any, ...]) -> Account:
    """Make an account of a row selected as the module's columns."""
    account, kind, owner, table, opened_coins, balance_coins, entry_no, shut = row
    match kind:
        case "player":
            return Player(id=account, balance_coins=balance_coins, entry_no=entry_no, closed=shut)
        case "hold":
            return Hold(
                id=account,
                owner=owner,
                table=table,
                opened_coins=opened_coins,
                balance_coins=balance_coins,
                entry_no=entry_no,
            )
        case "pot":
            return Pot(id=account, table=table, balance_coins=balance_coins, entry_no=entry_no, settled=shut)
        case _:
            raise AssertionError(f"no such kind of account: {kind}")
