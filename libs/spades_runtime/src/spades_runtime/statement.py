"""The one statement of a poll: fence, offsets, answers, snapshots, parked records."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from psycopg import AsyncRawCursor
from psycopg.types.numeric import Int4, Int8

from spades_runtime import arrays
from spades_runtime.answers import encode_events
from spades_runtime.types import Answer, Database, SnapshotRow

_encode_offsets = msgspec.json.Encoder().encode

_FENCE = """
WITH fenced AS (
    UPDATE partition AS p
       SET next_offsets = u.next_offsets::jsonb,
           seq = u.seq,
           published_seq = u.published_seq,
           alive_at_ms = u.alive_at_ms
      FROM unnest($1::int[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
           AS u (part, epoch, next_offsets, seq, published_seq, alive_at_ms)
     WHERE p.part = u.part AND p.epoch = u.epoch
 RETURNING p.part
)"""

_ANSWERS = """
, answered AS (
    INSERT INTO answer (part, seq, stream, account, command_id, fingerprint, first_version, last_version,
                        events, refusal, at_ms, traceparent)
    SELECT part, a.seq, a.stream, a.account, a.command_id, a.fingerprint, a.first_version, a.last_version,
           a.events, a.refusal, a.at_ms, a.traceparent
      FROM unnest({0}::int[], {1}::bigint[], {2}::text[], {3}::text[], {4}::text[], {5}::bytea[], {6}::bigint[],
                  {7}::bigint[], {8}::text[], {9}::bytea[], {10}::bigint[], {11}::text[])
           AS a (part, seq, stream, account, command_id, fingerprint, first_version, last_version,
                 events, refusal, at_ms, traceparent)
      JOIN fenced USING (part)
)"""

_SNAPSHOTS = """
, snapped AS (
    INSERT INTO snapshot AS old (part, stream, version, body, retired)
    SELECT part, s.stream, s.version, s.body, s.retired
      FROM unnest({0}::int[], {1}::text[], {2}::bigint[], {3}::bytea[], {4}::bool[])
           AS s (part, stream, version, body, retired)
      JOIN fenced USING (part)
        ON CONFLICT (stream) DO UPDATE
       SET version = excluded.version, body = excluded.body, retired = excluded.retired
)"""

_PARKED = """
, set_aside AS (
    INSERT INTO parked (part, topic, "offset", seq, key, headers, payload, form, reason, quarantined, at_ms)
    SELECT part, k.topic, k.at, k.seq, k.key, k.headers, k.payload, k.form, k.reason, k.quarantined, k.at_ms
      FROM unnest({0}::int[], {1}::text[], {2}::bigint[], {3}::bigint[], {4}::bytea[], {5}::text[], {6}::bytea[],
                  {7}::text[], {8}::text[], {9}::bool[], {10}::bigint[])
           AS k (part, topic, at, seq, key, headers, payload, form, reason, quarantined, at_ms)
      JOIN fenced USING (part)
        ON CONFLICT DO NOTHING
)"""

_QUARANTINED = """
, shut AS (
    INSERT INTO quarantine (part, stream, reason, since_ms)
    SELECT part, q.stream, q.reason, q.since_ms
      FROM unnest({0}::int[], {1}::text[], {2}::text[], {3}::bigint[]) AS q (part, stream, reason, since_ms)
      JOIN fenced USING (part)
        ON CONFLICT DO NOTHING
)"""

# One answer on one partition, the usual poll at low load: without arrays it costs a third.
_SINGLE = """
WITH fenced AS (
    UPDATE partition
       SET next_offsets = $3::text::jsonb, seq = $4, published_seq = $5, alive_at_ms = $6
     WHERE part = $1 AND epoch = $2
 RETURNING part
), answered AS (
    INSERT INTO answer (part, seq, stream, account, command_id, fingerprint, first_version, last_version,
                        events, refusal, at_ms, traceparent)
    SELECT part, $4::bigint, $7::text, $8::text, $9::text, $10::bytea, $11::bigint, $12::bigint,
           $13::text, $14::bytea, $15::bigint, $16::text
      FROM fenced
)
SELECT part FROM fenced"""

_SECTIONS = ((_ANSWERS, 12), (_SNAPSHOTS, 5), (_PARKED, 11), (_QUARANTINED, 4))


_ANSWERS_ONLY = (True, False, False, False)


class PartitionRow(NamedTuple):
    """What is written of one owned partition."""

    part: int
    epoch: int
    next_offsets: dict[str, int]
    seq: int
    published_seq: int
    alive_at_ms: int | None


class ParkedRow(NamedTuple):
    part: int
    topic: str
    offset: int
    seq: int
    key: bytes | None
    headers: bytes
    payload: bytes | None
    form: str
    reason: str
    quarantined: bool
    at_ms: int


class QuarantineRow(NamedTuple):
    part: int
    stream: str
    reason: str
    since_ms: int


@dataclass(slots=True)
class Write:
    """Everything one commit holds. `seqs` go with `answers`, one by one."""

    partitions: list[PartitionRow]
    answers: Sequence[Answer] = ()
    seqs: Sequence[int] = ()
    snapshots: Sequence[SnapshotRow] = ()
    parked: Sequence[ParkedRow] = ()
    quarantined: Sequence[QuarantineRow] = field(default=())


@lru_cache(maxsize=16)
def _text(present: tuple[bool, ...]) -> str:
    text, used = _FENCE, 6
    for (section, parameters), wanted in zip(_SECTIONS, present, strict=True):
        if wanted:
            text += section.format(*(f"${used + place + 1}" for place in range(parameters)))
            used += parameters
    return text + "\nSELECT part FROM fenced"


async def execute(db: Database, write: Write) -> set[int]:
    """Run the statement; return the partitions whose epoch still was ours. Nothing of the others was written."""
    present = (bool(write.answers), bool(write.snapshots), bool(write.parked), bool(write.quarantined))
    cursor = AsyncRawCursor(db)
    if present == _ANSWERS_ONLY and len(write.answers) == len(write.partitions) == 1:
        await cursor.execute(_SINGLE, _single(write.partitions[0], write.answers[0]), prepare=True)
        return {row[0] for row in await cursor.fetchall()}
    parameters = _partition_arrays(write.partitions)
    if write.answers:
        parameters += _answer_arrays(write.answers, write.seqs)
    if write.snapshots:
        parameters += _snapshot_arrays(write.snapshots)
    if write.parked:
        parameters += _parked_arrays(write.parked)
    if write.quarantined:
        parts, streams, reasons, since = zip(*write.quarantined, strict=True)
        parameters += [arrays.int4s(parts), arrays.texts(streams), arrays.texts(reasons), arrays.int8s(since)]
    await cursor.execute(_text(present), parameters, prepare=True)
    return {row[0] for row in await cursor.fetchall()}


def _single(row: PartitionRow, answer: Answer) -> list[Any]:
    # Explicit widths: psycopg would pick one by value, and each pick is another prepared statement.
    return [
        Int4(row.part),
        Int8(row.epoch),
        _encode_offsets(row.next_offsets).decode(),
        Int8(row.seq),
        Int8(row.published_seq),
        None if row.alive_at_ms is None else Int8(row.alive_at_ms),
        answer.stream,
        answer.account,
        answer.command_id,
        answer.fingerprint,
        Int8(answer.first_version),
        Int8(answer.first_version + len(answer.events) - 1),
        encode_events(answer.events).decode() if answer.events else None,
        answer.refusal,
        Int8(answer.at_ms),
        answer.traceparent,
    ]


def _partition_arrays(rows: Sequence[PartitionRow]) -> list[Any]:
    parts, epochs, offsets, seqs, published, alive = zip(*rows, strict=True)
    return [
        arrays.int4s(parts),
        arrays.int8s(epochs),
        arrays.utf8s([_encode_offsets(by_topic) for by_topic in offsets]),
        arrays.int8s(seqs),
        arrays.int8s(published),
        arrays.int8s(alive),
    ]


def _answer_arrays(answers: Sequence[Answer], seqs: Sequence[int]) -> list[Any]:
    return [
        arrays.int4s([a.part for a in answers]),
        arrays.int8s(seqs),
        arrays.texts([a.stream for a in answers]),
        arrays.texts([a.account for a in answers]),
        arrays.texts([a.command_id for a in answers]),
        arrays.byteas([a.fingerprint for a in answers]),
        arrays.int8s([a.first_version for a in answers]),
        arrays.int8s([a.first_version + len(a.events) - 1 for a in answers]),
        arrays.utf8s([encode_events(a.events) if a.events else None for a in answers]),
        arrays.byteas([a.refusal for a in answers]),
        arrays.int8s([a.at_ms for a in answers]),
        arrays.texts([a.traceparent for a in answers]),
    ]


def _snapshot_arrays(rows: Sequence[SnapshotRow]) -> list[Any]:
    # A stream may stand in one statement once: its newest snapshot counts.
    newest = {row.stream: row for row in rows}.values()
    parts, streams, versions, bodies, retired = zip(*newest, strict=True)
    return [
        arrays.int4s(parts),
        arrays.texts(streams),
        arrays.int8s(versions),
        arrays.byteas(bodies),
        arrays.bools(retired),
    ]


def _parked_arrays(rows: Sequence[ParkedRow]) -> list[Any]:
    parts, topics, offsets, seqs, keys, headers, payloads, forms, reasons, quarantined, at = zip(*rows, strict=True)
    return [
        arrays.int4s(parts),
        arrays.texts(topics),
        arrays.int8s(offsets),
        arrays.int8s(seqs),
        arrays.byteas(keys),
        arrays.utf8s(headers),
        arrays.byteas(payloads),
        arrays.texts(forms),
        arrays.texts(reasons),
        arrays.bools(quarantined),
        arrays.int8s(at),
    ]
