"""Snapshots: the newest stored state of each stream."""

from spades_runtime.types import Database, SnapshotRow


async def live(db: Database, part: int) -> list[SnapshotRow]:
    """Return the snapshots of the streams of `part` that are still in memory.

    Version 0 with an empty body stands for a stream without one yet.
    """
    cursor = await db.execute(
        "SELECT part, stream, version, body, retired FROM snapshot WHERE part = %s AND NOT retired ORDER BY stream",
        [part],
    )
    return [SnapshotRow(row[0], row[1], row[2], bytes(row[3]), row[4]) for row in await cursor.fetchall()]


async def fetch(db: Database, streams: list[str]) -> dict[str, SnapshotRow]:
    """Return the snapshots of `streams`, retired ones too."""
    cursor = await db.execute(
        "SELECT part, stream, version, body, retired FROM snapshot WHERE stream = ANY(%s)", [streams]
    )
    return {row[1]: SnapshotRow(row[0], row[1], row[2], bytes(row[3]), row[4]) for row in await cursor.fetchall()}
