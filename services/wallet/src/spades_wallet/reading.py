"""Records to requests: which of them concern the wallet, what they ask for, and under which key."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, get_args

from spades_events import CE_TYPES, Envelope, Topic, UndecodableMessage, decode, encode, envelope_of
from spades_events.events import GameEnded, TableCancelled
from spades_runtime import AnswerId, Headers, Input, answers
from spades_wallet.accounts import AccountWish, FromAccount
from spades_wallet.domain import FromTable, Request, TableFact, fingerprint, natural_key
from spades_wallet.ledger import AccountId, TableId

ID_CHARS_MAX: Final = 200
"""Ids become keys of an index, whose entries have to stay short."""

TABLE: Final = "table"
"""In whose name a table's facts are answered."""

_WANTED_NAMES: Final = frozenset(CE_TYPES[cls].rpartition(".")[0].encode() for cls in get_args(TableFact))


@dataclass(frozen=True, slots=True)
class Delivery:
    """One record that asks for something, under the id by which it is answered once."""

    source: Input
    id: AnswerId
    request: Request
    fingerprint: bytes
    traceparent: str | None

    @property
    def stream(self) -> str:
        return self.id[0]


def read(source: Input, days: tuple[str, ...]) -> Delivery | None:
    """Return what the record asks for, None where it asks for nothing.

    Raises UndecodableMessage where it should and cannot be read.
    """
    if source.topic == Topic.TABLE_EVENTS:
        return _from_table(source) if concerns_coins(source.topic, source.headers) else None
    return _from_account(source, days)


def open_days(now_ms: int) -> tuple[str, str]:
    """The UTC days whose top-up may be asked for: today's, and yesterday's for a request that waited past midnight."""
    today = datetime.fromtimestamp(now_ms // 1_000, UTC).date()
    return today.isoformat(), (today - timedelta(days=1)).isoformat()


def concerns_coins(topic: str, headers: Headers) -> bool:
    """Whether a record with these headers is the wallet's business."""
    if topic != Topic.TABLE_EVENTS:
        return True
    # Nearly all of a table's records are cards: they are passed over unread. A later version of
    # a type we need is no reason to pass over it.
    for name, value in headers:
        if name == "ce_type":
            return value.rpartition(b".")[0] in _WANTED_NAMES
    return True


def _from_table(source: Input) -> Delivery | None:
    envelope = _envelope(source)
    fact = decode(envelope.type, source.value)
    assert isinstance(fact, TableFact), "only types that concern coins are read"
    key = natural_key(fact)
    if key is None:
        return None
    _check_ids(envelope.subject, key, *_accounts_in(fact))
    table = TableId(envelope.subject)
    return Delivery(
        source=source,
        id=(table, TABLE, key),
        request=FromTable(table=table, fact=fact),
        fingerprint=fingerprint(table, fact),
        traceparent=envelope.traceparent,
    )


def _from_account(source: Input, days: tuple[str, ...]) -> Delivery:
    envelope = _envelope(source)
    wish = decode(envelope.type, source.value)
    if not isinstance(wish, AccountWish):
        raise UndecodableMessage("not a command to the wallet")
    _check_ids(envelope.subject, envelope.id, envelope.actor or envelope.subject)
    account = AccountId(envelope.subject)
    return Delivery(
        source=source,
        id=(account, account, envelope.id),
        request=FromAccount(account=account, actor=envelope.actor, command_id=envelope.id, wish=wish, days=days),
        # Nothing in it is secret, and its bytes may differ where its content does not.
        fingerprint=answers.fingerprint(CE_TYPES[type(wish)].encode() + b" " + encode(wish)),
        traceparent=envelope.traceparent,
    )


def _envelope(source: Input) -> Envelope:
    envelope = envelope_of(source.headers)
    if source.key != envelope.subject.encode():
        raise UndecodableMessage("the record's key is not its subject")
    return envelope


def _accounts_in(fact: TableFact) -> Sequence[str]:
    match fact:
        case GameEnded() | TableCancelled():
            named = [seat.account_id for seat in fact.seats]
            named += [seat.leaver for seat in fact.seats if seat.leaver is not None]
            return named + [seat.reservation_id for seat in fact.seats if seat.reservation_id is not None]
        case _:
            return ()


def _check_ids(*ids: str) -> None:
    for text in ids:
        if not 1 <= len(text) <= ID_CHARS_MAX or not text.isprintable():
            raise UndecodableMessage("an id that is empty, too long or not printable")
