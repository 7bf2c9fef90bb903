"""A producer for services that run no worker: one record at a time, acknowledged, to its own partition."""

from types import TracebackType

from aiokafka import AIOKafkaProducer

from spades_runtime import kafka
from spades_runtime.settings import RuntimeSettings
from spades_runtime.types import Output


class Producer:
    """Sends records that count only once every replica has them.

    `async with Producer(settings) as producer: await producer.send(output)`
    """

    def __init__(self, settings: RuntimeSettings) -> None:
        self._settings = settings
        self._client: AIOKafkaProducer | None = None

    async def __aenter__(self) -> "Producer":
        self._client = await kafka.producer(self._settings)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._client is not None
        await self._client.stop()

    async def send(self, output: Output) -> int:
        """Return the record's offset; raises aiokafka's KafkaError where the outcome is unknown."""
        assert self._client is not None, "use the producer as a context"
        sent = await self._client.send_and_wait(
            self._settings.topic(output.topic),
            output.value,
            key=output.key.encode(),
            partition=output.part,
            headers=output.headers,
        )
        return int(sent.offset)
