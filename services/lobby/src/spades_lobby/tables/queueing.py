"""SQL of the queue: who waits for which game, and who was matched.

Changes are made under one advisory lock, but for coming in: that touches one's own row alone, which a
match holds before it takes it.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, Final, Literal, NamedTuple

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Interval,
    bindparam,
    case,
    cast,
    delete,
    extract,
    func,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from spades_events import CE_TYPES, events
from spades_lobby.schema import closed_table, game_event, queued

_LOCK: Final = func.hashtext(text("current_schema() || '.queued'"))
WAITING_MAX: Final = 4_000
"""As many are matched in one turn."""
_REFUSED: Final = CE_TYPES[events.SeatRefused]


State = Literal["waiting", "matched", "seated", "refused"]


class Waiting(NamedTuple):
    """Somebody in the queue, and how long they have waited."""

    account_id: str
    ruleset: str
    stake_coins: int
    seed_commit: str | None
    bots_accepted: bool
    state: State
    waited_ms: int
    table_id: str | None
    matched_ms: int
    """How long ago they were matched; 0 while they wait."""
    with_bots: bool
    refusal: str | None


class Match(NamedTuple):
    """Somebody's place at a table; who takes up a place that came free is matched as long as the others."""

    table_id: str
    account_id: str
    matched_ago: timedelta
    with_bots: bool


def _ms_since(column: Column[Any]) -> ColumnElement[int]:
    return cast(extract("epoch", func.clock_timestamp() - column) * 1_000, BigInteger)


_COLUMNS: Final = (
    queued.c.account_id,
    queued.c.ruleset,
    queued.c.stake_coins,
    queued.c.seed_commit,
    queued.c.bots_accepted,
    queued.c.state,
    _ms_since(queued.c.since).label("waited_ms"),
    queued.c.table_id,
    func.coalesce(_ms_since(queued.c.matched_at), 0).label("matched_ms"),
    queued.c.with_bots,
    queued.c.refusal,
)


async def lock(db: AsyncConnection) -> None:
    """Wait until nobody else changes the queue; until the transaction ends."""
    await db.execute(select(func.pg_advisory_xact_lock(_LOCK)))


async def try_lock(db: AsyncConnection) -> bool:
    return bool((await db.execute(select(func.pg_try_advisory_xact_lock(_LOCK)))).scalar_one())


async def enter(
    db: AsyncConnection,
    account_id: str,
    ruleset: str,
    stake_coins: int,
    seed_commit: str | None,
    *,
    bots_accepted: bool,
) -> None:
    """Wait for this game. Who waits for it already keeps their place; who is matched stays so."""
    statement = insert(queued).values(
        account_id=account_id,
        ruleset=ruleset,
        stake_coins=stake_coins,
        seed_commit=seed_commit,
        bots_accepted=bots_accepted,
        state="waiting",
    )
    new = statement.excluded
    same = (queued.c.state == "waiting") & (queued.c.ruleset == new.ruleset)
    same &= queued.c.stake_coins == new.stake_coins
    await db.execute(
        statement.on_conflict_do_update(
            index_elements=[queued.c.account_id],
            set_={
                "ruleset": new.ruleset,
                "stake_coins": new.stake_coins,
                "seed_commit": new.seed_commit,
                "bots_accepted": new.bots_accepted,
                "state": "waiting",
                "since": case((same, queued.c.since), else_=func.now()),
                "table_id": None,
                "matched_at": None,
                "refusal": None,
            },
            where=queued.c.state != "matched",
        )
    )


async def place(db: AsyncConnection, account_id: str) -> Waiting | None:
    found = await db.execute(select(*_COLUMNS).where(queued.c.account_id == account_id))
    row = found.one_or_none()
    return None if row is None else Waiting(**row._asdict())


async def waiting_with(db: AsyncConnection, one: Waiting) -> int:
    """How many wait for the same game as this one, who counts with them."""
    same = (queued.c.ruleset == one.ruleset) & (queued.c.stake_coins == one.stake_coins)
    found = await db.execute(select(func.count()).select_from(queued).where(queued.c.state == "waiting", same))
    return int(found.scalar_one())


async def leave(db: AsyncConnection, account_ids: Iterable[str]) -> None:
    await db.execute(delete(queued).where(queued.c.account_id.in_(list(account_ids))))


async def waiting(db: AsyncConnection) -> list[Waiting]:
    """Who waits, who came first first."""
    return await _all(db, "waiting")


async def matched(db: AsyncConnection) -> list[Waiting]:
    """Who was matched and does not sit yet."""
    return await _all(db, "matched")


async def _all(db: AsyncConnection, state: str) -> list[Waiting]:
    found = await db.execute(
        select(*_COLUMNS)
        .where(queued.c.state == state)
        .order_by(queued.c.since, queued.c.account_id)
        .limit(WAITING_MAX)
    )
    return [Waiting(**row._asdict()) for row in found]


async def hold(db: AsyncConnection, chosen: Sequence[Waiting]) -> set[str]:
    """Keep these as they are until the transaction ends; returns who still waits for what they were chosen for."""
    columns = (queued.c.account_id, queued.c.ruleset, queued.c.stake_coins, queued.c.bots_accepted)
    found = await db.execute(
        select(*columns)
        .where(queued.c.account_id.in_([one.account_id for one in chosen]), queued.c.state == "waiting")
        .order_by(queued.c.account_id)
        .with_for_update()
    )
    held = {tuple(row) for row in found}
    return {
        one.account_id for one in chosen if (one.account_id, one.ruleset, one.stake_coins, one.bots_accepted) in held
    }


async def match(db: AsyncConnection, matches: Sequence[Match]) -> None:
    statement = (
        update(queued)
        .where(queued.c.account_id == bindparam("who"))
        .values(
            state="matched",
            table_id=bindparam("table"),
            matched_at=func.now() - bindparam("ago", type_=Interval),
            with_bots=bindparam("bots"),
        )
    )
    rows = [
        {"who": one.account_id, "table": one.table_id, "ago": one.matched_ago, "bots": one.with_bots} for one in matches
    ]
    if rows:
        await db.execute(statement, rows)


async def seat(db: AsyncConnection, account_ids: Iterable[str]) -> None:
    await db.execute(update(queued).where(queued.c.account_id.in_(list(account_ids))).values(state="seated"))


async def refuse(db: AsyncConnection, account_id: str, code: str) -> None:
    await db.execute(update(queued).where(queued.c.account_id == account_id).values(state="refused", refusal=code))


async def wait_again(db: AsyncConnection, account_ids: Iterable[str]) -> None:
    """Back to where they stood: their time in the queue counts on."""
    await db.execute(
        update(queued)
        .where(queued.c.account_id.in_(list(account_ids)))
        .values(state="waiting", table_id=None, matched_at=None, with_bots=False)
    )


async def hosts(db: AsyncConnection, table_ids: Iterable[str]) -> dict[str, str]:
    found = await db.execute(
        select(closed_table.c.table_id, closed_table.c.host).where(closed_table.c.table_id.in_(list(table_ids)))
    )
    return {row.table_id: row.host for row in found}


async def refusals(db: AsyncConnection, table_ids: Iterable[str]) -> dict[tuple[str, str], str]:
    """Whose seat was refused where: (table, account) to the code."""
    body = game_event.c.body
    found = await db.execute(
        select(
            game_event.c.table_id,
            body["account_id"].as_string().label("account_id"),
            body["code"].as_string().label("code"),
        ).where(game_event.c.table_id.in_(list(table_ids)), game_event.c.type == _REFUSED)
    )
    return {(row.table_id, row.account_id): row.code for row in found}


async def sweep(db: AsyncConnection, older_than: timedelta) -> None:
    """Forget where people were seated or refused long ago."""
    await db.execute(
        delete(queued).where(queued.c.state.in_(("seated", "refused")), queued.c.since < func.now() - older_than)
    )
