"""Loading: a partition's tables as they were, from snapshots and the answers behind them."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec
import structlog

from spades_events import UndecodableMessage, decode
from spades_rules import RulesError
from spades_runtime import Answer, AnswerId, Database, Seal, SnapshotRow
from spades_runtime.errors import OutcomeUnknown
from spades_runtime.seal import Unreadable as SealBroken
from spades_table.domain import evolve, is_unreadable
from spades_table.facts import CorruptStream, Fact
from spades_table.house import House
from spades_table.phases import Dealing, Ended, Opened, Table, Unopened
from spades_table.saving import restore
from spades_table.store import Store

log = structlog.get_logger()


@dataclass(slots=True)
class Loaded:
    """What a partition holds. Unreadable tables are in `tables` too, corrupt ones are not."""

    now_ms: int
    tables: dict[str, Opened] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)
    corrupt: list[str] = field(default_factory=list)


class Loader:
    """Restores and folds tables; opens what is sealed."""

    def __init__(self, house: House, seal: Seal, store: Store) -> None:
        self._house = house
        self._seal = seal
        self._store = store

    async def load(self, part: int, db: Database) -> Loaded:
        """Load every table of a partition that is not over.

        Raises KeyAbsent where a seal names a key that is not here. A broken seal makes its table
        unreadable, a history that does not fold keeps its table out: neither stops the others.
        """
        loaded = Loaded(now_ms=time.time_ns() // 1_000_000)
        for row, tail in await self._store.live_tables(db, part):
            try:
                table = await self._table_of(row, tail, db)
            except (CorruptStream, RulesError, UndecodableMessage, msgspec.MsgspecError) as bug:
                log.error("table_corrupt", table=row.stream, kind=type(bug).__name__)
                loaded.corrupt.append(row.stream)
                continue
            if isinstance(table, Unopened):
                continue
            loaded.tables[row.stream] = table
            if is_unreadable(table):
                loaded.unreadable.append(row.stream)
        return loaded

    async def known(
        self, db: Database, table_ids: Iterable[str], ids: Iterable[AnswerId]
    ) -> tuple[dict[str, Ended], list[Answer]]:
        """Find tables that are not in memory: those that are over, and what of `ids` they answered.

        Raises OutcomeUnknown where one should be in memory: the worker then takes all again.
        """
        rows = await self._store.known_tables(db, table_ids)
        if not rows:
            return {}, []
        if any(not row.retired for row in rows.values()):
            raise OutcomeUnknown("a live table is not in memory")
        restored = {table_id: self.restored(row) for table_id, row in rows.items()}
        over = {table_id: table for table_id, table in restored.items() if isinstance(table, Ended)}
        asked = [answer_id for answer_id in ids if answer_id[0] in rows]
        return over, list((await self._store.stored_answers(db, asked)).values())

    async def _table_of(self, row: SnapshotRow, tail: list[Answer], db: Database) -> Table:
        restored = self.restored(row)
        if restored is not None:
            return self.fold(restored, tail)
        if row.version > 0:
            # Saved by other code: all of its events say the same.
            tail = await self._store.whole_stream(db, row.stream)
        return self.fold(Unopened(table_id=row.stream, house=self._house), tail)

    def restored(self, row: SnapshotRow) -> Dealing | Ended | None:
        """The table as its snapshot has it; None where it has none that this code can read."""
        if not row.body:
            return None
        aad = row.stream.encode()
        return restore(row.body, row.stream, self._house, lambda sealed: self._open(sealed, aad))

    def fold(self, table: Table, answers: Iterable[Answer]) -> Table:
        """Fold the events of stored answers that stand behind the table's version."""
        for answer in answers:
            version = answer.first_version
            aad = answer.stream.encode()
            for event in answer.events:
                if version > table.version:
                    message = decode(event.type, event.body)
                    secret = None if event.sealed is None else self._open(event.sealed, aad)
                    table = evolve(table, Fact(message, secret))  # type: ignore[arg-type]
                    if table.version != version:
                        raise CorruptStream("a version is missing")
                version += 1
        return table

    def _open(self, sealed: bytes, aad: bytes) -> bytes | None:
        try:
            return self._seal.open(sealed, aad)
        except SealBroken:
            return None
