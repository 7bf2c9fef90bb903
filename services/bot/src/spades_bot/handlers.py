"""One function for the one message: judge at once, wait for the moment, send."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

import msgspec
from aiokafka.errors import KafkaError

from spades_bot import metrics
from spades_bot.domain import Move, answer, due_ms
from spades_bot.settings import BotSettings
from spades_events import Envelope, UndecodableMessage, decode, envelope_of
from spades_events.private import Prompt
from spades_runtime import Clock, logging

_log = logging.get(__name__)


class PromptRecord(NamedTuple):
    """A record of table.prompts as it was read."""

    part: int
    offset: int
    key: bytes | None
    value: bytes
    headers: Sequence[tuple[str, bytes | None]]


class Send(Protocol):
    """Puts a move on table.commands, on this partition; returns when Kafka has it, raises KafkaError if it has not."""

    def __call__(self, move: Move, part: int, traceparent: str | None) -> Awaitable[None]: ...


Park = Callable[[PromptRecord, str], Awaitable[None]]
"""Sets a record aside with a reason, without its payload: it holds a hand."""


class Prompts:
    """Answers prompts, each as a task of its own, so that no table's pace holds up another's."""

    def __init__(self, settings: BotSettings, clock: Clock, send: Send, park: Park) -> None:
        self._settings = settings
        self._clock = clock
        self._send = send
        self._park = park
        self._room = asyncio.Semaphore(settings.bot_turns_max)
        self._waiting: set[asyncio.Task[None]] = set()

    async def handle(self, record: PromptRecord) -> None:
        """Judge a prompt and see to it that its move is sent in time; returns before that.

        A prompt that comes twice gives the same command id twice: one effect.
        """
        read_ms = self._clock.now_ms()
        try:
            envelope, prompt = _read(record)
            if self._is_old(envelope, read_ms):
                metrics.PROMPTS.labels("too_old").inc()
                return
            with metrics.JUDGEMENT.time():
                move = answer(prompt)
        except UndecodableMessage as error:
            await self._set_aside(record, error.reason)
            return
        except (msgspec.DecodeError, ValueError) as error:
            # Only its kind: the text may quote a hand.
            await self._set_aside(record, f"no view to judge: {type(error).__name__}")
            return
        metrics.PROMPTS.labels("answered").inc()
        due = due_ms(read_ms=read_ms, made_ms=envelope.time_ms, pace_ms=self._settings.bot_pace_ms)
        await self._room.acquire()
        task = asyncio.create_task(self._send_at(due, move, record.part, envelope.traceparent))
        self._waiting.add(task)
        task.add_done_callback(self._done)

    async def finish(self) -> None:
        """Await the moves on their way: within the pace all are sent."""
        if self._waiting:
            await asyncio.wait(self._waiting)

    def _is_old(self, envelope: Envelope, read_ms: int) -> bool:
        made_ms = envelope.time_ms
        return made_ms is not None and read_ms - made_ms > self._settings.bot_prompt_age_ms_max

    async def _set_aside(self, record: PromptRecord, reason: str) -> None:
        metrics.PROMPTS.labels("parked").inc()
        _log.error("prompt_parked", reason=reason, partition=record.part, offset=record.offset)
        await self._park(record, reason)

    async def _send_at(self, due: int, move: Move, part: int, traceparent: str | None) -> None:
        wait_ms = due - self._clock.now_ms()
        if wait_ms > 0:
            await asyncio.sleep(wait_ms / 1_000)
        try:
            await self._send(move, part, traceparent)
        except KafkaError as error:
            # Not sent again: by the time Kafka is back the table's guard has played this turn.
            metrics.COMMANDS_FAILED.inc()
            _log.warning("command_not_sent", error=type(error).__name__)
        else:
            metrics.LATENESS.observe(max(0, self._clock.now_ms() - due) / 1_000)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._waiting.discard(task)
        self._room.release()


def _read(record: PromptRecord) -> tuple[Envelope, Prompt]:
    envelope = envelope_of(record.headers)
    prompt = decode(envelope.type, record.value)
    if not isinstance(prompt, Prompt):
        raise UndecodableMessage("no prompt")
    return envelope, prompt
