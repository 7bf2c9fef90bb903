"""Judgement: one poll on its way to effects."""

from collections.abc import Callable
from typing import Final

import structlog

from spades_events import Topic, commands
from spades_events.clock import TimedOut
from spades_rules import RulesError
from spades_runtime import AnswerId, Database, Effects, Input, Parked, Seal
from spades_table import metrics
from spades_table.answering import (
    Origin,
    accepted,
    accepted_body,
    refusal_of,
    rejected_body,
    snapshots_of,
    told,
)
from spades_table.domain import (
    Asked,
    Cause,
    CorruptStream,
    Decision,
    FoundUnreadable,
    Outage,
    Refused,
    decide,
)
from spades_table.house import House
from spades_table.loading import Loader
from spades_table.memory import Answered, Memory, Waiting
from spades_table.opening import ROOT_BYTES
from spades_table.phases import Ended, Table, Unopened, chairs_of
from spades_table.private import snapshot
from spades_table.reading import CLOCK, TABLE, WALLET, Command, News, Unreadable, read_command, read_news
from spades_table.refusals import refused
from spades_table.seating import CHANCE_BYTES
from spades_table.seats import seat_of
from spades_table.wire import snapshot_record

log = structlog.get_logger()

TIMEOUTS_MAX: Final = 50
"""Timeouts acted on in one poll, each at most 500 µs of judgement; the rest go first next time."""

BUGS: Final = (CorruptStream, RulesError, AssertionError, LookupError, TypeError, ValueError)
"""What a bug of ours raises: the one record is set aside, all others go on."""


class Judgement:
    """Judges one poll against memory's overlay; the outcome is in `effects`."""

    def __init__(self, house: House, seal: Seal, memory: Memory, now_ms: int, random: Callable[[int], bytes]) -> None:
        self._house = house
        self._seal = seal
        self._memory = memory
        self._now_ms = now_ms
        self._random = random
        self._over: dict[tuple[int, str], Ended] = {}
        """Tables that are over and not in memory, looked up for this poll."""
        self._timeouts = 0
        self._put_off: list[Waiting] = []
        self.effects = Effects()

    # before the records

    def give_back(self, part: int, alive_at_ms: int, outage_ms: int) -> None:
        """Give an outage's time back to every deadline of a partition."""
        for table_id, _ in self._memory.tables_of(part):
            origin = Origin(part, table_id, CLOCK, f"outage:{alive_at_ms}", None)
            self._act(origin, Outage(outage_ms))

    def cancel_unreadable(self) -> None:
        """Cancel the tables whose cards cannot be read again."""
        unreadable = self._memory.unreadable
        for part, table_id in unreadable:
            log.error("deal_unreadable", table=table_id)
            self._act(Origin(part, table_id, TABLE, "unreadable", None), FoundUnreadable())
        if unreadable:
            self._memory.cancelled_unreadable()

    def take_up_waiting(self) -> None:
        """Act on the timeouts that the poll before put off."""
        for part, table_id, timeout in self._memory.waiting:
            self._time_out(part, table_id, timeout, None)

    def read(self, inputs: list[Input]) -> list[Command | News]:
        """Decode the records: what no command is, is parked; what no event is, holds its stream."""
        readable: list[Command | News] = []
        for source in inputs:
            try:
                if source.topic == Topic.TABLE_COMMANDS:
                    readable.append(read_command(source))
                    continue
                news = read_news(source)
            except Unreadable as unreadable:
                self._set_aside(source, unreadable.reason)
                continue
            if news is not None:
                readable.append(news)
        return readable

    def _set_aside(self, source: Input, reason: str) -> None:
        if source.topic == Topic.TABLE_COMMANDS:
            self.effects.parked.append(Parked(source, reason, secret=True))
        else:
            self.effects.quarantined.append(Parked(source, reason, secret=False))

    async def look_up(self, readable: list[Command | News], loader: Loader, db: Database) -> None:
        """Find the tables that are not in memory: one query for them, one for their old answers."""
        unknown: dict[str, int] = {}
        ids: list[AnswerId] = []
        for one in readable:
            if isinstance(one, Command):
                part = one.source.part
                if self._memory.is_unknown(part, one.table_id):
                    unknown[one.table_id] = part
                    ids.append((one.table_id, one.account, one.command_id))
        if not unknown:
            return
        over, answered = await loader.known(db, unknown, ids)
        for table_id, table in over.items():
            self._over[unknown[table_id], table_id] = table
        self._memory.recall(answered)

    # records

    def command(self, one: Command) -> None:
        """Answer a command: as before where it was answered, else as decided now."""
        part, table_id = one.source.part, one.table_id
        if self._memory.is_corrupt(part, table_id):
            self._set_aside(one.source, "the history of its table cannot be folded")
            return
        origin = Origin(part, table_id, one.account, one.command_id, one.traceparent)
        if isinstance(one.body, commands.SyncSeat):
            self._sync(origin, one.body)
            return
        known = self._memory.answered((table_id, one.account, one.command_id))
        if known is not None:
            self._repeat(one, origin, known)
            return
        table = self._table(part, table_id)
        try:
            asked = Asked(one.account, one.body, self._chance_for(one.body))
            decision = decide(table, asked, self._now_ms)
        except Refused as refusal:
            self._refuse(one, origin, table, refusal)
            return
        except BUGS as bug:
            self._report(bug, one.source)
            return
        self._accept(decision, table, origin, self._seal.fingerprint(one.printed))

    def _table(self, part: int, table_id: str) -> Table:
        table = self._memory.table(part, table_id) or self._over.get((part, table_id))
        return Unopened(table_id=table_id, house=self._house) if table is None else table

    def _sync(self, origin: Origin, asked: commands.SyncSeat) -> None:
        table = self._table(origin.part, origin.table_id)
        if isinstance(table, Unopened):
            self._tell(origin, rejected_body(origin, refused("not_found")))
            return
        account = origin.account
        seat = seat_of(chairs_of(table), account)
        seen = snapshot(table, seat, account, self._now_ms, asked.connection_id)
        self.effects.outputs.append(snapshot_record(seen, origin.part, origin.command_id))

    def _repeat(self, one: Command, origin: Origin, known: Answered) -> None:
        """The same command again: the same answer. Another one under its id: conflict."""
        if not self._seal.is_of(known.fingerprint, one.printed):
            self._tell(origin, rejected_body(origin, refused("conflict")))
        elif known.refusal is not None:
            self._tell(origin, known.refusal)
        else:
            self._tell(origin, accepted_body(origin, known.first_version, known.last_version))

    def _tell(self, origin: Origin, body: bytes) -> None:
        """Answer without storing: it is stored already, or about no table at all."""
        self.effects.outputs.append(told(origin, body, self._now_ms))

    def _refuse(self, one: Command, origin: Origin, table: Table, refusal: Refused) -> None:
        metrics.REFUSED.labels(refusal.rejection.code).inc()
        body = rejected_body(origin, refusal)
        if not self._keeps_refusals(one, table):
            self._tell(origin, body)
            return
        fingerprint = self._seal.fingerprint(one.printed)
        answer = refusal_of(body, table, origin, fingerprint, self._now_ms)
        self._memory.note_answer(answer)
        self.effects.answers.append(answer)

    def _keeps_refusals(self, one: Command, table: Table) -> bool:
        """Not of tables that are not there or over: anybody could fill the store with them."""
        if isinstance(table, Unopened):
            return isinstance(one.body, commands.OpenTable)
        return (one.source.part, one.table_id) not in self._over

    def news(self, one: News) -> None:
        """Let a table react to an event of the wallet or the clock."""
        part = one.source.part
        if self._memory.is_corrupt(part, one.table_id):
            self._set_aside(one.source, "the history of its table cannot be folded")
        elif isinstance(one.body, TimedOut):
            self._time_out(part, one.table_id, one.body, one.traceparent)
        else:
            origin = Origin(part, one.table_id, WALLET, one.event_id, one.traceparent)
            self._act(origin, one.body, one.source)

    def _time_out(self, part: int, table_id: str, timeout: TimedOut, traceparent: str | None) -> None:
        table = self._memory.table(part, table_id)
        deadline = None if table is None else table.deadline
        if deadline is None or not deadline.counts(timeout, self._now_ms):
            return
        if self._timeouts >= TIMEOUTS_MAX:
            self._put_off.append(Waiting(part, table_id, timeout))
            return
        self._timeouts += 1
        metrics.TIMED_OUT.labels(deadline.kind.value).inc()
        origin = Origin(part, table_id, CLOCK, str(timeout.deadline_id), traceparent)
        self._act(origin, timeout)

    def finish(self) -> None:
        """Keep what was put off; of repeated timeouts of one table the first is enough."""
        if self._put_off or self._memory.waiting:
            first = {(one.part, one.table_id): one for one in reversed(self._put_off)}
            metrics.DEFERRED.inc(len(first))
            self._memory.wait(list(reversed(first.values())))

    # effects

    def _act(self, origin: Origin, cause: Cause, source: Input | None = None) -> None:
        """Let a table react to what no account asked for; what no longer counts leaves no trace."""
        table = self._memory.table(origin.part, origin.table_id)
        if table is None or self._memory.answered(origin[1:4]) is not None:
            return
        try:
            decision = decide(table, cause, self._now_ms)
        except BUGS as bug:
            self._report(bug, source)
            return
        if decision.facts:
            self._accept(decision, table, origin, b"")

    def _accept(self, decision: Decision, before: Table, origin: Origin, fingerprint: bytes) -> None:
        answer = accepted(decision, before, origin, self._seal, fingerprint, self._now_ms)
        effects = self.effects
        effects.answers.append(answer)
        effects.snapshots += snapshots_of(decision, answer.first_version, origin, self._seal)
        self._memory.note_answer(answer)
        assert not isinstance(decision.table, Unopened)
        self._memory.put(origin.part, origin.table_id, decision.table)

    def _chance_for(self, command: object) -> bytes:
        """Fresh random bytes for the two commands that draw."""
        if isinstance(command, commands.OpenTable):
            return self._random(ROOT_BYTES)
        return self._random(CHANCE_BYTES) if isinstance(command, commands.TakeSeat) else b""

    def _report(self, bug: Exception, source: Input | None) -> None:
        # The kind and the place only: a text or a frame might hold a card.
        log.error("bug", kind=type(bug).__name__, at=_place_of(bug))
        if source is not None:
            self._set_aside(source, f"a bug: {type(bug).__name__}")


def _place_of(bug: Exception) -> str:
    trace = bug.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "unknown"
    return f"{trace.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno}"
