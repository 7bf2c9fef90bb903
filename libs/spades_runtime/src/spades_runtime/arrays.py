"""Postgres arrays in binary form, built in one pass.

psycopg dumps a list element by element through Python calls; with a dozen columns
that costs more than the decision itself. These are ready bytes with a type.
"""

from collections.abc import Iterable, Sequence
from struct import Struct

from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Dumper
from psycopg.pq import Format

_HEADER = Struct(">iiiii").pack
_INT4 = Struct(">ii").pack
_INT8 = Struct(">iq").pack
_BOOL = Struct(">i?").pack
_LENGTH = Struct(">i").pack
_NULL = _LENGTH(-1)

_INT4_OID, _INT8_OID, _TEXT_OID, _BYTEA_OID, _BOOL_OID = 23, 20, 25, 17, 16


class Int4Array(bytes):
    """int4[]"""


class Int8Array(bytes):
    """int8[]"""


class TextArray(bytes):
    """text[]"""


class ByteaArray(bytes):
    """bytea[]"""


class BoolArray(bytes):
    """bool[]"""


def _header(element_oid: int, count: int, *, nullable: bool) -> bytes:
    if count == 0:
        return _HEADER(0, 0, element_oid, 0, 0)[:12]
    return _HEADER(1, int(nullable), element_oid, count, 1)


def int4s(values: Sequence[int]) -> Int4Array:
    return Int4Array(_header(_INT4_OID, len(values), nullable=False) + b"".join([_INT4(4, v) for v in values]))


def int8s(values: Sequence[int | None]) -> Int8Array:
    body = b"".join([_NULL if v is None else _INT8(8, v) for v in values])
    return Int8Array(_header(_INT8_OID, len(values), nullable=True) + body)


def bools(values: Sequence[bool]) -> BoolArray:
    return BoolArray(_header(_BOOL_OID, len(values), nullable=False) + b"".join([_BOOL(1, v) for v in values]))


def texts(values: Sequence[str | None]) -> TextArray:
    encoded = [None if v is None else v.encode() for v in values]
    return TextArray(_header(_TEXT_OID, len(values), nullable=True) + _joined(encoded))


def byteas(values: Sequence[bytes | None]) -> ByteaArray:
    return ByteaArray(_header(_BYTEA_OID, len(values), nullable=True) + _joined(values))


def utf8s(values: Sequence[bytes | None]) -> TextArray:
    """text[] of values that are encoded already."""
    return TextArray(_header(_TEXT_OID, len(values), nullable=True) + _joined(values))


def _joined(values: Iterable[bytes | None]) -> bytes:
    parts: list[bytes] = []
    for value in values:
        if value is None:
            parts.append(_NULL)
        else:
            parts.append(_LENGTH(len(value)))
            parts.append(value)
    return b"".join(parts)


class _ReadyDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: bytes) -> Buffer:
        return obj


class _Int4ArrayDumper(_ReadyDumper):
    oid = 1007


class _Int8ArrayDumper(_ReadyDumper):
    oid = 1016


class _TextArrayDumper(_ReadyDumper):
    oid = 1009


class _ByteaArrayDumper(_ReadyDumper):
    oid = 1001


class _BoolArrayDumper(_ReadyDumper):
    oid = 1000


def register(adapters: AdaptersMap) -> None:
    """Let a connection take the arrays of this module as parameters."""
    adapters.register_dumper(Int4Array, _Int4ArrayDumper)
    adapters.register_dumper(Int8Array, _Int8ArrayDumper)
    adapters.register_dumper(TextArray, _TextArrayDumper)
    adapters.register_dumper(ByteaArray, _ByteaArrayDumper)
    adapters.register_dumper(BoolArray, _BoolArrayDumper)
