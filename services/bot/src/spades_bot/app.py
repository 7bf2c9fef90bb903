"""The bot's wiring: table.prompts → judgement → table.commands, on FastStream.

Its default of acknowledging first is right here: a prompt that a crash loses is played by the
table's guard. No type injection and no batches: both would cost more than the judgement does.
"""

import asyncio
import functools
from typing import Any, Final

import stamina
from aiokafka import ConsumerRecord
from aiokafka.errors import KafkaError
from faststream.kafka import KafkaBroker, KafkaMessage
from faststream.kafka.message import FAKE_CONSUMER
from faststream.middlewares import AckPolicy

from spades_bot.domain import Move
from spades_bot.handlers import PromptRecord, Prompts
from spades_bot.settings import BotSettings
from spades_events import BOT_ACCOUNT, Envelope, Topic, encode, headers_of
from spades_runtime import Clock, Input, Parked, parking, stepping
from spades_runtime.process import Process

SOURCE: Final = "/spades/bot"
FETCH_WAIT_MS: Final = 200
SILENT_MS_MAX: Final = 30_000
"""A consumer that is up and has fetched nothing for so long, not even emptily, does not consume."""


async def main(process: Process[BotSettings]) -> None:
    """Answer prompts until the process is told to stop, then send what is due."""
    bot = Bot(process.settings)
    process.probes.problem = bot.problem
    await bot.start(process.stopping)
    await process.stopping.wait()
    await bot.stop()


class Bot:
    """The broker, its one subscriber, and the prompts being answered."""

    def __init__(self, settings: BotSettings) -> None:
        self._settings = settings
        self._clock = Clock()
        self._prompts = Prompts(settings, self._clock, self._send, self._park)
        self._is_started = False
        # Not idempotent: that producer can lose its sequence for good, and a repeated command id has one effect anyway.
        self.broker = KafkaBroker(
            settings.kafka_bootstrap,
            client_id=settings.member_name,
            acks="all",
            apply_types=False,
            allow_auto_create_topics=False,
            logger=None,
        )
        self._subscriber = self.broker.subscriber(
            settings.topic(Topic.TABLE_PROMPTS),
            group_id=settings.group,
            group_instance_id=settings.member_name,
            # Old prompts are passed over by their age; fresh ones from before our first start are not.
            auto_offset_reset="earliest",
            fetch_max_wait_ms=FETCH_WAIT_MS,
            ack_policy=AckPolicy.ACK_FIRST,
            no_reply=True,
            parser=_parsed,
            decoder=_decoded,
            title="table.prompts",
            description="A bot seat's turn with all that the seat sees.",
        )
        self._subscriber(self._prompts.handle)

    async def start(self, stopping: asyncio.Event) -> None:
        """Start the clients, as soon as Kafka answers."""

        def again(cause: Exception) -> bool:
            return isinstance(cause, KafkaError) and not stopping.is_set()

        retries: Any = stamina.retry_context(
            on=again, attempts=None, timeout=None, wait_initial=0.05, wait_max=1.0, wait_jitter=0.1
        )
        async for attempt in retries:
            with attempt:
                try:
                    await self.broker.start()
                except KafkaError:
                    await self.broker.stop()
                    raise
        self._step_over_undecodable()
        self._is_started = True

    def _step_over_undecodable(self) -> None:
        # The subscriber asks this object for each record; whatever it raises but Kafka's own errors, it asks again.
        consumer: Any = self._subscriber.consumer
        consumer.getone = functools.partial(stepping.getone, consumer, consumer.getone)

    async def stop(self) -> None:
        """Read no more, send what is due, close."""
        self._is_started = False
        await self._subscriber.stop()
        await self._prompts.finish()
        await self.broker.stop()

    def problem(self) -> str | None:
        """Why no prompt would be answered now; None when all is well."""
        consumer = self._subscriber.consumer
        if not self._is_started or consumer is None:
            return "not started"
        assigned = consumer.assignment()
        if not assigned:
            return "no partition is assigned"
        last_ms = max((consumer.last_poll_timestamp(part) or 0 for part in assigned), default=0)
        silent_ms = self._clock.now_ms() - last_ms
        return f"nothing was fetched for {silent_ms // 1_000} s" if last_ms and silent_ms > SILENT_MS_MAX else None

    async def _send(self, move: Move, part: int, traceparent: str | None) -> None:
        envelope = Envelope(
            id=move.command_id,
            type=move.type,
            source=SOURCE,
            subject=move.table_id,
            time_ms=self._clock.now_ms(),
            actor=BOT_ACCOUNT,
            traceparent=traceparent,
        )
        await self.broker.publish(
            encode(move.body),
            self._settings.topic(Topic.TABLE_COMMANDS),
            key=move.table_id.encode(),
            partition=part,
            headers={name: value.decode() for name, value in headers_of(envelope)},
            correlation_id=move.command_id,
        )

    async def _park(self, record: PromptRecord, reason: str) -> None:
        headers = [(name, value or b"") for name, value in record.headers]
        source = Input(Topic.TABLE_PROMPTS, record.part, record.offset, record.key, record.value, headers)
        row = parking.row_of(Parked(source, reason, secret=True), 0, self._clock.now_ms(), None, quarantined=False)
        output = parking.output_of(row, self._settings.service)
        await self.broker.publish(
            output.value,
            self._settings.topic(output.topic),
            key=output.key.encode(),
            partition=output.part,
            headers={name: value.decode() for name, value in output.headers},
        )


async def _parsed(record: ConsumerRecord[bytes, bytes]) -> KafkaMessage:
    # FastStream's own parser turns every header into text, and fails on one without a value.
    return KafkaMessage(body=record.value or b"", raw_message=record, consumer=FAKE_CONSUMER)


async def _decoded(message: KafkaMessage) -> PromptRecord:
    record: Any = message.raw_message
    return PromptRecord(record.partition, record.offset, record.key, record.value or b"", record.headers)
