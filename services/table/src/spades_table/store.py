"""The table's questions to its store: live tables at a take, unknown ones in a poll."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from spades_runtime import Answer, AnswerId, Database, SnapshotRow, answers, snapshots


class LiveTable(NamedTuple):
    """A table as stored: its snapshot, and every answer behind it."""

    snapshot: SnapshotRow
    tail: list[Answer]


class Store(Protocol):
    """What is durable. Writing is the worker's: it is one statement a poll."""

    async def live_tables(self, db: Database, part: int) -> list[LiveTable]:
        """Return every table of a partition that is not over."""

    async def whole_stream(self, db: Database, table_id: str) -> list[Answer]:
        """Return every accepted answer of one table, oldest first."""

    async def known_tables(self, db: Database, table_ids: Iterable[str]) -> dict[str, SnapshotRow]:
        """Return the newest snapshots of these tables, also of those that are over."""

    async def stored_answers(self, db: Database, ids: Iterable[AnswerId]) -> dict[AnswerId, Answer]:
        """Return the answers that these commands got before."""


class PostgresStore:
    """The worker's own tables; each question is one query, the first one two."""

    async def live_tables(self, db: Database, part: int) -> list[LiveTable]:
        rows = await snapshots.live(db, part)
        tails: dict[str, list[Answer]] = {row.stream: [] for row in rows}
        for answer in await answers.tail(db, part):
            tails[answer.stream].append(answer)
        return [LiveTable(row, tails[row.stream]) for row in rows]

    async def whole_stream(self, db: Database, table_id: str) -> list[Answer]:
        return await answers.of_stream(db, table_id)

    async def known_tables(self, db: Database, table_ids: Iterable[str]) -> dict[str, SnapshotRow]:
        return await snapshots.fetch(db, list(table_ids))

    async def stored_answers(self, db: Database, ids: Iterable[AnswerId]) -> dict[AnswerId, Answer]:
        return await answers.fetch(db, ids)
