"""The partition worker without servers: one partition, everything durable in lists."""

import os
from collections.abc import Callable, Iterable
from typing import Any, cast

import msgspec

import spades_rules as rules
from spades_events import (
    CE_TYPES,
    Envelope,
    Topic,
    commands,
    decode,
    encode,
    envelope_of,
    headers_of,
    private,
)
from spades_events.clock import TimedOut
from spades_events.events import TableEvent
from spades_events.values import BOT_ACCOUNT, RulesetChoice, TableKind
from spades_runtime import (
    Answer,
    AnswerId,
    Database,
    Effects,
    Input,
    Output,
    Parked,
    Poll,
    Seal,
    SnapshotRow,
)
from spades_table.handlers import Tables
from spades_table.house import House
from spades_table.store import LiveTable

PART = 3
T = "t-1"
OPEN = commands.OpenTable(kind=TableKind.PRACTICE, ruleset=RulesetChoice(name="classic"))
NO_DATABASE = cast(Database, None)
KEY = bytes(range(32))


class MemoryStore:
    """What PostgresStore answers, from lists."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.snapshots: dict[str, SnapshotRow] = {}

    async def live_tables(self, db: Database, part: int) -> list[LiveTable]:
        return [
            LiveTable(row, [one for one in self._accepted(row.stream) if one.first_version > row.version])
            for row in sorted(self.snapshots.values())
            if row.part == part and not row.retired
        ]

    async def whole_stream(self, db: Database, table_id: str) -> list[Answer]:
        return self._accepted(table_id)

    async def known_tables(self, db: Database, table_ids: Iterable[str]) -> dict[str, SnapshotRow]:
        return {one: self.snapshots[one] for one in table_ids if one in self.snapshots}

    async def stored_answers(self, db: Database, ids: Iterable[AnswerId]) -> dict[AnswerId, Answer]:
        wanted = set(ids)
        return {one.id: one for one in self.answers if one.id in wanted}

    def _accepted(self, table_id: str) -> list[Answer]:
        return [one for one in self.answers if one.stream == table_id and one.refusal is None]


class FakeWorker:
    """Feeds polls to the processor and keeps what a commit would make durable."""

    def __init__(
        self, house: House | None = None, seal: Seal | None = None, random: Callable[[int], bytes] = os.urandom
    ) -> None:
        self.house = house or House()
        self.seal = seal or Seal("k1", {"k1": KEY})
        self.store = MemoryStore()
        self._random = random
        self.tables = Tables(self.house, self.seal, self.store, random)
        self._stored: set[AnswerId] = set()
        self.published: list[Output] = []
        self.parked: list[Parked] = []
        self.quarantined: list[Parked] = []
        self.recalls = 0
        self._told: dict[str, list[TableEvent]] = {}
        self._read = 0
        self.now_ms = 1_000_000
        self._offset = 0

    async def take(self) -> list[Output]:
        outputs = await self.tables.take(PART, NO_DATABASE)
        self.published += outputs
        return outputs

    async def restart(self) -> list[Output]:
        """Another process with an empty memory takes the partition."""
        self.tables = Tables(self.house, self.seal, self.store, self._random)
        return await self.take()

    async def poll(self, *inputs: Input, outage: tuple[int, int] | None = None, twice: bool = False) -> list[Output]:
        """One turn of the loop; `twice` judges everything again after a discard."""
        outages = {PART: outage} if outage else {}
        records = list(inputs)
        while True:
            effects = await self.tables.process(Poll(records, self.now_ms, outages), NO_DATABASE)
            if effects.quarantined:
                self.tables.discard()
                self.quarantined += effects.quarantined
                bad = [one.source for one in effects.quarantined]
                records = [one for one in records if one not in bad]
                continue
            if twice:
                twice = False
                self.tables.discard()
                continue
            again = [one.id for one in effects.answers if one.id in self._stored]
            if not again:
                break
            self.recalls += 1
            self.tables.discard()
            await self.tables.recall(again, NO_DATABASE)
        return self._commit(effects)

    def _commit(self, effects: Effects) -> list[Output]:
        ids = [one.id for one in effects.answers]
        assert len(set(ids)) == len(ids)
        self._stored.update(ids)
        self.store.answers += effects.answers
        for answer in effects.answers:
            if answer.first_version == 1 and answer.events:
                self._snap(SnapshotRow(PART, answer.stream, 0, b""))
        for row in effects.snapshots:
            self._snap(row)
        self.parked += effects.parked
        self.tables.committed()
        outputs: list[Output] = []
        for answer in effects.answers:
            outputs += self.tables.records(answer)
            outputs += answer.outputs
        outputs += effects.outputs
        self.published += outputs
        return outputs

    def _snap(self, row: SnapshotRow) -> None:
        self.store.snapshots[row.stream] = row

    # records in

    def command(self, table_id: str, account: str, command: msgspec.Struct, command_id: str | None = None) -> Input:
        self._offset += 1
        return self.record(
            Topic.TABLE_COMMANDS,
            table_id,
            encode(command),
            Envelope(
                id=command_id or f"command-{self._offset}",
                type=CE_TYPES[type(command)],
                source="/spades/lobby",
                subject=table_id,
                actor=account,
            ),
        )

    def news(self, table_id: str, event: msgspec.Struct, version: int) -> Input:
        topic = Topic.CLOCK_EVENTS if isinstance(event, TimedOut) else Topic.WALLET_EVENTS
        envelope = Envelope(
            id=f"{table_id}:{version}",
            type=CE_TYPES[type(event)],
            source="/spades/other",
            subject=table_id,
            sequence=version,
        )
        return self.record(topic, table_id, encode(event), envelope)

    def record(self, topic: Topic, key: str, value: bytes, envelope: Envelope) -> Input:
        self._offset += 1
        return Input(topic, PART, self._offset, key.encode(), value, headers_of(envelope))

    # records out

    def public(self, table_id: str) -> list[TableEvent]:
        """The table's public stream, as a reader sees it; versions without gap or repetition."""
        for record in self.published[self._read :]:
            if record.topic == Topic.TABLE_EVENTS:
                envelope = envelope_of(record.headers)
                told = self._told.setdefault(record.key, [])
                told.append(cast(TableEvent, decode(envelope.type, record.value)))
                assert envelope.sequence == len(told)
                assert envelope.id == f"{record.key}:{len(told)}"
        self._read = len(self.published)
        return self._told.get(table_id, [])

    def deadline(self, table_id: str) -> TimedOut:
        """The timeout of the deadline that was set last."""
        for event in reversed(self.public(table_id)):
            deadline_id = getattr(event, "deadline_id", None)
            due_ms = getattr(event, "due_ms", None)
            if deadline_id is not None and due_ms is not None:
                return TimedOut(deadline_id=deadline_id, due_ms=due_ms)
        raise AssertionError("no deadline runs")


def of_type(outputs: Iterable[Output], cls: type[Any]) -> list[Any]:
    """The records of one type, decoded."""
    found = []
    for output in outputs:
        envelope = envelope_of(output.headers)
        if envelope.type == CE_TYPES[cls]:
            found.append(decode(envelope.type, output.value))
    return found


def answers_in(outputs: Iterable[Output]) -> list[private.Answer]:
    found: list[private.Answer] = of_type(outputs, private.Answer)
    return found


async def started(worker: FakeWorker, table_id: str = "t-1", *, people: int = 1, **fields: Any) -> None:
    """A practice table of ann (and bob, cat, dan) and bots, with its first hand dealt."""
    opening = commands.OpenTable(
        kind=fields.pop("kind", "practice"),
        ruleset=fields.pop("ruleset", commands.RulesetChoice(name="classic")),
        **fields,
    )
    asked = [worker.command(table_id, "ann", opening)]
    for seat, account in enumerate(("ann", "bob", "cat", "dan")[:people]):
        asked.append(worker.command(table_id, account, commands.TakeSeat(seat=seat)))
    asked.append(worker.command(table_id, "ann", commands.StartGame()))
    await worker.poll(*asked)


def bots_move(worker: FakeWorker, prompt: private.Prompt) -> Input:
    """What a bot service makes of a prompt."""
    view = rules.View(**view_of(prompt))
    judged = rules.judge(view)
    match judged:
        case rules.PlayCard(card=card):
            body: commands.TableCommand = commands.PlayCard(turn_id=prompt.turn_id, card=rules.card_name(card))
        case rules.PlaceBid(bid=bid):
            body = commands.PlaceBid(turn_id=prompt.turn_id, bid=bid)
        case rules.PassCards(cards=cards):
            first, second = rules.card_names(cards)
            body = commands.PassCards(turn_id=prompt.turn_id, cards=(first, second))
        case _:
            body = commands.LookAtCards(hand_no=prompt.hand_no)
    command_id = f"{prompt.table_id}:{prompt.turn_id}:{type(body).__name__}"
    return worker.command(prompt.table_id, BOT_ACCOUNT, body, command_id)


def view_of(prompt: private.Prompt) -> dict[str, object]:
    view = msgspec.json.decode(bytes(prompt.view), type=rules.View)
    return {name: getattr(view, name) for name in rules.View.__dataclass_fields__}


async def play(worker: FakeWorker, *, twice: bool = False, moves_max: int = 5_000) -> None:
    """Let bots answer their prompts until none is left."""
    prompts: list[private.Prompt] = of_type(worker.published, private.Prompt)[-1:]
    for _ in range(moves_max):
        if not prompts:
            return
        worker.now_ms += 20
        moves = [bots_move(worker, prompt) for prompt in prompts]
        if twice:
            moves = [record for move in moves for record in (move, move)]
        outputs = await worker.poll(*moves)
        if twice:
            # And once more in a later poll.
            outputs += await worker.poll(*moves)
        prompts = of_type(outputs, private.Prompt)
    raise AssertionError("the bots do not come to an end")
