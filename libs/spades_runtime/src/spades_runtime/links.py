"""The worker's connections: opened with patience, closed in order."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import psycopg
import stamina
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError

from spades_runtime import kafka
from spades_runtime.publisher import Publisher
from spades_runtime.settings import RuntimeSettings
from spades_runtime.types import Database

_T = TypeVar("_T")

Connect = Callable[[RuntimeSettings], Awaitable[Database]]


class Links:
    """Kafka's clients and the one database connection.

    `keep_trying` is asked before every retry: it also notes that the process is alive.
    """

    consumer: AIOKafkaConsumer
    publisher: Publisher
    cluster_id: str

    def __init__(self, settings: RuntimeSettings, connect: Connect, keep_trying: Callable[[], bool]) -> None:
        self._settings = settings
        self._connect = connect
        self._keep_trying = keep_trying
        self._producer: AIOKafkaProducer | None = None
        self._opened_consumer: AIOKafkaConsumer | None = None
        self._db: Database | None = None

    async def open(self, inputs: tuple[str, ...], listener: kafka.RebalanceListener) -> None:
        """Connect to Kafka, for as long as it takes; raises KafkaError if told to stop before."""
        settings = self._settings
        self.cluster_id = await self._patiently(lambda: kafka.cluster_id(settings), KafkaError)
        self._producer = await self._patiently(lambda: kafka.producer(settings), KafkaError)
        self.publisher = Publisher(self._producer, settings.topic)
        self.publisher.start()
        self.consumer = await self._patiently(lambda: kafka.consumer(settings, inputs, listener), KafkaError)
        self._opened_consumer = self.consumer

    async def is_another_cluster(self) -> bool:
        """Look again which cluster this is; whether it is another one than before."""
        before, self.cluster_id = self.cluster_id, await kafka.cluster_id(self._settings)
        return self.cluster_id != before

    @property
    def open_database(self) -> Database | None:
        return self._db

    async def database(self) -> Database:
        """The open connection, or a new one as soon as the server answers."""
        if self._db is None or self._db.closed:
            self._db = await self._patiently(lambda: self._connect(self._settings), psycopg.OperationalError)
        return self._db

    async def drop_database(self) -> None:
        """Close the connection: its state is unknown."""
        if self._db is not None:
            with contextlib.suppress(psycopg.Error):
                await self._db.close()
            self._db = None

    async def close(self) -> None:
        if self._opened_consumer is not None:
            await self._opened_consumer.stop()
        if self._producer is not None:
            await self.publisher.stop()
            await self._producer.stop()
        await self.drop_database()

    async def _patiently(self, connect: Callable[[], Awaitable[_T]], expected: type[Exception]) -> _T:
        def again(cause: Exception) -> bool:
            return isinstance(cause, expected) and self._keep_trying()

        retries: Any = stamina.retry_context(
            on=again, attempts=None, timeout=None, wait_initial=0.05, wait_max=1.0, wait_jitter=0.1
        )
        async for attempt in retries:
            with attempt:
                return await connect()
        raise asyncio.CancelledError
