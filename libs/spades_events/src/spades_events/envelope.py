"""CloudEvents 1.0 in Kafka's binary mode: attributes in `ce_*` headers, the JSON body as value.

Extension attributes of ours: `spadesactor` (the account that sends a command),
`spadesseats` (seats that have a private supplement of this event, `02`), `spadesseat`
(whose private record this is). `sequence` is the version in the stream, from 1.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from spades_events.codec import UndecodableMessage

Headers = list[tuple[str, bytes]]

_WHOLE = re.compile(rb"[0-9]{1,18}")
"""int() would also take signs, blanks, underscores and thousands of digits."""


class MissingAttribute(UndecodableMessage):
    """A required CloudEvents attribute is not there or not readable."""


class Envelope(NamedTuple):
    """The attributes of one record. `time_ms` is Unix time of the commit that made it."""

    id: str
    type: str
    source: str
    subject: str
    """The stream: a table id or an account id; also the record's key."""
    sequence: int | None = None
    time_ms: int | None = None
    actor: str | None = None
    seats: str = ""
    seat: int | None = None
    traceparent: str | None = None


@lru_cache(maxsize=4_096)
def rfc3339(time_ms: int) -> bytes:
    """Unix time in UTC, `2026-01-31T12:00:00.123Z`."""
    # Whole seconds and milliseconds apart: a float of both loses the last millisecond.
    seconds, ms = divmod(time_ms, 1_000)
    whole = datetime.fromtimestamp(seconds, UTC).isoformat().removesuffix("+00:00")
    return f"{whole}.{ms:03d}Z".encode()


def headers_of(envelope: Envelope) -> Headers:
    """Return the Kafka headers of an envelope."""
    headers = [
        ("ce_specversion", b"1.0"),
        ("ce_id", envelope.id.encode()),
        ("ce_source", envelope.source.encode()),
        ("ce_type", envelope.type.encode()),
        ("ce_subject", envelope.subject.encode()),
        ("content-type", b"application/json"),
    ]
    if envelope.sequence is not None:
        headers.append(("ce_sequence", b"%d" % envelope.sequence))
    if envelope.time_ms is not None:
        headers.append(("ce_time", rfc3339(envelope.time_ms)))
    if envelope.actor is not None:
        headers.append(("ce_spadesactor", envelope.actor.encode()))
    if envelope.seats:
        headers.append(("ce_spadesseats", envelope.seats.encode()))
    if envelope.seat is not None:
        headers.append(("ce_spadesseat", b"%d" % envelope.seat))
    if envelope.traceparent is not None:
        headers.append(("traceparent", envelope.traceparent.encode()))
    return headers


def envelope_of(headers: Iterable[tuple[str, bytes | None]]) -> Envelope:
    """Return the attributes of a record; a header without a value counts as missing.

    Raises MissingAttribute where id, type, source or subject is missing or an attribute is not readable.
    """
    found = {name: value for name, value in headers if value is not None}
    try:
        sequence = found.get("ce_sequence")
        seat = found.get("ce_spadesseat")
        time = found.get("ce_time")
        return Envelope(
            id=found["ce_id"].decode(),
            type=found["ce_type"].decode(),
            source=found["ce_source"].decode(),
            subject=found["ce_subject"].decode(),
            sequence=None if sequence is None else _whole(sequence),
            time_ms=None if time is None else ms_of_rfc3339(time),
            actor=_text(found.get("ce_spadesactor")),
            seats=found.get("ce_spadesseats", b"").decode(),
            seat=None if seat is None else _whole(seat),
            traceparent=_text(found.get("traceparent")),
        )
    except KeyError as missing:
        raise MissingAttribute(f"no {missing.args[0]} header") from None
    except ValueError:
        raise MissingAttribute("unreadable header") from None


def _whole(text: bytes) -> int:
    if not _WHOLE.fullmatch(text):
        raise ValueError
    return int(text)


@lru_cache(maxsize=4_096)
def ms_of_rfc3339(text: bytes) -> int:
    """Unix time of a moment in any zone. Raises ValueError where it names no zone, or no moment."""
    moment = datetime.fromisoformat(text.decode())
    if moment.tzinfo is None:
        raise ValueError
    # Rounded: a float of seconds has no exact milliseconds.
    return round(moment.timestamp() * 1_000)


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()
