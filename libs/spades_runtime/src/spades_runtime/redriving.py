"""Judging again what was set aside: once, in its order, by the worker itself.

A command is judged alone. Of a quarantined stream all that waits is judged, in the order in which it
was read; where one of it still cannot be judged, that one and what stands behind it go on waiting.
What was judged is marked with the operator's name, and is not judged again. Should the process die
between the judgement and the mark, the next attempt meets its own answers: every effect is once.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from aiokafka.errors import KafkaError

from spades_runtime import kafka, logging, parking
from spades_runtime.errors import Fenced
from spades_runtime.judging import Judge
from spades_runtime.owned import Owned
from spades_runtime.parking import Place
from spades_runtime.seal import Seal
from spades_runtime.settings import RuntimeSettings
from spades_runtime.sorting import Batch, Sorter
from spades_runtime.statement import ParkedRow
from spades_runtime.types import Commit, Database, Input, Output

_log = logging.get(__name__)

WAITING_MAX: Final = 100
"""Wishes of operators at once."""


class Outcome(StrEnum):
    REDRIVEN = "redriven"
    ALREADY = "already_redriven"
    NOT_FOUND = "not_found"
    NOT_HERE = "not_here"
    """Another process owns the partition: ask that one."""
    GONE = "gone"
    """Neither we nor Kafka have its content any more."""
    MISPLACED = "misplaced"
    """Its key is no text, or belongs on another partition: it can never be judged here."""
    SET_ASIDE_AGAIN = "set_aside_again"
    """It still cannot be judged."""
    UNKNOWN = "outcome_unknown"
    """Something failed on the way: look at the list, and ask again."""


@dataclass(frozen=True, slots=True)
class _Wish:
    place: Place
    actor: str
    done: asyncio.Future[Outcome]


class Redriver:
    """Takes wishes from the admin port, and carries them out when the worker's loop comes by."""

    def __init__(self, settings: RuntimeSettings, sorter: Sorter, seal: Seal | None) -> None:
        self._settings = settings
        self._sorter = sorter
        self._seal = seal
        self._wishes: deque[_Wish] = deque()

    @property
    def waits(self) -> bool:
        return bool(self._wishes)

    async def redrive(self, place: Place, actor: str) -> Outcome:
        """Have a parked record judged again. Raises OverflowError where too many wait."""
        if len(self._wishes) >= WAITING_MAX:
            raise OverflowError
        wish = _Wish(place, actor, asyncio.get_running_loop().create_future())
        self._wishes.append(wish)
        return await wish.done

    async def run(self, judge: Judge, owned: dict[int, Owned], db: Database, now_ms: int) -> None:
        """Carry out one wish. What fails in a judgement fails in the loop, which reads everything anew.

        The wish is over in any case: one that always fails must not stop the worker.
        """
        wish = self._wishes.popleft()
        outcome = Outcome.UNKNOWN
        try:
            if not wish.done.done():
                outcome = await self._judge_again(wish, judge, owned, db, now_ms)
        except KafkaError as error:
            # Only of the look at the old record: what is published fails elsewhere.
            _log.warning("record_not_read_again", error=type(error).__name__)
        finally:
            _log.info("redrive", outcome=outcome.value, by=wish.actor, **wish.place._asdict())
            if not wish.done.done():
                wish.done.set_result(outcome)

    async def _judge_again(
        self, wish: _Wish, judge: Judge, owned: dict[int, Owned], db: Database, now_ms: int
    ) -> Outcome:
        part = wish.place.part
        if part not in owned:
            return Outcome.NOT_HERE
        await _settle_held(judge, db, now_ms)
        found = await parking.one(db, wish.place)
        if found is None:
            return Outcome.NOT_FOUND
        if found.redriven_by is not None:
            return Outcome.ALREADY
        row = found.row
        stream = (row.key or b"").decode() if row.quarantined else None
        original = None if stream is not None else await self._original(row)
        if stream is not None:
            inputs = await parking.held(db, part, stream)
        elif original is None:
            return Outcome.GONE
        else:
            inputs = [original]
        if any(self._sorter.is_misplaced(one) for one in inputs):
            return Outcome.MISPLACED
        batch = Batch(now_ms, inputs=list(inputs))
        await judge.judge(batch, db, write_all=False)
        await _settle_held(judge, db, now_ms)
        again = batch.places_set_aside()
        judged = [one for one in inputs if (one.topic, one.offset) not in again]
        await self._mark(wish, judged, None if again else stream, owned[part], db, now_ms)
        if judged:
            await judge.publisher.publish([_told(one, wish.actor, self._settings) for one in judged], now_ms, {})
        return Outcome.SET_ASIDE_AGAIN if (wish.place.topic, wish.place.offset) in again else Outcome.REDRIVEN

    async def _original(self, row: ParkedRow) -> Input | None:
        """The record as it was read: from our own row where that is whole, else from Kafka."""
        value = parking.whole_payload(row, self._seal)
        if value is not None:
            return Input(row.topic, row.part, row.offset, row.key, value, parking.headers_of(row))
        return await kafka.read_again(self._settings, row.topic, row.part, row.offset)

    async def _mark(
        self, wish: _Wish, judged: Sequence[Input], opened: str | None, mine: Owned, db: Database, now_ms: int
    ) -> None:
        """Note who had these judged again, and open the stream; only while the partition is ours."""
        async with db.transaction():
            cursor = await db.execute("SELECT epoch FROM partition WHERE part = %s FOR UPDATE", [mine.part])
            row = await cursor.fetchone()
            if row is None or row[0] != mine.epoch:
                raise Fenced([mine.part])
            for one in judged:
                await parking.mark_redriven(db, Place(one.topic, one.part, one.offset), wish.actor, now_ms)
            if opened is not None:
                await db.execute("DELETE FROM quarantine WHERE part = %s AND stream = %s", [mine.part, opened])
        if opened is not None:
            mine.quarantined.discard(opened)


async def _settle_held(judge: Judge, db: Database, now_ms: int) -> None:
    # With Commit.INTERVAL what was judged and set aside is written only now and then.
    if judge.commit is Commit.INTERVAL:
        await judge.write_rows(db, now_ms)


def _told(judged: Input, actor: str, settings: RuntimeSettings) -> Output:
    """For whoever watches `parked`: this one is judged, and who wanted it."""
    place = f"{judged.topic}:{judged.part}:{judged.offset}"
    return Output(
        topic=parking.PARKED_TOPIC,
        part=judged.part,
        key=(judged.key or b"").decode("utf-8", "replace"),
        value=b"{}",
        headers=[
            ("ce_specversion", b"1.0"),
            ("ce_id", f"{place}:redriven".encode()),
            ("ce_source", f"/spades/{settings.service}".encode()),
            ("ce_type", b"spades.redriven.v1"),
            ("ce_subject", place.encode()),
            ("ce_spadesactor", actor.encode()),
        ],
    )
