"""Stored answers: one row per answered command, read back by id, by stream, by partition."""

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec

from spades_runtime import arrays
from spades_runtime.seal import Seal
from spades_runtime.types import Answer, AnswerId, Database, StoredEvent

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[tuple[str, msgspec.Raw, bytes | None, str]]).decode
_Raw = msgspec.Raw

REFUSALS_KEPT_MS = 600_000

COLUMNS = (
    "a.part, a.stream, a.account, a.command_id, a.fingerprint, a.first_version,"
    " a.events, a.refusal, a.at_ms, a.traceparent"
)


def encode_events(events: Iterable[StoredEvent]) -> bytes:
    """Return events as JSON text: `[[type, body, sealed, seats], …]`, bodies byte for byte."""
    return _encode([(e[0], _Raw(e[1]), e[2], e[3]) for e in events])


def decode_events(text: str | bytes) -> tuple[StoredEvent, ...]:
    """Invert `encode_events`."""
    return tuple([StoredEvent(kind, bytes(body), sealed, seats) for kind, body, sealed, seats in _decode(text)])


def fingerprint(body: bytes) -> bytes:
    """Return a plain hash of a body whose content cannot be guessed or is no secret; else use `Seal.fingerprint`."""
    return hashlib.sha256(body).digest()


def is_of(answer: Answer, body: bytes, seal: Seal | None = None) -> bool:
    """Whether a repeated command is the one that was answered: the same id with another body is a conflict."""
    if seal is not None:
        return seal.is_of(answer.fingerprint, body)
    return answer.fingerprint == fingerprint(body)


def row_of(row: tuple[Any, ...]) -> Answer:
    """Make an answer of a row selected as COLUMNS."""
    part, stream, account, command_id, printed, first_version, events, refusal, at_ms, traceparent = row
    return Answer(
        part=part,
        stream=stream,
        account=account,
        command_id=command_id,
        fingerprint=bytes(printed),
        first_version=first_version,
        events=() if events is None else decode_events(events),
        refusal=None if refusal is None else bytes(refusal),
        at_ms=at_ms,
        traceparent=traceparent,
    )


async def fetch(db: Database, ids: Iterable[AnswerId]) -> dict[AnswerId, Answer]:
    """Return the stored answers among `ids`, in one query."""
    wanted = list(ids)
    if not wanted:
        return {}
    streams, accounts, commands = zip(*wanted, strict=True)
    cursor = await db.execute(
        f"""
        SELECT {COLUMNS}
          FROM unnest(%s::text[], %s::text[], %s::text[]) AS w(stream, account, command_id)
          JOIN answer AS a USING (stream, account, command_id)
        """,  # noqa: S608 - a constant of this module
        [arrays.texts(streams), arrays.texts(accounts), arrays.texts(commands)],
    )
    return {answer.id: answer for answer in map(row_of, await cursor.fetchall())}


async def tail(db: Database, part: int) -> list[Answer]:
    """Return the accepted answers behind the snapshot of each live stream of `part`, oldest first.

    Every stream that a STATEMENT worker began has a snapshot row, at version 0 and empty
    until the service writes one; a retired stream is left out.
    """
    cursor = await db.execute(
        f"""
        SELECT {COLUMNS}
          FROM snapshot AS s
          JOIN answer AS a ON a.stream = s.stream AND a.first_version > s.version AND a.refusal IS NULL
         WHERE s.part = %s AND NOT s.retired
         ORDER BY a.seq
        """,  # noqa: S608
        [part],
    )
    return [row_of(row) for row in await cursor.fetchall()]


async def unpublished(db: Database, part: int, after_seq: int) -> list[tuple[int, Answer]]:
    """Return the answers of `part` stored behind `after_seq` with their seqs, in their order."""
    cursor = await db.execute(
        f"SELECT a.seq, {COLUMNS} FROM answer AS a WHERE a.part = %s AND a.seq > %s ORDER BY a.seq",  # noqa: S608
        [part, after_seq],
    )
    return [(row[0], row_of(row[1:])) for row in await cursor.fetchall()]


async def of_stream(db: Database, stream: str, after_version: int = 0) -> list[Answer]:
    """Return the accepted answers of one stream behind a version, in order."""
    cursor = await db.execute(
        f"""
        SELECT {COLUMNS} FROM answer AS a
         WHERE a.stream = %s AND a.first_version > %s AND a.refusal IS NULL
         ORDER BY a.first_version, a.seq
        """,  # noqa: S608
        [stream, after_version],
    )
    return [row_of(row) for row in await cursor.fetchall()]
