"""Commands go out here, and whoever sent one hears what it got."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

import msgspec
import structlog
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from spades_events import CE_TYPES, Envelope, Topic, encode, headers_of
from spades_events.private import Answer
from spades_lobby.settings import LobbySettings
from spades_runtime import Clock, partition_of, tracing
from spades_runtime.errors import PublishFailed

log = structlog.get_logger()

SOURCE: Final = "/spades/lobby"
_decode_answer: Final = msgspec.json.Decoder(Answer).decode

Heard = Callable[[Answer], None]


class AnswerKey(NamedTuple):
    """A command id is its sender's own within one table: another table's answer to it is another answer."""

    table_id: str
    account_id: str
    command_id: str


class SendFailed(Exception):
    """Kafka did not take the command; whether it was written is unknown."""


class Answers:
    """Who waits for the answer to which command."""

    def __init__(self) -> None:
        self._waiting: dict[AnswerKey, list[Heard]] = {}
        self.by_table: Counter[str] = Counter()
        """Commands of sockets that wait, by table: one table's flood must not be its partition's queue."""

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, key: AnswerKey, heard: Heard) -> None:
        self._waiting.setdefault(key, []).append(heard)

    def remove(self, key: AnswerKey, heard: Heard) -> None:
        waiting = self._waiting.get(key, [])
        if heard in waiting:
            waiting.remove(heard)
        if not waiting:
            self._waiting.pop(key, None)

    def heard(self, key: AnswerKey, body: bytes) -> None:
        """An answer was read: tell everybody who waits for it, once."""
        waiting = self._waiting.pop(key, None)
        if waiting is None:
            return
        try:
            answer = _decode_answer(body)
        except (msgspec.DecodeError, RecursionError):
            log.error("unreadable_answer")
            return
        for tell in waiting:
            tell(answer)

    @contextmanager
    def expecting(self, key: AnswerKey) -> Iterator[asyncio.Future[Answer]]:
        """A future of the answer, known before the command is sent."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        def heard(answer: Answer) -> None:
            if not future.done():
                future.set_result(answer)

        self.add(key, heard)
        try:
            yield future
        finally:
            self.remove(key, heard)


class Desk:
    """Sends commands, each to the partition of its table or account."""

    def __init__(self, settings: LobbySettings, producer: AIOKafkaProducer, clock: Clock) -> None:
        self._settings = settings
        self._producer = producer
        self._clock = clock
        self._failed = asyncio.Event()

    async def failed(self) -> None:
        """Wait until the producer can send nothing more, and raise PublishFailed: only a new process can."""
        await self._failed.wait()
        raise PublishFailed("the producer gave up for good")

    def part_of(self, key: str) -> int:
        return partition_of(key, self._settings.partitions)

    async def send(
        self,
        topic: Topic,
        key: str,
        actor: str,
        command_id: str,
        command: msgspec.Struct,
        traceparent: str | None = None,
    ) -> None:
        """Hand the command to the producer; its answer says whether it arrived.

        Raises SendFailed where the producer does not take it.
        """
        await self._hand_over(topic, key, actor, command_id, command, traceparent)

    async def send_surely(self, topic: Topic, key: str, actor: str, message_id: str, message: msgspec.Struct) -> None:
        """Return when every replica has it. Raises SendFailed where that is not known in time."""
        written = await self._hand_over(topic, key, actor, message_id, message, None)
        try:
            async with asyncio.timeout(self._settings.lobby_answer_ms / 1_000):
                await asyncio.shield(written)
        except (KafkaError, TimeoutError) as error:
            raise SendFailed(type(error).__name__) from error

    async def _hand_over(
        self, topic: Topic, key: str, actor: str, command_id: str, command: msgspec.Struct, traceparent: str | None
    ) -> "asyncio.Future[object]":
        envelope = Envelope(
            id=command_id,
            type=CE_TYPES[type(command)],
            source=SOURCE,
            subject=key,
            time_ms=self._clock.now_ms(),
            actor=actor,
            traceparent=traceparent or tracing.sent(CE_TYPES[type(command)], key),
        )
        try:
            written: asyncio.Future[object] = await self._producer.send(
                self._settings.topic(topic),
                encode(command),
                key=key.encode(),
                partition=self.part_of(key),
                headers=headers_of(envelope),
            )
        except KafkaError as error:
            raise SendFailed(type(error).__name__) from error
        written.add_done_callback(self._written)
        return written

    def _written(self, written: "asyncio.Future[object]") -> None:
        if written.cancelled():
            return
        error = written.exception()
        if error is None:
            return
        log.warning("command_not_written", error=type(error).__name__)
        if isinstance(error, KafkaError) and not error.retriable:
            # The producer never recovers from these (aiokafka #1017): the process has to go.
            self._failed.set()
