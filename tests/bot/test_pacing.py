"""Each prompt is answered at its own moment, however many there are and whatever becomes of the others."""

import asyncio
import time

import pytest
from aiokafka.errors import KafkaTimeoutError

from spades_bot.domain import Move
from spades_bot.handlers import PromptRecord, Prompts
from spades_bot.settings import BotSettings
from spades_runtime import Clock
from tests.bot.prompts import games, record_of

TURNS = games()


class Outbox:
    """Where moves go; `full` until they are let out."""

    def __init__(self, *, fails: bool = False) -> None:
        self.sent: list[tuple[Move, int, str | None, float]] = []
        self.parked: list[tuple[PromptRecord, str]] = []
        self.open = asyncio.Event()
        self.open.set()
        self._fails = fails

    async def send(self, move: Move, part: int, traceparent: str | None) -> None:
        await self.open.wait()
        if self._fails:
            raise KafkaTimeoutError
        self.sent.append((move, part, traceparent, time.monotonic()))

    async def park(self, record: PromptRecord, reason: str) -> None:
        self.parked.append((record, reason))


def prompts(outbox: Outbox, *, pace_ms: int = 0, turns_max: int = 100) -> Prompts:
    settings = BotSettings(kafka_bootstrap="nowhere", member_id="bot-0", bot_pace_ms=pace_ms, bot_turns_max=turns_max)
    return Prompts(settings, Clock(), outbox.send, outbox.park)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


async def test_a_prompt_becomes_a_command_on_its_own_partition_with_its_trace() -> None:
    outbox = Outbox()
    answering = prompts(outbox)
    await answering.handle(record_of(TURNS[0][1], part=5, made_ms=now_ms()))
    await answering.finish()
    ((move, part, traceparent, _),) = outbox.sent
    assert (move.table_id, part) == ("t", 5)
    assert traceparent == "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


async def test_many_tables_wait_their_pace_beside_each_other() -> None:
    outbox = Outbox()
    answering = prompts(outbox, pace_ms=150)
    started_s = time.monotonic()
    for _, prompt in TURNS[:60]:
        await answering.handle(record_of(prompt, made_ms=now_ms()))
    assert outbox.sent == []
    await answering.finish()
    assert len(outbox.sent) == 60
    assert min(sent_s for *_, sent_s in outbox.sent) - started_s >= 0.149
    # One behind the other they would take nine seconds.
    assert max(sent_s for *_, sent_s in outbox.sent) - started_s < 3


async def test_beyond_the_bound_reading_waits_until_a_turn_is_done() -> None:
    outbox = Outbox()
    outbox.open.clear()
    answering = prompts(outbox, turns_max=2)
    records = [record_of(prompt, made_ms=now_ms()) for _, prompt in TURNS[:3]]
    await answering.handle(records[0])
    await answering.handle(records[1])
    third = asyncio.create_task(answering.handle(records[2]))
    await asyncio.sleep(0)
    assert not third.done()
    outbox.open.set()
    await third
    await answering.finish()
    assert len(outbox.sent) == 3


async def test_a_prompt_older_than_the_guard_is_passed_over() -> None:
    outbox = Outbox()
    answering = prompts(outbox)
    await answering.handle(record_of(TURNS[0][1], made_ms=now_ms() - 11_000))
    await answering.finish()
    assert (outbox.sent, outbox.parked) == ([], [])


async def test_a_move_that_kafka_does_not_take_is_left_to_the_guard() -> None:
    outbox = Outbox(fails=True)
    answering = prompts(outbox)
    for _, prompt in TURNS[:5]:
        await answering.handle(record_of(prompt, made_ms=now_ms()))
    await answering.finish()
    assert outbox.sent == []
    await answering.handle(record_of(TURNS[5][1], made_ms=now_ms()))
    await answering.finish()


@pytest.mark.parametrize("fault", ["bytes", "view", "other type", "no headers", "empty header"])
async def test_what_is_no_prompt_is_set_aside_and_the_next_is_answered(fault: str) -> None:
    good = record_of(TURNS[0][1], made_ms=now_ms())
    secret_card = b"QS"
    match fault:
        case "bytes":
            bad = good._replace(value=b'{"hand":"' + secret_card)
        case "view":
            bad = good._replace(value=good.value.replace(b'"view":{', b'"view":{"hand":["QS"],"x":{'))
        case "other type":
            headers = [(n, b"spades.play_card.v1" if n == "ce_type" else v) for n, v in good.headers]
            bad = good._replace(value=b'{"turn_id":"1:1","card":"QS"}', headers=headers)
        case "no headers":
            bad = good._replace(headers=[])
        case _:
            bad = good._replace(headers=[(n, None if n == "ce_id" else v) for n, v in good.headers])
    outbox = Outbox()
    answering = prompts(outbox)
    await answering.handle(bad)
    await answering.handle(good)
    await answering.finish()
    ((record, reason),) = outbox.parked
    assert record == bad
    assert "QS" not in reason
    assert len(outbox.sent) == 1
