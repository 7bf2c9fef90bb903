"""Records set aside: stored with the batch, published to `parked` behind the commit, redriven in order."""

from collections.abc import Sequence
from typing import Any

import msgspec

from spades_runtime.seal import Seal
from spades_runtime.statement import ParkedRow
from spades_runtime.types import Database, Input, Output, Parked

PARKED_TOPIC = "parked"
PAYLOAD_BYTES_MAX = 64 * 1024
"""What is published of a payload; a quarantined record is stored whole, for its redrive."""

_encode = msgspec.json.Encoder().encode
_decode_headers = msgspec.json.Decoder(list[tuple[str, bytes | None]]).decode


def is_command_topic(topic: str) -> bool:
    """Commands are parked one by one; an event that cannot be read holds up its stream."""
    return topic.endswith(".commands")


def row_of(parked: Parked, seq: int, at_ms: int, seal: Seal | None, *, quarantined: bool) -> ParkedRow:
    """Make the stored form of a parked record."""
    source = parked.source
    payload, form = _payload(parked, seal, quarantined=quarantined)
    return ParkedRow(
        part=source.part,
        topic=source.topic,
        offset=source.offset,
        seq=seq,
        key=source.key,
        headers=_encode(list(source.headers)),
        payload=payload,
        form=form,
        reason=parked.reason,
        quarantined=quarantined,
        at_ms=at_ms,
    )


def _payload(parked: Parked, seal: Seal | None, *, quarantined: bool) -> tuple[bytes | None, str]:
    source = parked.source
    if parked.secret:
        if seal is None or not is_command_topic(source.topic):
            return None, "left_out"
        place = f"{source.topic}:{source.part}:{source.offset}".encode()
        return seal.seal(source.value[:PAYLOAD_BYTES_MAX], place), "sealed"
    if quarantined or len(source.value) <= PAYLOAD_BYTES_MAX:
        return source.value, "whole"
    return source.value[:PAYLOAD_BYTES_MAX], "cut"


def output_of(row: ParkedRow, service: str) -> Output:
    """Make the record for operators; its source is in the headers."""
    cut = row.form == "whole" and row.payload is not None and len(row.payload) > PAYLOAD_BYTES_MAX
    payload = row.payload or b""
    return Output(
        topic=PARKED_TOPIC,
        part=row.part,
        key=(row.key or b"").decode("utf-8", "replace"),
        value=payload if row.form == "sealed" else payload[:PAYLOAD_BYTES_MAX],
        headers=[
            ("ce_specversion", b"1.0"),
            ("ce_id", f"{row.topic}:{row.part}:{row.offset}".encode()),
            ("ce_source", f"/spades/{service}".encode()),
            ("ce_type", b"spades.parked.v1"),
            ("parked_topic", row.topic.encode()),
            ("parked_partition", b"%d" % row.part),
            ("parked_offset", b"%d" % row.offset),
            ("parked_reason", row.reason.encode()),
            ("parked_payload", b"cut" if cut else row.form.encode()),
            ("parked_quarantined", b"true" if row.quarantined else b"false"),
        ],
    )


_COLUMNS = 'part, topic, "offset", seq, key, headers, payload, form, reason, quarantined, at_ms'


def _stored(row: tuple[Any, ...]) -> ParkedRow:
    return ParkedRow(*row)._replace(headers=row[5].encode())


async def unpublished(db: Database, part: int, after_seq: int) -> list[ParkedRow]:
    """Return the parked records of `part` stored behind `after_seq`, in their order."""
    cursor = await db.execute(
        f"SELECT {_COLUMNS} FROM parked WHERE part = %s AND seq > %s ORDER BY seq",  # noqa: S608
        [part, after_seq],
    )
    return [_stored(row) for row in await cursor.fetchall()]


async def quarantined_streams(db: Database, parts: Sequence[int]) -> dict[int, set[str]]:
    """Return the streams of each partition whose event records are set aside."""
    cursor = await db.execute("SELECT part, stream FROM quarantine WHERE part = ANY(%s)", [list(parts)])
    found: dict[int, set[str]] = {}
    for part, stream in await cursor.fetchall():
        found.setdefault(part, set()).add(stream)
    return found


async def held(db: Database, part: int, stream: str) -> list[Input]:
    """Return the quarantined records of a stream as they were read, in the order in which they were set aside."""
    cursor = await db.execute(
        f"SELECT {_COLUMNS} FROM parked WHERE part = %s AND quarantined AND key = %s ORDER BY seq",  # noqa: S608
        [part, stream.encode()],
    )
    rows = [_stored(row) for row in await cursor.fetchall()]
    return [Input(row.topic, row.part, row.offset, row.key, row.payload or b"", _headers(row.headers)) for row in rows]


def _headers(text: bytes) -> list[tuple[str, bytes]]:
    return [(name, value or b"") for name, value in _decode_headers(text)]


def shown(source: Input) -> dict[str, object]:
    """Where a record is, for a log line."""
    return {"topic": source.topic, "partition": source.part, "offset": source.offset}
