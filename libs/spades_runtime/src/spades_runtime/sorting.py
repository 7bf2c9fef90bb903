"""Records as read become what one poll judges: in order, nothing twice, nothing foreign."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiokafka import TopicPartition

from spades_runtime.kafka import Undecodable
from spades_runtime.owned import Owned
from spades_runtime.parking import is_command_topic
from spades_runtime.partitions import partition_of_bytes
from spades_runtime.types import Headers, Input, Parked

_READABLE_KEYS_MAX = 65_536


@dataclass(slots=True)
class Batch:
    """One poll's records. `shut` names the streams that this poll quarantines, with the reason."""

    now_ms: int
    inputs: list[Input] = field(default_factory=list)
    parked: list[Parked] = field(default_factory=list)
    held: list[Parked] = field(default_factory=list)
    """Event records of quarantined streams."""
    shut: dict[tuple[int, str], str] = field(default_factory=dict)
    next_offsets: dict[int, dict[str, int]] = field(default_factory=dict)
    outages_ms: dict[int, tuple[int, int]] = field(default_factory=dict)
    oldest_ms: int | None = None
    """Timestamp of the oldest record."""
    set_aside: list[tuple[str, int]] = field(default_factory=list)
    """(topic, offset) of what was set aside and stored."""

    def places_set_aside(self) -> set[tuple[str, int]]:
        """(topic, offset) of all that was set aside, stored or not yet."""
        return {(one.source.topic, one.source.offset) for one in (*self.parked, *self.held)} | set(self.set_aside)

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to judge and nothing to store but offsets."""
        return not (self.inputs or self.parked or self.held or self.shut or self.outages_ms)

    def quarantine(self, found: Sequence[Parked]) -> None:
        """Take each found record and every later event of its stream out of the inputs, in order."""
        for bad in found:
            source = bad.source
            assert source.key is not None, "a record without a key is parked by the worker"
            assert not is_command_topic(source.topic), "only events hold up a stream"
            stream = source.key.decode()
            self.shut.setdefault((source.part, stream), bad.reason)
            kept: list[Input] = []
            reached = False
            for record in self.inputs:
                is_bad = record is source or record == source
                reached = reached or is_bad
                if reached and record.key == source.key and not is_command_topic(record.topic):
                    reason = bad.reason if is_bad else f"its stream waits: {bad.reason}"
                    self.held.append(Parked(record, reason, secret=False))
                else:
                    kept.append(record)
            self.inputs = kept


class Sorter:
    """Knows the inputs' order, which keys belong where, and what concerns the service at all."""

    def __init__(
        self, inputs: tuple[str, ...], prefix: str, partitions: int, concerns: Callable[[str, Headers], bool]
    ) -> None:
        self._topics = [(topic, prefix + topic) for topic in inputs]
        self._partitions = partitions
        self._concerns = concerns
        self._part_of: dict[bytes, int] = {}

    def sort(self, records: Mapping[TopicPartition, Sequence[Any]], owned: Mapping[int, Owned], now_ms: int) -> Batch:
        """Return the batch of one poll; records below `next_offsets` or of foreign partitions are dropped."""
        batch = Batch(now_ms)
        if not records:
            return batch
        by_topic: dict[str, list[tuple[int, Sequence[Any]]]] = {}
        for partition, found in records.items():
            by_topic.setdefault(partition.topic, []).append((partition.partition, found))
        for topic, full in self._topics:
            for part, found in sorted(by_topic.get(full, ()), key=_part):
                mine = owned.get(part)
                if mine is not None and found:
                    self._take_in(batch, topic, mine, found)
        return batch

    def _take_in(self, batch: Batch, topic: str, mine: Owned, found: Sequence[Any]) -> None:
        part, expected = mine.part, mine.next_offsets.get(topic, 0)
        part_of, inputs, concerns = self._part_of, batch.inputs, self._concerns
        shut = mine.quarantined if not is_command_topic(topic) else None
        for record in found:
            if record.offset < expected:
                continue
            key = record.key
            where = part_of.get(key)
            if where is None:
                where = self._find(key)
            if where != part:
                reason = _why_not(record, where)
                batch.parked.append(Parked(_input(topic, part, record), reason, secret=is_command_topic(topic)))
            elif shut and key.decode() in shut:
                batch.held.append(Parked(_input(topic, part, record), "its stream is quarantined", secret=False))
            elif concerns(topic, record.headers):
                inputs.append(_input(topic, part, record))
        last = found[-1].offset + 1
        if last > expected:
            batch.next_offsets.setdefault(part, {})[topic] = last
            first_ms = found[0].timestamp
            batch.oldest_ms = first_ms if batch.oldest_ms is None else min(batch.oldest_ms, first_ms)

    def is_misplaced(self, source: Input) -> bool:
        """Whether the record's key is no text, or belongs on another partition."""
        return source.key is None or self._find(source.key) != source.part

    def _find(self, key: bytes | None) -> int:
        """The key's partition; -1 where it is null or no text that a database can hold."""
        if key is None or b"\x00" in key:
            return -1
        try:
            key.decode()
        except UnicodeDecodeError:
            return -1
        if len(self._part_of) >= _READABLE_KEYS_MAX:
            self._part_of.clear()
        where = self._part_of[key] = partition_of_bytes(key, self._partitions)
        return where


def _input(topic: str, part: int, record: Any) -> Input:
    return Input(topic, part, record.offset, record.key, record.value or b"", record.headers)


def _why_not(record: Any, where: int) -> str:
    if isinstance(record, Undecodable):
        return "the name of a header is no text"
    return "unreadable key" if where < 0 else f"its key belongs on partition {where}"


def _part(entry: tuple[int, Sequence[Any]]) -> int:
    return entry[0]
