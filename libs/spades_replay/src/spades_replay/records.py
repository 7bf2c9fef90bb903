"""A record of a public stream, and the counting that makes of repeated records one stream without gaps."""

import hashlib
from typing import NamedTuple

from spades_events import Topic
from spades_replay.faults import Illegal

PUBLIC_TOPICS = (Topic.TABLE_EVENTS, Topic.WALLET_EVENTS)


class Record(NamedTuple):
    """One event as it was published. `body` is its JSON."""

    topic: str
    """Without the deployment's prefix."""
    stream: str
    version: int
    id: str
    type: str
    body: bytes
    time_ms: int | None = None
    of_read_model: bool = False
    """From the gateway's own copy, which has table events alone: the wallet's word is not beside it."""


class Counter:
    """The versions of one stream: 1, 2, 3… and nothing twice with another content."""

    def __init__(self) -> None:
        self.version = 0
        self._digests: list[bytes] = []

    def is_new(self, record: Record) -> bool:
        """Whether the record goes on with its stream; False for a repetition, which a topic may have.

        Raises Illegal for a gap and for a version that was published with another content.
        """
        digest = hashlib.sha256(record.type.encode() + b"\0" + record.body).digest()[:8]
        if record.version == self.version + 1:
            self.version += 1
            self._digests.append(digest)
            return True
        if not 1 <= record.version <= self.version:
            raise Illegal(f"version {record.version} after version {self.version}")
        if self._digests[record.version - 1] != digest:
            raise Illegal(f"version {record.version} was published twice with different contents")
        return False
