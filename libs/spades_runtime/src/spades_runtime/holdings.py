"""The partitions that are ours: taken as the group assigns them, dropped when it does not."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from aiokafka import TopicPartition

from spades_runtime import logging, metrics
from spades_runtime.alive import Fetches
from spades_runtime.kafka import RebalanceListener
from spades_runtime.links import Links
from spades_runtime.owned import Owned, Taker
from spades_runtime.settings import RuntimeSettings
from spades_runtime.sorting import Batch
from spades_runtime.types import Database, Processor

_log = logging.get(__name__)

OUTAGE_MS = 2_000
"""Shorter silences are not given back: a heartbeat is written only once a second."""


class Holdings:
    """Compares the assignment with what is taken, at every turn of the loop."""

    def __init__(
        self, processor: Processor, settings: RuntimeSettings, links: Links, listener: RebalanceListener
    ) -> None:
        self.owned: dict[int, Owned] = {}
        self._processor = processor
        self._settings = settings
        self._links = links
        self._listener = listener
        self._taker = Taker(settings, processor, links)
        self._followed = -1
        self._fetches = Fetches()
        self._inputs: dict[int, list[TopicPartition]] = {}

    @property
    def is_current(self) -> bool:
        """Whether no rebalance has begun since the partitions were last followed."""
        return not self._listener.rebalancing and self._listener.generation == self._followed

    async def follow(self, db: Database, now_ms: Callable[[], int], touch: Callable[[], object]) -> bool:
        """Take what is new, drop what is gone; whether anything changed.

        After a rebalance every partition is sought, kept ones too: aiokafka forgets all positions.
        """
        generation = self._listener.generation
        if self._listener.rebalancing or generation < 0:
            return False
        assigned = self._assigned()
        if generation == self._followed and assigned == self.owned.keys():
            return False
        if generation != self._followed and await self._links.is_another_cluster():
            self.drop_all()
        for part in self.owned.keys() - assigned:
            self._drop(part)
        if missing := sorted(assigned - self.owned.keys()):
            started_s = time.perf_counter()
            async for mine in self._taker.take_all(missing, db, now_ms):
                touch()
                self.owned[mine.part] = mine
            took_ms = round((time.perf_counter() - started_s) * 1_000)
            _log.info("partitions_taken", partitions=missing, took_ms=took_ms)
        await self._taker.stay_within_log(self.owned.values())
        if self._listener.rebalancing or self._listener.generation != generation:
            return False
        self.seek_all()
        self._followed = generation
        metrics.OWNED.set(len(self.owned))
        return True

    def drop_all(self) -> None:
        """Forget everything; the next turn takes again what is assigned."""
        for part in list(self.owned):
            self._drop(part)
        self._followed = -1

    def seek_all(self) -> None:
        """Read every input from its next offset, whatever was fetched of it."""
        self._fetches.forget()
        for partition, offset in self.offsets().items():
            self._links.consumer.seek(partition, offset)

    def offsets(self) -> Mapping[TopicPartition, int]:
        """Where each input will be read next."""
        return {
            partition: mine.next_offsets[topic]
            for mine in self.owned.values()
            for topic, partition in zip(self._processor.inputs, self._inputs_of(mine.part), strict=True)
        }

    def look(self, now_ms: int) -> None:
        """Note which inputs answer."""
        if not self._listener.rebalancing:
            self._fetches.look(self._links.consumer, now_ms)

    def move_alive(self, now_ms: int) -> None:
        """Let `alive_at` of each partition say when all its inputs last answered, if that is less than a second ago."""
        for part, mine in self.owned.items():
            fresh_ms = self._fetches.all_at_ms(self._inputs_of(part), now_ms)
            if fresh_ms is not None:
                mine.alive_at_ms = max(fresh_ms, mine.alive_at_ms or 0)

    def note_outages(self, batch: Batch) -> None:
        """An outage ends at the first sign of life: a record, or every input's answer to a fetch."""
        ended: dict[int, int] = {}
        for part, mine in self.owned.items():
            if mine.alive_at_ms is None or batch.now_ms - mine.alive_at_ms <= OUTAGE_MS:
                continue
            answers = self._fetches.all_at_ms(self._inputs_of(part), batch.now_ms) is not None
            if answers or part in batch.next_offsets:
                outage_ms = batch.now_ms - mine.alive_at_ms
                batch.outages_ms[part] = (mine.alive_at_ms, outage_ms)
                ended[part] = outage_ms
        if ended:
            _log.warning("outage_ended", partitions=sorted(ended), outage_ms=max(ended.values()))

    def _drop(self, part: int) -> None:
        del self.owned[part]
        self._processor.drop(part)
        _log.info("partition_dropped", partition=part)

    def _assigned(self) -> set[int]:
        assignment: Any = self._links.consumer.assignment()
        return {
            partition.partition
            for partition in assignment
            if all(other in assignment for other in self._inputs_of(partition.partition))
        }

    def _inputs_of(self, part: int) -> list[TopicPartition]:
        found = self._inputs.get(part)
        if found is None:
            found = [TopicPartition(self._settings.topic(topic), part) for topic in self._processor.inputs]
            self._inputs[part] = found
        return found
