"""Records of the table's two topics, read as far as the fan-out needs; bodies pass through as bytes."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec
import structlog

from spades_events import CE_TYPES, SeatHolder, UndecodableMessage, codec, decode, events, frame_name, private
from spades_lobby.live.desk import AnswerKey
from spades_lobby.live.feeds import SEAT_FACTS, Feed

log = structlog.get_logger()

Record = Any
"""aiokafka's ConsumerRecord."""

Feeds = Mapping[bytes, Feed]
"""The tables that somebody here watches, by their record key."""

_FRAME_NAMES: Final = {CE_TYPES[kind].encode(): frame_name(kind).encode() for kind in codec.TABLE_EVENTS}
_NAMING: Final = frozenset(
    CE_TYPES[kind].encode()
    for kind in (
        *SEAT_FACTS,
        events.TableOpened,
        events.SeatReserved,
        events.SeatsLocked,
        events.GameStarted,
        events.GameEnded,
        events.GameSettled,
    )
)
_SAID: Final = CE_TYPES[private.Said].encode()
_GONE: Final = CE_TYPES[private.PlayerDisconnected].encode()
_ANSWER: Final = CE_TYPES[private.Answer].encode()
_SUPPLEMENT: Final = CE_TYPES[private.Supplement].encode()
_SNAPSHOT: Final = CE_TYPES[private.Snapshot].encode()

_UNREADABLE: Final = (
    *(KeyError, IndexError, ValueError, AttributeError, RecursionError),
    *(msgspec.DecodeError, UndecodableMessage),
)
"""What a record that is none of ours raises, whatever is wrong with it."""


class SnapshotHead(msgspec.Struct, frozen=True):
    """What the fan-out itself needs of a snapshot."""

    connection_id: str | None
    seat: int | None
    phase: str
    stake_coins: int
    host: str
    seats: tuple[SeatHolder | None, ...]

    @property
    def account_ids(self) -> frozenset[str]:
        seated = {holder.account_id for holder in self.seats if holder is not None}
        return frozenset(seated | {self.host}) - {""}


_decode_head: Final = msgspec.json.Decoder(SnapshotHead).decode
_decode_object: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class AnswerRecord(NamedTuple):
    key: AnswerKey
    body: bytes


class PartRecord(NamedTuple):
    """One seat's part of the event at `version`."""

    feed: Feed
    version: int
    seat: int
    body: bytes


class SnapshotRecord(NamedTuple):
    feed: Feed | None
    """None where nobody here watches the table: somebody may have asked for one look."""
    version: int
    actor: str | None
    head: SnapshotHead
    body: bytes


class TalkRecord(NamedTuple):
    """What one gateway tells the others of a person at a table."""

    feed: Feed
    news: private.Said | private.PlayerDisconnected


class PublicRecord(NamedTuple):
    feed: Feed
    kind: bytes
    version: int
    seats: str
    body: bytes
    fact: msgspec.Struct | None
    """The event itself where it names somebody."""


def read_private(record: Record, feeds: Feeds) -> AnswerRecord | PartRecord | SnapshotRecord | TalkRecord | None:
    """A record of `table.private`; None where nobody here can want it, or it is none of ours."""
    found = dict(record.headers)
    kind = found.get("ce_type")
    try:
        if kind == _ANSWER:
            key = AnswerKey(record.key.decode(), found["ce_spadesactor"].decode(), found["ce_id"].decode())
            return AnswerRecord(key, record.value)
        feed = feeds.get(record.key)
        if kind == _SUPPLEMENT and feed is not None:
            return PartRecord(feed, int(found["ce_sequence"]), int(found["ce_spadesseat"]), record.value)
        if kind in (_SAID, _GONE) and feed is not None:
            news = decode(kind.decode(), record.value)
            assert isinstance(news, private.Said | private.PlayerDisconnected)
            return TalkRecord(feed, news)
        if kind == _SNAPSHOT:
            actor = found.get("ce_spadesactor")
            head = _decode_head(record.value)
            version = int(found["ce_sequence"])
            return SnapshotRecord(feed, version, None if actor is None else actor.decode(), head, record.value)
    except _UNREADABLE as error:
        _say_unreadable(record, error)
    return None


def read_public(record: Record, feeds: Feeds) -> PublicRecord | None:
    """A record of `table.events`; None where nobody here watches its table.

    Also None for one that is none of ours: its viewers see a gap with the next event and join anew.
    """
    feed = feeds.get(record.key)
    if feed is None:
        return None
    found = dict(record.headers)
    try:
        ce_type = found["ce_type"]
        # The body goes into frames as it is: it has to be what a frame can hold.
        _decode_object(record.value.decode())
        kind = _FRAME_NAMES.get(ce_type) or ce_type.split(b".")[1]
        fact = decode(ce_type.decode(), record.value) if ce_type in _NAMING else None
        version, seats = int(found["ce_sequence"]), found.get("ce_spadesseats", b"").decode()
    except _UNREADABLE as error:
        _say_unreadable(record, error)
        return None
    return PublicRecord(feed, kind, version, seats, record.value, fact)


def _say_unreadable(record: Record, error: Exception) -> None:
    log.error(
        "unreadable_record",
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        error=type(error).__name__,
    )
