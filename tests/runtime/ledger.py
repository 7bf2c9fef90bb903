"""The counter domain as a ledger: balances in a table, decided and written inside one transaction."""

from dataclasses import dataclass

from spades_runtime import Database, Effects, Output, Poll
from tests.runtime.counter import Counter, CounterProcessor

LEDGER = (
    "CREATE TABLE ledger (stream text PRIMARY KEY, version bigint NOT NULL, total bigint NOT NULL CHECK (total < 100))"
)


@dataclass
class LedgerProcessor(CounterProcessor):
    """Its counters live in a table; CHECK is the net below its decisions."""

    async def take(self, part: int, db: Database) -> list[Output]:
        self.takes += 1
        return []

    async def process(self, poll: Poll, db: Database) -> Effects:
        streams = sorted({record.key.decode() for record in poll.inputs if record.key is not None})
        cursor = await db.execute(
            "SELECT stream, version, total FROM ledger WHERE stream = ANY(%s) ORDER BY stream FOR UPDATE", [streams]
        )
        self.counters = {stream: Counter(version, total) for stream, version, total in await cursor.fetchall()}
        effects = await super().process(poll, db)
        for stream, counter in sorted(self.overlay.items()):
            await db.execute(
                "INSERT INTO ledger VALUES (%s, %s, %s) ON CONFLICT (stream) "
                "DO UPDATE SET version = excluded.version, total = excluded.total",
                [stream, counter.version, counter.total],
            )
        return effects
