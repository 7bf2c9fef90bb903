"""The fan-out's reader: it reads only the partitions that somebody here waits on.

Positions are kept here, not in the client: `assign()` forgets all of them. A new partition is
read from its end, and `join` returns when that end is known: whatever is sent after it is seen.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final

import structlog
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError, KafkaTimeoutError

from spades_events import Topic
from spades_lobby.live.records import Record
from spades_lobby.settings import LobbySettings
from spades_runtime.stepping import SteppingReader

log = structlog.get_logger()

Dispatch = Callable[[Mapping[TopicPartition, Sequence[Record]]], Awaitable[None]]

POLL_MS: Final = 500
RECORDS_MAX: Final = 2_000
RETRY_S: Final = 0.2
CHECK_S: Final = 3.0
JOIN_S: Final = 5.0


class Reader:
    """One consumer without a group. `dispatch` gets every poll's records, in order per partition."""

    def __init__(self, settings: LobbySettings, dispatch: Dispatch) -> None:
        self._settings = settings
        self._dispatch = dispatch
        self._consumer = AIOKafkaConsumer(
            bootstrap_servers=settings.kafka_bootstrap,
            enable_auto_commit=False,
            auto_offset_reset="latest",
            fetch_max_wait_ms=settings.fetch_wait_ms,
            client_id=f"{settings.member_name}-fanout",
        )
        self._stepping = SteppingReader(self._consumer, self._go_on_at, self._go_back)
        self._next: dict[TopicPartition, int] = {}
        self._users: Counter[TopicPartition] = Counter()
        self._idle_since: dict[TopicPartition, float] = {}
        # One change of the assignment at a time: the end of a partition is asked for in between.
        self._changing = asyncio.Lock()
        self._assigned = asyncio.Event()
        self.turned_at = asyncio.get_running_loop().time()

    async def start(self) -> None:
        await self._consumer.start()

    async def stop(self) -> None:
        await self._consumer.stop()

    def parts(self, part: int, *topics: str) -> tuple[TopicPartition, ...]:
        """The partitions of this number, of topics without their prefix."""
        return tuple(TopicPartition(self._settings.topic(topic), part) for topic in topics)

    @asynccontextmanager
    async def joined(self, *parts: TopicPartition) -> AsyncIterator[None]:
        """Read these partitions as long as the block runs."""
        await self.join(*parts)
        try:
            yield
        finally:
            self.release(*parts)

    async def join(self, *parts: TopicPartition) -> None:
        """Read these partitions from now on. Raises KafkaError where Kafka does not answer."""
        self._users.update(parts)
        for part in parts:
            self._idle_since.pop(part, None)
        try:
            if any(part not in self._next for part in parts):
                await self._assign(parts)
        except BaseException:
            self.release(*parts)
            raise

    def release(self, *parts: TopicPartition) -> None:
        """One user fewer; a partition without any is let go a while later."""
        self._users.subtract(parts)
        now = asyncio.get_running_loop().time()
        for part in parts:
            if self._users[part] <= 0:
                self._idle_since[part] = now

    async def _assign(self, parts: Sequence[TopicPartition]) -> None:
        async with self._changing:
            missing = [part for part in parts if part not in self._next]
            if not missing:
                return
            try:
                async with asyncio.timeout(JOIN_S):
                    ends = await self._consumer.end_offsets(missing)
            except TimeoutError:
                raise KafkaTimeoutError("Kafka did not tell the ends of partitions") from None
            self._next.update(ends)
            self._seek_all()

    def _seek_all(self) -> None:
        # No await in here: between the three steps nothing may be fetched.
        self._consumer.assign(list(self._next))
        for part, offset in self._next.items():
            self._consumer.seek(part, offset)
        if self._next:
            self._assigned.set()
        else:
            self._assigned.clear()

    def _go_on_at(self, part: TopicPartition, offset: int) -> None:
        if part in self._next:
            self._next[part] = offset

    async def _go_back(self) -> None:
        async with self._changing:
            self._seek_all()

    async def run(self) -> None:
        """Read until cancelled."""
        while True:
            await self._assigned.wait()
            self.turned_at = asyncio.get_running_loop().time()
            try:
                polled = await self._stepping.getmany(POLL_MS, RECORDS_MAX)
            except KafkaError as error:
                log.warning("reader_failed", error=type(error).__name__)
                await asyncio.sleep(RETRY_S)
                continue
            for part, records in polled.items():
                if part in self._next:
                    self._next[part] = records[-1].offset + 1
            if polled:
                await self._dispatch(polled)

    @property
    def partition_count(self) -> int:
        """How many partitions are read now."""
        return len(self._next)

    @property
    def idle(self) -> bool:
        """Nobody waits on anything: there is nothing to read."""
        return not self._next

    async def check(self) -> None:
        """Return when Kafka answers. Raises KafkaError or TimeoutError where it does not."""
        part = TopicPartition(self._settings.topic(Topic.TABLE_EVENTS), 0)
        async with asyncio.timeout(CHECK_S):
            await self._consumer.end_offsets([part])

    async def let_go(self) -> None:
        """Stop reading what nobody has used for a while."""
        limit_s = self._settings.lobby_partition_idle_ms / 1_000
        async with self._changing:
            now = asyncio.get_running_loop().time()
            idle = [part for part, since in self._idle_since.items() if now - since >= limit_s]
            for part in idle:
                del self._idle_since[part], self._users[part]
                self._next.pop(part, None)
            if idle:
                self._seek_all()
