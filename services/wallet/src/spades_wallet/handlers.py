"""The wallet as a processor: each poll is one transaction of locked accounts, decisions and posted transfers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, assert_never

import psycopg
import structlog

from spades_events import CE_TYPES, Envelope, Topic, UndecodableMessage, encode, headers_of
from spades_events.commands import TopUp
from spades_events.wallet import HoldRefused, WalletCommandRefused, WalletEvent
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
    StoredEvent,
    answers,
)
from spades_wallet import metrics, store
from spades_wallet.accounts import FromAccount, top_up_key
from spades_wallet.decision import Rejected, Terms
from spades_wallet.domain import FromTable, Request, accounts_named, decide, evolve
from spades_wallet.ledger import Account, AccountId, Book, Hold, LedgerError, TableId, Transfer, TransferKey
from spades_wallet.reading import Delivery, concerns_coins, open_days, read
from spades_wallet.settlement import ImpossibleEvent

SOURCE: Final = "/spades/wallet"
CONFLICT: Final = "conflict"

log = structlog.get_logger()


class BookDiffers(psycopg.IntegrityError):
    """The database's balances after posting are not those that were decided on: nothing is committed."""


@dataclass(slots=True)
class _Judged:
    """What a poll has come to so far."""

    answered: dict[AnswerId, Answer]
    versions: dict[str, int]
    effects: Effects
    transfers: list[tuple[int, Transfer]] = field(default_factory=list)

    def add(self, delivery: Delivery, answer: Answer, transfers: Iterable[Transfer]) -> None:
        self.effects.answers.append(answer)
        self.answered[answer.id] = answer
        if answer.events:
            self.versions[answer.stream] = answer.first_version + len(answer.events) - 1
        self.transfers += [(delivery.source.part, transfer) for transfer in transfers]


class Wallet:
    """Judges wallet commands and table events; keeps no state in memory between two polls."""

    inputs: tuple[str, ...] = (Topic.WALLET_COMMANDS, Topic.TABLE_EVENTS)
    outputs: tuple[str, ...] = (Topic.WALLET_EVENTS,)

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._posting: list[Transfer] = []

    def concerns(self, topic: str, headers: Headers) -> bool:
        return concerns_coins(topic, headers)

    async def process(self, poll: Poll, db: Database) -> Effects:
        """Judge the poll inside the worker's transaction.

        Raises psycopg.IntegrityError where a constraint of the ledger fires after all: the
        worker then judges each record by itself, so that a bad one stops no other.
        """
        deliveries, effects = _read_all(poll)
        if effects.quarantined or not deliveries:
            return effects
        book = await _load(db, deliveries)
        answered = await answers.fetch(db, [delivery.id for delivery in deliveries])
        versions = await store.last_versions(db, [delivery.stream for delivery in deliveries])
        judged = _Judged(answered, versions, effects)
        for delivery in deliveries:
            known = judged.answered.get(delivery.id)
            if known is None:
                book = self._decide(book, delivery, poll.now_ms, judged)
            else:
                self._repeat(delivery, known, poll.now_ms, effects)
        if not effects.quarantined:
            _compare(book, await store.post(db, judged.transfers, poll.now_ms))
            self._posting = [transfer for _, transfer in judged.transfers]
        return effects

    def _decide(self, book: Book, delivery: Delivery, now_ms: int, judged: _Judged) -> Book:
        try:
            decision = decide(book, delivery.request, self.terms)
        except Rejected as rejected:
            metrics.REFUSALS.labels(rejected.code).inc()
            refused = _refusal(delivery.request, rejected.code)
            judged.add(delivery, _answer(delivery, (), refused, now_ms, judged.versions), ())
            return book
        except ImpossibleEvent as impossible:
            _set_aside(judged.effects, delivery.source, f"contradicts the ledger: {impossible}")
            return book
        except LedgerError as bug:
            # One request that the ledger cannot carry out must not stop the others.
            log.exception("decision_refused_by_book", offset=delivery.source.offset)
            _set_aside(judged.effects, delivery.source, f"refused by the ledger: {type(bug).__name__}")
            return book
        if decision.alarm:
            metrics.ALARMS.labels(decision.alarm).inc()
            log.error(decision.alarm, stream=delivery.stream, offset=delivery.source.offset)
        if decision.event is None:
            return book
        if isinstance(decision.event, HoldRefused):
            metrics.REFUSALS.labels(decision.event.code).inc()
        book = evolve(book, decision)
        judged.add(
            delivery,
            _answer(delivery, _stored(decision.event), None, now_ms, judged.versions),
            decision.transfers,
        )
        return book

    def _repeat(self, delivery: Delivery, known: Answer, now_ms: int, effects: Effects) -> None:
        """The same request again has the same answer and no effect; another one under its id has neither."""
        same = known.fingerprint == delivery.fingerprint
        metrics.REPEATS.labels("same" if same else CONFLICT).inc()
        match delivery.request:
            case FromAccount():
                if same:
                    effects.outputs += self.records(known)
                else:
                    refused = _refusal(delivery.request, CONFLICT)
                    effects.outputs.append(_refusal_record(_answer(delivery, (), refused, now_ms, {}), refused))
            case FromTable():
                # Whoever waits for the answer has it, or gets it from the worker's own republication.
                if not same:
                    reason = f"conflict: {delivery.id[2].partition(':')[0]} was asked for before, otherwise"
                    effects.parked.append(Parked(delivery.source, reason, secret=False))
            case never:
                assert_never(never)

    def records(self, answer: Answer) -> list[Output]:
        """The events of an answer, versioned in their stream; a refusal has no version, for it is no fact."""
        if answer.refusal is not None:
            return [_refusal_record(answer, answer.refusal)]
        return [
            _record(answer, f"{answer.stream}:{version}", event.type, event.body, version)
            for version, event in enumerate(answer.events, answer.first_version)
        ]

    async def unsettled(self, part: int, db: Database) -> list[str]:
        return await store.unsettled_streams(db, part)

    async def take(self, part: int, db: Database) -> list[Output]:
        return []

    def drop(self, part: int) -> None:
        pass

    def committed(self) -> None:
        """Count what has become durable."""
        for transfer in self._posting:
            metrics.TRANSFERS.labels(transfer.code.value).inc()
            metrics.COINS_MOVED.labels(transfer.code.value).inc(transfer.amount_coins)
        self._posting = []

    def discard(self) -> None:
        self._posting = []

    async def recall(self, ids: list[AnswerId], db: Database) -> None:
        """Nothing to load: every poll asks the database for the answers of its own records."""

    def next_due_ms(self) -> int | None:
        return None

    async def flush(self, db: Database) -> None:
        raise AssertionError("the wallet commits with each poll")


def _read_all(poll: Poll) -> tuple[list[Delivery], Effects]:
    days, deliveries, effects = open_days(poll.now_ms), [], Effects()
    for source in poll.inputs:
        try:
            delivery = read(source, days)
        except UndecodableMessage as error:
            _set_aside(effects, source, error.reason)
            continue
        if delivery is not None:
            deliveries.append(delivery)
    return deliveries, effects


def _set_aside(effects: Effects, source: Input, reason: str) -> None:
    """A command: the partition moves on. A table's event: its stream waits, or a later one would look like it."""
    if source.topic == Topic.TABLE_EVENTS:
        effects.quarantined.append(Parked(source, reason, secret=False))
    else:
        effects.parked.append(Parked(source, reason, secret=True))


async def _load(db: Database, deliveries: Sequence[Delivery]) -> Book:
    """Lock every account the deliveries may move, in one go and in id order, and read the rest of their state."""
    tables: set[TableId] = set()
    ids: set[AccountId] = set()
    keys: set[TransferKey] = set()
    for delivery in deliveries:
        match delivery.request:
            case FromTable(table=table, fact=fact):
                tables.add(table)
                ids.update(accounts_named(fact))
            case FromAccount(account=account, wish=wish):
                ids.add(account)
                if isinstance(wish, TopUp):
                    keys.add(top_up_key(account, wish.day))
    for escrow in await store.escrow_of(db, tables):
        ids.add(escrow.id)
        if isinstance(escrow, Hold):
            ids.add(escrow.owner)
    locked = await store.lock_accounts(db, ids)
    # Asked for only now: while its owner is locked, nobody else can add a hold to it or end one.
    held = await store.running_holds(db, ids)
    return Book.of([*held, *locked], await store.known_keys(db, keys))


def _compare(book: Book, touched: Iterable[Account]) -> None:
    last = {account.id: account for account in touched}
    for account in last.values():
        if book.accounts.get(account.id) != account:
            raise BookDiffers(f"a {type(account).__name__} stands otherwise than decided")


def _answer(
    delivery: Delivery,
    events: tuple[StoredEvent, ...],
    refusal: bytes | None,
    now_ms: int,
    versions: Mapping[str, int],
) -> Answer:
    stream, account, command_id = delivery.id
    return Answer(
        part=delivery.source.part,
        stream=stream,
        account=account,
        command_id=command_id,
        fingerprint=delivery.fingerprint,
        first_version=versions.get(stream, 0) + (1 if events else 0),
        events=events,
        refusal=refusal,
        at_ms=now_ms,
        traceparent=delivery.traceparent,
    )


def _stored(event: WalletEvent) -> tuple[StoredEvent, ...]:
    return (StoredEvent(CE_TYPES[type(event)], encode(event)),)


def _refusal(request: Request, code: str) -> bytes:
    assert isinstance(request, FromAccount), "a table is answered by events"
    return encode(
        WalletCommandRefused(accounts=(), account_id=request.account, command_id=request.command_id, code=code)
    )


def _refusal_record(answer: Answer, body: bytes) -> Output:
    return _record(answer, answer.command_id, CE_TYPES[WalletCommandRefused], body, None)


def _record(answer: Answer, record_id: str, ce_type: str, body: bytes, version: int | None) -> Output:
    envelope = Envelope(
        id=record_id,
        type=ce_type,
        source=SOURCE,
        subject=answer.stream,
        sequence=version,
        time_ms=answer.at_ms,
        traceparent=answer.traceparent,
    )
    return Output(Topic.WALLET_EVENTS, answer.part, answer.stream, body, headers_of(envelope))
