"""Opaque cursors: where a page ended. Anybody may make one up; it can only name a place in a list."""

import base64
import binascii
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from spades_lobby.problems import Problem

LIMIT_MAX: Final = 200
CURSOR_MAX: Final = 200


class Place(NamedTuple):
    at: datetime
    table_id: str


_decode_place: Final = msgspec.json.Decoder(tuple[datetime, str]).decode
_decode_number: Final = msgspec.json.Decoder(int).decode


def of_place(at: datetime, table_id: str) -> str:
    return _pack(msgspec.json.encode((at, table_id)))


def of_number(number: int) -> str:
    return _pack(msgspec.json.encode(number))


def place(cursor: str | None) -> Place | None:
    """Raises Problem `bad_cursor` for what none of our pages gave."""
    if cursor is None:
        return None
    try:
        at, table_id = _decode_place(_unpack(cursor))
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise _bad_cursor() from None
    if at.tzinfo is None or "\0" in table_id or not 1 <= at.year <= 9_000:
        raise _bad_cursor()
    return Place(at, table_id)


def number(cursor: str | None) -> int | None:
    """Raises Problem `bad_cursor`."""
    if cursor is None:
        return None
    try:
        found = _decode_number(_unpack(cursor))
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise _bad_cursor() from None
    if not 0 <= found < 2**62:
        raise _bad_cursor()
    return found


def _pack(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _unpack(cursor: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except (binascii.Error, ValueError):
        raise _bad_cursor() from None


def _bad_cursor() -> Problem:
    return Problem(400, "bad_cursor", "This cursor is none of ours.", field="cursor")
