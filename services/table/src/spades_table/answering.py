"""Answering: a decision as the stored answer, the private records and the snapshots it brings."""

from typing import Final, NamedTuple

from spades_events import CE_TYPES, encode, events, private
from spades_events.values import BOT_ACCOUNT
from spades_runtime import Answer, Output, Seal, SnapshotRow, StoredEvent
from spades_table import metrics
from spades_table.domain import Decision, Refused
from spades_table.phases import Dealing, Ended, Table, Unopened
from spades_table.private import WITH_SUPPLEMENTS, prompt, supplements
from spades_table.reading import CLOCK, TABLE, WALLET
from spades_table.saving import save_deal, save_end
from spades_table.wire import answer_record, prompt_record, supplement_record

_ASKING: Final = frozenset((events.TurnStarted, events.CardsSeen))
"""Behind these a bot on turn is asked: a new turn, or its cards have just been turned."""


class Origin(NamedTuple):
    """Where an answer comes from: whose command, or which news, about which table."""

    part: int
    table_id: str
    account: str
    command_id: str
    traceparent: str | None

    @property
    def hears(self) -> bool:
        """Whether somebody waits for the answer; the bot service only looks at its next prompt."""
        return self.account not in (BOT_ACCOUNT, CLOCK, WALLET, TABLE)


def accepted(decision: Decision, before: Table, origin: Origin, seal: Seal, fingerprint: bytes, now_ms: int) -> Answer:
    """Return the answer of a decision that brings facts, its private records behind it."""
    table = decision.table
    assert not isinstance(table, Unopened)
    part, table_id = origin.part, origin.table_id
    outputs: list[Output] = []
    stored: list[StoredEvent] = []
    version = before.version
    asks = False
    for fact in decision.facts:
        version += 1
        event, secret, _ = fact
        kind = type(event)
        seats, sealed = "", None
        if kind in WITH_SUPPLEMENTS:
            asks = asks or kind in _ASKING
            for supplement in supplements(fact, table):
                seats += str(supplement.seat)
                outputs.append(supplement_record(supplement, part, table_id, version, now_ms))
        if secret is not None:
            sealed = seal.seal(secret, table_id.encode())
        stored.append(StoredEvent(CE_TYPES[kind], encode(event), sealed, seats))
    if origin.hears:
        body = accepted_body(origin, before.version + 1, version)
        outputs.append(told(origin, body, now_ms))
    asked = prompt(table) if asks else None
    if asked is not None:
        outputs.append(prompt_record(asked, part, version, now_ms))
    return Answer(
        part=part,
        stream=table_id,
        account=origin.account,
        command_id=origin.command_id,
        fingerprint=fingerprint,
        first_version=before.version + 1,
        events=tuple(stored),
        refusal=None,
        at_ms=now_ms,
        traceparent=origin.traceparent,
        outputs=tuple(outputs),
    )


def refusal_of(body: bytes, table: Table, origin: Origin, fingerprint: bytes, now_ms: int) -> Answer:
    """Return the answer that keeps a refusal; `body` is what its sender is told."""
    return Answer(
        part=origin.part,
        stream=origin.table_id,
        account=origin.account,
        command_id=origin.command_id,
        fingerprint=fingerprint,
        first_version=table.version,
        events=(),
        refusal=body,
        at_ms=now_ms,
        traceparent=origin.traceparent,
        outputs=(told(origin, body, now_ms),) if origin.hears else (),
    )


def snapshots_of(decision: Decision, first_version: int, origin: Origin, seal: Seal) -> list[SnapshotRow]:
    """Return the snapshot of a table that was dealt, and of one that leaves memory."""
    part, table_id = origin.part, origin.table_id
    before_deal, table = decision.before_deal, decision.table
    rows = []
    if isinstance(before_deal, Dealing):
        metrics.HANDS.inc()
        root = before_deal.setup.root
        assert root is not None
        body = save_deal(before_deal, seal.seal(root, table_id.encode()))
        # The answer that deals is read again as a whole; the fold skips what the snapshot has.
        rows.append(SnapshotRow(part, table_id, first_version - 1, body))
    if isinstance(table, Ended):
        if not isinstance(decision.facts[-1].event, events.GameSettled):
            metrics.ENDED.labels(table.reason).inc()
        if table.settled:
            rows.append(SnapshotRow(part, table_id, table.version, save_end(table), retired=True))
    return rows


def rejected_body(origin: Origin, refusal: Refused) -> bytes:
    """What a refused command's sender is told."""
    return encode(
        private.Answer(
            command_id=origin.command_id,
            account_id=origin.account,
            rejection=refusal.rejection,
        )
    )


def accepted_body(origin: Origin, first_version: int, last_version: int) -> bytes:
    """What an accepted command's sender is told: where its events stand."""
    return encode(
        private.Answer(
            command_id=origin.command_id,
            account_id=origin.account,
            first_version=first_version,
            last_version=last_version,
        )
    )


def told(origin: Origin, body: bytes, now_ms: int) -> Output:
    """Return the private record that tells a sender its answer."""
    return answer_record(body, origin.part, origin.table_id, origin.account, origin.command_id, now_ms)
