"""When every input partition last answered a fetch: what `alive_at` may claim, and when an outage ended."""

import time
from collections.abc import Iterable
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition

FRESH_MS = 1_000
LOOK_EVERY_MS = 100


class Fetches:
    """Follows aiokafka's note of each partition's last successful fetch, empty ones too.

    That note is wall time, which may jump; it is trusted only inside the span between two looks.
    """

    def __init__(self) -> None:
        self._noted: dict[TopicPartition, int] = {}
        self._at_ms: dict[TopicPartition, int] = {}
        self._looked_ms = 0

    def forget(self) -> None:
        """A new assignment: nothing has been fetched on it yet."""
        self._noted.clear()
        self._at_ms.clear()

    def look(self, consumer: AIOKafkaConsumer, now_ms: int) -> None:
        """Note what was fetched since the last look, a tenth of a second ago or longer."""
        span_ms = now_ms - self._looked_ms
        if span_ms < LOOK_EVERY_MS:
            return
        wall_ms = time.time_ns() // 1_000_000
        # aiokafka asks for more only when a partition's records are consumed. What waits in our own
        # buffer was answered: a backlog is no outage. (There is no public name for that buffer.)
        buffered = consumer._fetcher._records
        for partition in consumer.assignment():
            if partition in buffered:
                self._at_ms[partition] = now_ms
                continue
            noted: Any = consumer.last_poll_timestamp(partition)
            if noted is None or noted == self._noted.get(partition):
                continue
            age_ms = wall_ms - noted
            self._noted[partition] = noted
            self._at_ms[partition] = now_ms - age_ms if 0 <= age_ms <= span_ms else now_ms - min(span_ms, FRESH_MS)
        self._looked_ms = now_ms

    def all_at_ms(self, partitions: Iterable[TopicPartition], now_ms: int) -> int | None:
        """The latest moment by which each of `partitions` had answered; None if one was silent for a second."""
        answered_ms = [self._at_ms.get(partition) for partition in partitions]
        known_ms = [at_ms for at_ms in answered_ms if at_ms is not None]
        oldest_ms = min(known_ms, default=0)
        return oldest_ms if len(known_ms) == len(answered_ms) and now_ms - oldest_ms <= FRESH_MS else None
