"""Records set aside: stored with the batch, published to `parked` behind the commit, redriven in order."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from spades_runtime.errors import KeyAbsent
from spades_runtime.seal import Seal, Unreadable
from spades_runtime.statement import ParkedRow
from spades_runtime.types import Database, Input, Output, Parked

PARKED_TOPIC = "parked"
PAYLOAD_BYTES_MAX = 64 * 1024
"""What is published of a payload; a quarantined record is stored whole, for its redrive."""


class Place(NamedTuple):
    """Where a record was read."""

    topic: str
    part: int
    offset: int


class Listed(NamedTuple):
    """A parked record, and who had it judged again."""

    row: ParkedRow
    redriven_by: str | None
    redriven_ms: int | None


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
    """Return what still waits of a quarantined stream, as it was read and in the order in which it was set aside."""
    cursor = await db.execute(
        f"""
        SELECT {_COLUMNS} FROM parked AS p
         WHERE part = %s AND quarantined AND key = %s
           AND NOT EXISTS (SELECT FROM redriven AS r
                            WHERE (r.topic, r.part, r."offset") = (p.topic, p.part, p."offset"))
         ORDER BY seq
        """,  # noqa: S608
        [part, stream.encode()],
    )
    rows = [_stored(row) for row in await cursor.fetchall()]
    return [Input(row.topic, row.part, row.offset, row.key, row.payload or b"", headers_of(row)) for row in rows]


_BY_PLACE = f"""
SELECT {_COLUMNS}, r.by, r.redriven_ms
  FROM parked LEFT JOIN (SELECT topic, part, "offset", by, at_ms AS redriven_ms FROM redriven) AS r
 USING (topic, part, "offset")
"""  # noqa: S608


async def listed(db: Database, after: Place | None, limit: int) -> list[Listed]:
    """Return the parked records behind `after`, by their place."""
    where = 'WHERE (topic, part, "offset") > (%s, %s, %s)' if after else ""
    query = f'{_BY_PLACE} {where} ORDER BY topic, part, "offset" LIMIT %s'
    return await _listed(db, query, [*(after or ()), limit])


async def one(db: Database, place: Place) -> Listed | None:
    found = await _listed(db, f'{_BY_PLACE} WHERE topic = %s AND part = %s AND "offset" = %s', list(place))
    return found[0] if found else None


async def _listed(db: Database, query: str, parameters: list[Any]) -> list[Listed]:
    cursor = await db.execute(query.encode(), parameters)
    return [Listed(_stored(row[:-2]), row[-2], row[-1]) for row in await cursor.fetchall()]


async def mark_redriven(db: Database, place: Place, actor: str, at_ms: int) -> None:
    """Note that this one was judged again, and who wanted it."""
    await db.execute(
        'INSERT INTO redriven (topic, part, "offset", by, at_ms) VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING',
        [*place, actor, at_ms],
    )


def whole_payload(row: ParkedRow, seal: Seal | None) -> bytes | None:
    """Return a record's whole value where our own row has it and its seal can be opened."""
    if row.form == "whole":
        return row.payload or b""
    if row.form != "sealed" or seal is None or row.payload is None:
        return None
    try:
        value = seal.open(row.payload, f"{row.topic}:{row.part}:{row.offset}".encode())
    except (Unreadable, KeyAbsent):
        return None
    return value if len(value) < PAYLOAD_BYTES_MAX else None


def headers_of(row: ParkedRow) -> list[tuple[str, bytes]]:
    return [(name, value or b"") for name, value in _decode_headers(row.headers)]


def shown(source: Input) -> dict[str, object]:
    """Where a record is, for a log line."""
    return {"topic": source.topic, "partition": source.part, "offset": source.offset}
