"""Tables that not everybody may enter: private ones by their invite's code, the queue's by the match."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from sqlalchemy import delete, exists, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from spades_lobby.problems import Problem, not_found
from spades_lobby.schema import admitted, closed_table

CODE_LENGTH: Final = 12
_SIGNS: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""32 signs of which none looks like another: 12 of them are 60 bits."""


def new_code() -> str:
    return "".join(secrets.choice(_SIGNS) for _ in range(CODE_LENGTH))


async def close(db: AsyncConnection, table_id: str, host: str, code: str | None) -> bool:
    """Close the table to strangers before it opens; False where it was closed already."""
    made = await db.execute(
        insert(closed_table).values(table_id=table_id, host=host, code=code).on_conflict_do_nothing()
    )
    return made.rowcount == 1


async def close_to_all_but(
    db: AsyncConnection, hosts: Mapping[str, str], admissions: Sequence[tuple[str, str]]
) -> None:
    """Close the tables of these hosts, and let in (table, account) each."""
    if hosts:
        closed = [{"table_id": table_id, "host": host, "code": None} for table_id, host in hosts.items()]
        await db.execute(insert(closed_table).on_conflict_do_nothing(), closed)
    if admissions:
        let_in = [{"table_id": table_id, "account_id": account_id} for table_id, account_id in admissions]
        await db.execute(insert(admitted).on_conflict_do_nothing(), let_in)


async def forget(db: AsyncConnection, table_id: str) -> None:
    """It was not opened after all."""
    await db.execute(delete(closed_table).where(closed_table.c.table_id == table_id))


async def admit(db: AsyncConnection, table_id: str, account_ids: Iterable[str]) -> None:
    rows = [{"table_id": table_id, "account_id": account_id} for account_id in account_ids]
    if rows:
        await db.execute(insert(admitted).on_conflict_do_nothing(), rows)


async def redeem(db: AsyncConnection, code: str, account_id: str) -> str | None:
    """Let the account in to the table of this code; None where no table has it."""
    found = await db.execute(select(closed_table.c.table_id).where(closed_table.c.code == code))
    table_id: str | None = found.scalar_one_or_none()
    if table_id is not None:
        await admit(db, table_id, [account_id])
    return table_id


async def code_of(db: AsyncConnection, table_id: str, account_id: str) -> str:
    """The code of a private table, for whoever is let in. Raises Problem `not_found`."""
    await check_watch(db, table_id, account_id)
    found = await db.execute(select(closed_table.c.code).where(closed_table.c.table_id == table_id))
    code: str | None = found.scalar_one_or_none()
    if code is None:
        raise not_found()
    return code


async def check_watch(db: AsyncConnection, table_id: str, account_id: str) -> None:
    """Raises Problem `not_found` for a private table of which the account has no invite."""
    if await _is_closed_to(db, table_id, account_id, private_only=True):
        raise not_found()


async def check_sit(db: AsyncConnection, table_id: str, account_id: str) -> None:
    """Raises Problem `not_found`, or `not_matched` at a table of the queue."""
    await check_watch(db, table_id, account_id)
    if await _is_closed_to(db, table_id, account_id, private_only=False):
        raise Problem(403, "not_matched", "This table seats those whom the queue matched.")


async def _is_closed_to(db: AsyncConnection, table_id: str, account_id: str, *, private_only: bool) -> bool:
    let_in = exists().where(admitted.c.table_id == closed_table.c.table_id, admitted.c.account_id == account_id)
    closed = select(closed_table.c.table_id).where(
        closed_table.c.table_id == table_id,
        ~or_(closed_table.c.host == account_id, let_in),
    )
    if private_only:
        closed = closed.where(closed_table.c.code.is_not(None))
    return (await db.execute(closed)).one_or_none() is not None
