"""Publication after the commit: in order, acknowledged in the background, bounded."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, KafkaTimeoutError

from spades_runtime.errors import PublishFailed
from spades_runtime.types import Output

BATCH_BYTES = 512 * 1024
AT_ONCE_MAX = 8
"""More batches than a few polls at low load make are sent in the background."""


class _Ticket:
    """One commit's records on their way."""

    __slots__ = ("batches", "published", "unacknowledged")

    def __init__(self, batches: list[tuple[str, int, Any]], published: dict[int, int]) -> None:
        self.batches = batches
        self.published = published
        self.unacknowledged = len(batches)


class Publisher:
    """Sends batches to explicit partitions and tells how far each partition is published."""

    def __init__(self, producer: AIOKafkaProducer, topic: Callable[[str], str]) -> None:
        self._producer = producer
        self._topic = topic
        self._queue: deque[_Ticket] = deque()
        self._flying: deque[_Ticket] = deque()
        self._wake = asyncio.Event()
        self._changed = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self.published_seq: dict[int, int] = {}
        """part -> the last seq all of whose records are acknowledged."""

    @property
    def in_flight(self) -> int:
        return len(self._flying)

    def start(self) -> None:
        self._pump = asyncio.create_task(self._send_all(), name="publisher")

    async def stop(self) -> None:
        """Stop without waiting for acknowledgements; `drained` does that."""
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.gather(self._pump, return_exceptions=True)

    def check(self) -> None:
        """Raise PublishFailed if the producer gave up on anything."""
        if self._failure is not None:
            raise PublishFailed(f"{type(self._failure).__name__}: {self._failure}") from self._failure

    async def publish(self, outputs: Iterable[Output], at_ms: int, published: dict[int, int]) -> None:
        """Hand over records; once all are acknowledged, the partitions in `published` are at those seqs."""
        ticket = _Ticket(self._batches(outputs, at_ms), published)
        self._flying.append(ticket)
        if not ticket.batches:
            self._land()
        elif len(self._flying) == 1 and len(ticket.batches) <= AT_ONCE_MAX:
            # Nothing is under way, so nothing makes this wait: a task switch less at low load.
            with self._noting_failure():
                await self._send(ticket)
        else:
            self._queue.append(ticket)
            self._wake.set()

    async def room(self, in_flight_max: int, limit_s: float) -> bool:
        """Wait until fewer than `in_flight_max` are on their way, `limit_s` at most; whether they are."""
        try:
            async with asyncio.timeout(limit_s):
                while len(self._flying) >= in_flight_max and self._failure is None:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def _batches(self, outputs: Iterable[Output], at_ms: int) -> list[tuple[str, int, Any]]:
        open_batches: dict[tuple[str, int], Any] = {}
        batches: list[tuple[str, int, Any]] = []
        for topic, part, key, value, headers in outputs:
            batch = open_batches.get((topic, part))
            if batch is None:
                batch = self._open(open_batches, batches, topic, part)
            encoded = key.encode()
            if batch.append(timestamp=at_ms, key=encoded, value=value, headers=headers) is None:
                batch = self._open(open_batches, batches, topic, part)
                batch.append(timestamp=at_ms, key=encoded, value=value, headers=headers)
        return batches

    def _open(self, open_batches: dict[tuple[str, int], Any], batches: list[Any], topic: str, part: int) -> Any:
        batch = self._producer.create_batch()
        open_batches[topic, part] = batch
        batches.append((self._topic(topic), part, batch))
        return batch

    async def _send_all(self) -> None:
        with self._noting_failure():
            while True:
                while self._queue:
                    await self._send(self._queue.popleft())
                self._wake.clear()
                await self._wake.wait()

    @contextlib.contextmanager
    def _noting_failure(self) -> Iterator[None]:
        try:
            yield
        except (KafkaError, AssertionError) as failure:
            # aiokafka asserts that the partition exists.
            self._fail(failure)

    async def _send(self, ticket: _Ticket) -> None:
        for topic, part, batch in ticket.batches:
            # Closed: records of the next commit must not join it.
            batch.close()
            future = await self._queued(batch, topic, part)
            future.add_done_callback(partial(self._acknowledged, ticket))

    async def _queued(self, batch: Any, topic: str, part: int) -> "asyncio.Future[Any]":
        while True:
            try:
                future: asyncio.Future[Any] = await self._producer.send_batch(batch, topic, partition=part)
            except KafkaTimeoutError:
                # Kafka is away and the batch before this one still waits: nothing was sent, nothing is lost.
                continue
            return future

    def _acknowledged(self, ticket: _Ticket, done: "asyncio.Future[Any]") -> None:
        if done.cancelled():
            return
        failure = done.exception()
        if failure is not None:
            self._fail(failure)
            return
        ticket.unacknowledged -= 1
        if ticket.unacknowledged == 0:
            self._land()

    def _land(self) -> None:
        # In order: a later commit counts as published only behind all earlier ones.
        while self._flying and self._flying[0].unacknowledged == 0:
            self.published_seq.update(self._flying.popleft().published)
        self._changed.set()

    def _fail(self, failure: BaseException) -> None:
        if self._failure is None:
            self._failure = failure
        self._changed.set()
