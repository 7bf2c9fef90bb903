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
