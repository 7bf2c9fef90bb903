"""A domain small enough to see through: named counters that are added to.

Commands (`table.commands`, key = counter): {"add": n} moves it; a negative n is refused; {"read": true}
answers without an event. Events of others (`wallet.events`): {"gift": n} moves it too, unless it cannot be read.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from spades_events.envelope import Envelope, MissingAttribute, envelope_of, headers_of
from spades_runtime import (
    Answer,
    AnswerId,
    Database,
    Effects,
    Headers,
    Input,
    Output,
    Parked,
    Poll,
    SnapshotRow,
    StoredEvent,
)
from spades_runtime import answers as stored_answers
from spades_runtime import snapshots as stored_snapshots

COMMANDS, GIFTS, EVENTS, PRIVATE = "table.commands", "wallet.events", "table.events", "table.private"
SNAPSHOT_EVERY = 5


@dataclass(frozen=True, slots=True)
class Counter:
    version: int = 0
    total: int = 0


def command(stream: str, command_id: str, body: bytes, account: str = "ann") -> tuple[bytes, list[tuple[str, bytes]]]:
    """The value and headers of a command record."""
    return body, headers_of(Envelope(command_id, "spades.add.v1", "/test", stream, actor=account))


@dataclass
class CounterProcessor:
    """Keeps every counter of its partitions in memory."""

    inputs: tuple[str, ...] = (COMMANDS, GIFTS)
    outputs: tuple[str, ...] = (EVENTS,)
    counters: dict[str, Counter] = field(default_factory=dict)
    part_of: dict[str, int] = field(default_factory=dict)
    overlay: dict[str, Counter] = field(default_factory=dict)
    answered: dict[AnswerId, Answer] = field(default_factory=dict)
    recalled: dict[AnswerId, Answer] = field(default_factory=dict)
    outages: list[tuple[int, int, int]] = field(default_factory=list)
    polls: list[int] = field(default_factory=list)
    takes: int = 0

    def concerns(self, topic: str, headers: Headers) -> bool:
        return True

    async def take(self, part: int, db: Database) -> list[Output]:
        self.takes += 1
        self.drop(part)
        for row in await stored_snapshots.live(db, part):
            self.counters[row.stream] = Counter(row.version, int(row.body or b"0"))
            self.part_of[row.stream] = part
        for answer in await stored_answers.tail(db, part):
            self.counters[answer.stream] = _folded(self.counters[answer.stream], answer)
        return [Output(PRIVATE, part, stream, b"fresh", []) for stream in self.counters if self.part_of[stream] == part]

    def drop(self, part: int) -> None:
        for stream in [stream for stream, where in self.part_of.items() if where == part]:
            del self.counters[stream], self.part_of[stream]

    async def process(self, poll: Poll, db: Database) -> Effects:
        effects = Effects()
        self.polls.append(len(poll.inputs))
        for part, (alive_at_ms, outage_ms) in poll.outages_ms.items():
            self.outages.append((part, alive_at_ms, outage_ms))
        for record in poll.inputs:
            self._judge(record, poll.now_ms, effects)
        return effects

    def _judge(self, record: Input, now_ms: int, effects: Effects) -> None:
        is_command = record.topic == COMMANDS
        try:
            body = json.loads(record.value)
            kind = "add" if is_command else "gift"
            amount, envelope = int(body.get(kind, 0)), envelope_of(record.headers)
        except (ValueError, AttributeError, MissingAttribute) as error:
            parked = Parked(record, f"unreadable: {type(error).__name__}", secret=is_command)
            (effects.parked if is_command else effects.quarantined).append(parked)
            return
        assert record.key is not None
        stream, account = record.key.decode(), envelope.actor or "gift"
        answer_id = (stream, account, envelope.id)
        before = self.answered.get(answer_id) or self.recalled.get(answer_id)
        if before is not None:
            effects.outputs.append(_told(before, b"again"))
            return
        counter = self.overlay.get(stream) or self.counters.get(stream) or Counter()
        if body.get("read"):
            effects.outputs.append(Output(PRIVATE, record.part, stream, b"%d" % counter.total, []))
            return
        answer = _answered(record, answer_id, counter, amount, now_ms)
        self.answered[answer_id] = answer
        effects.answers.append(answer)
        if answer.refusal is None:
            counter = self.overlay[stream] = _folded(counter, answer)
            self.part_of[stream] = record.part
            if counter.version % SNAPSHOT_EVERY == 0:
                effects.snapshots.append(SnapshotRow(record.part, stream, counter.version, b"%d" % counter.total))

    def records(self, answer: Answer) -> list[Output]:
        return [
            Output(
                EVENTS,
                answer.part,
                answer.stream,
                event.body,
                headers_of(
                    Envelope(f"{answer.stream}:{version}", event.type, "/test", answer.stream, version, answer.at_ms)
                ),
            )
            for version, event in enumerate(answer.events, answer.first_version)
        ]

    def committed(self) -> None:
        self.counters.update(self.overlay)
        self._forget()

    def discard(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self.overlay.clear()
        self.answered.clear()
        self.recalled.clear()

    async def recall(self, ids: list[AnswerId], db: Database) -> None:
        self.recalled.update(await stored_answers.fetch(db, ids))

    def next_due_ms(self) -> int | None:
        return None

    async def flush(self, db: Database) -> None:
        raise AssertionError("no interval here")

    async def unsettled(self, part: int, db: Database) -> list[str]:
        return sorted(stream for stream, where in self.part_of.items() if where == part) or [
            row.stream for row in await stored_snapshots.live(db, part)
        ]


def _answered(record: Input, answer_id: AnswerId, counter: Counter, amount: int, now_ms: int) -> Answer:
    refused = amount < 0
    total = counter.total + amount
    body = json.dumps({"by": amount, "total": total}).encode()
    return Answer(
        part=record.part,
        stream=answer_id[0],
        account=answer_id[1],
        command_id=answer_id[2],
        fingerprint=stored_answers.fingerprint(record.value),
        first_version=counter.version if refused else counter.version + 1,
        events=() if refused else (StoredEvent("spades.added.v1", body),),
        refusal=b'{"code":"negative"}' if refused else None,
        at_ms=now_ms,
        outputs=(Output(PRIVATE, record.part, answer_id[0], b"answered", []),),
    )


def _told(answer: Answer, how: bytes) -> Output:
    return Output(PRIVATE, answer.part, answer.stream, how, [("ce_id", answer.command_id.encode())])


def _folded(counter: Counter, answer: Answer) -> Counter:
    for version, event in enumerate(answer.events, answer.first_version):
        assert version == counter.version + 1, f"{answer.stream}: {version} behind {counter.version}"
        body: dict[str, Any] = json.loads(event.body)
        counter = Counter(version, counter.total + body["by"])
        assert counter.total == body["total"]
    return counter
