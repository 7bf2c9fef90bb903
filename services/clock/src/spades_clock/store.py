"""The clock's SQL: one row a table."""

from collections.abc import Mapping

from spades_clock.domain import Timer
from spades_runtime import Database


async def timers_of(db: Database, part: int) -> list[Timer]:
    """Every table of a partition, by id."""
    cursor = await db.execute(
        "SELECT table_id, version, deadline_id, due_ms FROM timer WHERE part = %s ORDER BY table_id", [part]
    )
    return [
        Timer(table_id=table_id, version=version, deadline_id=deadline_id, due_ms=due_ms)
        for table_id, version, deadline_id, due_ms in await cursor.fetchall()
    ]


async def last_alive_ms(db: Database, part: int) -> int | None:
    """When the partition was last seen to be alive, by the clock of whoever owned it then."""
    cursor = await db.execute("SELECT alive_at_ms FROM partition WHERE part = %s", [part])
    row = await cursor.fetchone()
    return None if row is None else row[0]


async def need_no_fsync(db: Database) -> None:
    """Let the running transaction commit without waiting for the disk, so that no timeout waits for it either.

    Rows and offsets are lost together, if at all: the events behind the older offsets are read again.
    """
    await db.execute("SET LOCAL synchronous_commit = off")


async def save(db: Database, part: int, changed: Mapping[str, Timer | None]) -> None:
    """Write the timers that changed; None takes a table's row away."""
    timers = [timer for timer in changed.values() if timer is not None]
    ended = [table_id for table_id, timer in changed.items() if timer is None]
    if timers:
        await db.execute(
            """
            INSERT INTO timer (part, table_id, version, deadline_id, due_ms)
            SELECT %s, * FROM unnest(%s::text[], %s::bigint[], %s::bigint[], %s::bigint[])
            ON CONFLICT (table_id) DO UPDATE
            SET version = excluded.version, deadline_id = excluded.deadline_id, due_ms = excluded.due_ms
            """,
            [
                part,
                [timer.table_id for timer in timers],
                [timer.version for timer in timers],
                [timer.deadline_id for timer in timers],
                [timer.due_ms for timer in timers],
            ],
        )
    if ended:
        await db.execute("DELETE FROM timer WHERE table_id = ANY(%s)", [ended])
