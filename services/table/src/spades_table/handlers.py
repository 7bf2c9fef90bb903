"""The table as a processor: what the worker asks, in the order in which a poll is judged."""

import os
from collections.abc import Callable

from spades_events import Topic
from spades_runtime import Answer, AnswerId, Database, Effects, Headers, Output, Poll, Seal
from spades_table import metrics
from spades_table.house import House
from spades_table.judgement import Judgement
from spades_table.loading import Loader
from spades_table.memory import Memory
from spades_table.phases import Opened, chairs_of
from spades_table.private import prompt, snapshot
from spades_table.reading import Command
from spades_table.seats import SEATS, Person
from spades_table.store import PostgresStore, Store
from spades_table.wire import prompt_record, public_records, snapshot_record


class Tables:
    """Judges commands, news of the wallet and timeouts for the tables of the taken partitions."""

    inputs: tuple[str, ...] = (Topic.TABLE_COMMANDS, Topic.WALLET_EVENTS, Topic.CLOCK_EVENTS)
    """A move that is in time never loses to a timeout in the same poll."""
    outputs: tuple[str, ...] = (Topic.TABLE_EVENTS, Topic.TABLE_PRIVATE, Topic.TABLE_PROMPTS)

    def __init__(
        self, house: House, seal: Seal, store: Store | None = None, random: Callable[[int], bytes] = os.urandom
    ) -> None:
        self._house = house
        self._seal = seal
        self._store = store or PostgresStore()
        self._random = random
        self._loader = Loader(house, seal, self._store)
        self._memory = Memory()

    def concerns(self, topic: str, headers: Headers) -> bool:
        """All that it reads, nearly: what of it is not needed, `read_news` passes over."""
        return True

    async def take(self, part: int, db: Database) -> list[Output]:
        """Load a partition's live tables; each person and each bot on turn gets one fresh record.

        Raises KeyAbsent where a seal names a key that is not here: nothing is decided then.
        """
        loaded = await self._loader.load(part, db)
        self._memory.take(part, loaded.tables)
        for table_id in loaded.unreadable:
            metrics.UNREADABLE.inc()
            self._memory.note_unreadable(part, table_id)
        for table_id in loaded.corrupt:
            metrics.CORRUPT.inc()
            self._memory.note_corrupt(part, table_id)
        metrics.LIVE.set(self._memory.live)
        outputs: list[Output] = []
        for table in loaded.tables.values():
            outputs += _fresh_records(table, part, loaded.now_ms)
        return outputs

    def drop(self, part: int) -> None:
        self._memory.drop(part)
        metrics.LIVE.set(self._memory.live)

    async def unsettled(self, part: int, db: Database) -> list[str]:
        """The tables whose games are not over."""
        return [live.snapshot.stream for live in await self._store.live_tables(db, part)]

    async def process(self, poll: Poll, db: Database) -> Effects:
        """Judge outages, then what waited from the poll before, then the records in their order."""
        judged = Judgement(self._house, self._seal, self._memory, poll.now_ms, self._random)
        for part, (alive_at_ms, outage_ms) in poll.outages_ms.items():
            judged.give_back(part, alive_at_ms, outage_ms)
        judged.cancel_unreadable()
        judged.take_up_waiting()
        readable = judged.read(poll.inputs)
        await judged.look_up(readable, self._loader, db)
        for one in readable:
            if isinstance(one, Command):
                judged.command(one)
            else:
                judged.news(one)
        judged.finish()
        return judged.effects

    def records(self, answer: Answer) -> list[Output]:
        return public_records(answer)

    def committed(self) -> None:
        self._memory.committed()
        metrics.LIVE.set(self._memory.live)

    def discard(self) -> None:
        self._memory.discard()

    async def recall(self, ids: list[AnswerId], db: Database) -> None:
        self._memory.recall((await self._store.stored_answers(db, ids)).values())

    def next_due_ms(self) -> int | None:
        """At once while timeouts wait or an unreadable table is to be cancelled."""
        return 0 if self._memory.waiting or self._memory.unreadable else None

    async def flush(self, db: Database) -> None:
        """Nothing: everything is in the one statement."""


def _fresh_records(table: Opened, part: int, now_ms: int) -> list[Output]:
    """What a take sends again: each person's view of the table, and a running bot's prompt."""
    table_id = table.setup.table_id
    chairs = chairs_of(table)
    records = []
    for seat in SEATS:
        chair = chairs[seat]
        if isinstance(chair, Person):
            seen = snapshot(table, seat, chair.account_id, now_ms, None)
            record_id = f"{table_id}:{table.version}:{seat}:taken"
            records.append(snapshot_record(seen, part, record_id))
    asked = prompt(table)
    if asked is not None:
        records.append(prompt_record(asked, part, table.version, now_ms))
    return records
