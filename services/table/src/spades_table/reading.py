"""Reading: a record as the cause it is, or why it cannot be one."""

from typing import Final, NamedTuple

import msgspec

from spades_events import (
    CE_TYPES,
    Envelope,
    Topic,
    UndecodableMessage,
    commands,
    decode,
    envelope_of,
    wallet,
)
from spades_events.clock import TimedOut
from spades_runtime import Input
from spades_table.domain import TableCommand, WalletNews

CLOCK, WALLET, TABLE = "clock", "wallet", "table"
"""Who causes what no account asked for; no sender may have such an id."""

ID_CHARS_MAX: Final = 80
"""Of a table, account or command id."""

_NEEDED_NEWS: Final = tuple(
    CE_TYPES[cls].rsplit(".", 1)[0] + "."
    for cls in (wallet.HoldPlaced, wallet.HoldRefused, wallet.HoldsCaptured, wallet.Settlement)
)
"""Type names of the wallet's events that the table needs, in any version; it skips all others."""


class Unreadable(Exception):
    """The record is not what its topic promises; `reason` quotes nothing of it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Command(NamedTuple):
    """A command as it came, with the envelope that says whose it is."""

    source: Input
    table_id: str
    account: str
    command_id: str
    body: TableCommand | commands.SyncSeat
    printed: bytes
    """What its fingerprint is made of: type and body, for two types may have one body."""
    traceparent: str | None


class News(NamedTuple):
    """An event of the wallet or the clock."""

    source: Input
    table_id: str
    event_id: str
    body: WalletNews | TimedOut
    traceparent: str | None


def read_command(source: Input) -> Command:
    """Return the command of a record. Raises Unreadable."""
    envelope = _envelope(source)
    message = _message(envelope, source)
    if not isinstance(message, commands.TableCommand):
        raise Unreadable(f"{type(message).__name__} is no command to a table")
    if envelope.actor is None:
        raise Unreadable("no sender")
    if not _is_id(envelope.actor):
        raise Unreadable("the sender is empty, too long or not text")
    if not _is_id(envelope.id):
        raise Unreadable("the command id is empty, too long or not text")
    if envelope.actor in (CLOCK, WALLET, TABLE):
        raise Unreadable("no account can have the sender's id")
    return Command(
        source=source,
        table_id=envelope.subject,
        account=envelope.actor,
        command_id=envelope.id,
        body=message,  # type: ignore[arg-type]  # every TableCommand is one of the union
        printed=envelope.type.encode() + b"\x00" + source.value,
        traceparent=envelope.traceparent,
    )


def read_news(source: Input) -> News | None:
    """Return the event of a record, None where the table does not need it. Raises Unreadable."""
    envelope = _envelope(source)
    if source.topic == Topic.WALLET_EVENTS and not envelope.type.startswith(_NEEDED_NEWS):
        return None
    message = _message(envelope, source)
    if not isinstance(message, WalletNews | TimedOut):
        raise Unreadable(f"{type(message).__name__} is no news for a table")
    return News(
        source=source,
        table_id=envelope.subject,
        event_id=envelope.id,
        body=message,
        traceparent=envelope.traceparent,
    )


def _is_id(text: str) -> bool:
    return 0 < len(text) <= ID_CHARS_MAX and "\x00" not in text


def _envelope(source: Input) -> Envelope:
    try:
        envelope = envelope_of(source.headers)
    except UndecodableMessage as undecodable:
        raise Unreadable(undecodable.reason) from None
    if source.key is None or envelope.subject.encode() != source.key:
        raise Unreadable("the key is not the subject")
    if not 0 < len(envelope.subject) <= ID_CHARS_MAX:
        raise Unreadable("the table id is empty or too long")
    return envelope


def _message(envelope: Envelope, source: Input) -> msgspec.Struct:
    try:
        return decode(envelope.type, source.value)
    except UndecodableMessage as undecodable:
        raise Unreadable(undecodable.reason) from None
