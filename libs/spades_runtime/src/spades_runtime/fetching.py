"""Fetches in one pass: aiokafka writes and reads each field of each partition by Python calls of its own.

A poll of two dozen partitions, most of them empty, spends 0.3 ms on that, more than on the records
that came. These are the same bytes and the same values (version 11 of both messages), in a tenth of it.
"""

from collections.abc import Sequence
from io import BytesIO
from struct import Struct
from typing import Any, Final

from aiokafka.protocol.fetch import FetchRequest_v11, FetchResponse_v11
from aiokafka.protocol.types import Schema

_COUNT: Final = Struct(">i")
_SHORT: Final = Struct(">h")
_ASKED: Final = Struct(">iiqqi").pack
_ANSWERED: Final = Struct(">ihqqqi")
_ABORTED: Final = Struct(">qq")
_REPLICA_AND_SIZE: Final = Struct(">ii")


class AskedTopics:
    """The topics of a request: [(topic, [(partition, epoch, offset, log start, bytes at most)])]."""

    def encode(self, topics: Sequence[tuple[str, Sequence[tuple[int, int, int, int, int]]]]) -> bytes:
        written = [_COUNT.pack(len(topics))]
        for topic, partitions in topics:
            name = topic.encode()
            written += (_SHORT.pack(len(name)), name, _COUNT.pack(len(partitions)))
            written += [_ASKED(*partition) for partition in partitions]
        return b"".join(written)


class AnsweredTopics:
    """The topics of an answer, the last field of it: everything that is left of the message."""

    def decode(self, data: BytesIO) -> list[Any]:
        """Raises struct.error where the message is cut short, as aiokafka's own would raise ValueError."""
        raw = data.read()
        at = _COUNT.size
        topics = []
        for _ in range(_COUNT.unpack_from(raw)[0]):
            name_to = at + 2 + _SHORT.unpack_from(raw, at)[0]
            name = raw[at + 2 : name_to].decode()
            count, at = _COUNT.unpack_from(raw, name_to)[0], name_to + _COUNT.size
            partitions = []
            for _ in range(count):
                partition, at = _partition(raw, at)
                partitions.append(partition)
            topics.append((name, partitions))
        return topics


def _partition(raw: bytes, at: int) -> tuple[tuple[Any, ...], int]:
    number, error, high, stable, start, aborted_count = _ANSWERED.unpack_from(raw, at)
    at += _ANSWERED.size
    aborted: list[Any] | None = None if aborted_count < 0 else []
    for _ in range(aborted_count):
        assert aborted is not None
        aborted.append(_ABORTED.unpack_from(raw, at))
        at += _ABORTED.size
    replica, size = _REPLICA_AND_SIZE.unpack_from(raw, at)
    at += _REPLICA_AND_SIZE.size
    records = None if size < 0 else raw[at : at + size]
    if records is not None:
        if len(records) != size:
            raise ValueError("a fetch that is cut short")
        at += size
    return (number, error, high, stable, start, aborted, replica, records), at


def _with_topics(schema: Schema, topics: Any) -> Schema:
    fields = zip(schema.names, schema.fields, strict=True)
    return Schema(*((name, topics if name == "topics" else field) for name, field in fields))


def install() -> None:
    """Let every consumer of this process use these. Twice is as once."""
    FetchRequest_v11.SCHEMA = _with_topics(FetchRequest_v11.SCHEMA, AskedTopics())
    FetchResponse_v11.SCHEMA = _with_topics(FetchResponse_v11.SCHEMA, AnsweredTopics())
