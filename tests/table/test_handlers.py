"""The processor: every input delivered twice, every answer told, nothing unreadable in the way."""

import pytest
from msgspec.structs import replace

from spades_events import Envelope, Topic, commands, encode, envelope_of, events, headers_of, private, wallet
from spades_events.clock import TimedOut
from spades_events.values import TableKind
from spades_table.house import House, Limits
from spades_table.judgement import TIMEOUTS_MAX
from spades_table.phases import BetweenHands, Ended, Playing, Seating, Starting
from tests.table.driving import wallet_answer
from tests.table.fake_worker import OPEN, PART, FakeWorker, T, answers_in, bots_move, of_type, play, started


async def test_four_bots_play_to_the_end_from_their_prompts(worker: FakeWorker) -> None:
    await started(worker, T, people=0)
    await play(worker)
    told = worker.public(T)
    assert isinstance(told[-1], events.GameEnded)
    assert worker.store.snapshots[T].retired
    assert worker.parked == worker.quarantined == []


async def test_every_input_delivered_twice_has_one_effect(worker: FakeWorker) -> None:
    await started(worker, T, people=0)
    await play(worker, twice=True)
    told = worker.public(T)
    assert isinstance(told[-1], events.GameEnded)
    assert sum(isinstance(event, events.GameEnded) for event in told) == 1
    ids = [one.id for one in worker.store.answers]
    assert len(ids) == len(set(ids))


async def test_the_sender_hears_where_its_events_stand(worker: FakeWorker) -> None:
    outputs = await worker.poll(worker.command(T, "ann", OPEN, "c-1"))
    (answer,) = answers_in(outputs)
    assert answer == private.Answer(command_id="c-1", account_id="ann", first_version=1, last_version=2)
    record = outputs[-1]
    envelope = envelope_of(record.headers)
    assert (record.topic, record.part, record.key) == (Topic.TABLE_PRIVATE, PART, T)
    assert (envelope.id, envelope.actor, envelope.subject) == ("c-1", "ann", T)


async def test_the_same_command_again_has_the_same_answer_and_no_effect(
    worker: FakeWorker,
) -> None:
    asked = worker.command(T, "ann", OPEN, "c-1")
    first = answers_in(await worker.poll(asked))
    # In the same poll, in a later one, and by a process that has never seen it.
    assert answers_in(await worker.poll(asked, asked)) == first + first
    await worker.restart()
    assert answers_in(await worker.poll(asked)) == first
    assert len(worker.public(T)) == 2
    assert worker.recalls == 1


async def test_another_command_under_a_used_id_is_a_conflict(worker: FakeWorker) -> None:
    await worker.poll(worker.command(T, "ann", OPEN, "c-1"))
    other = replace(OPEN, clock_ms=60_000)
    for body in (other, commands.StartGame()):
        (answer,) = answers_in(await worker.poll(worker.command(T, "ann", body, "c-1")))
        assert answer.rejection is not None
        assert answer.rejection.code == "conflict"
    # Two types with one body are two commands.
    await worker.poll(worker.command(T, "ann", commands.ReleaseSeat(), "c-2"))
    (answer,) = answers_in(await worker.poll(worker.command(T, "ann", commands.StartGame(), "c-2")))
    assert answer.rejection is not None
    assert answer.rejection.code == "conflict"
    # The same id of another account is another command.
    (answer,) = answers_in(await worker.poll(worker.command(T, "bob", commands.TakeSeat(), "c-1")))
    assert answer.rejection is None


async def test_a_refusal_is_kept_and_repeated(worker: FakeWorker) -> None:
    await worker.poll(worker.command(T, "ann", OPEN))
    asked = worker.command(T, "bob", commands.StartGame(), "c-9")
    (first,) = answers_in(await worker.poll(asked))
    assert first.rejection is not None
    assert first.rejection.code == "not_host"
    await worker.restart()
    assert answers_in(await worker.poll(asked)) == [first]
    stored = [one for one in worker.store.answers if one.command_id == "c-9"]
    assert [one.events for one in stored] == [()]


async def test_a_command_to_no_table_is_not_found_and_leaves_no_trace(worker: FakeWorker) -> None:
    for body in (commands.TakeSeat(), commands.SyncSeat(connection_id="x")):
        outputs = await worker.poll(worker.command("nowhere", "ann", body))
        (answer,) = answers_in(outputs)
        assert answer.rejection is not None
        assert answer.rejection.code == "not_found"
    assert worker.store.answers == []


async def test_a_command_to_a_finished_table_is_over_unless_it_was_answered_before(
    worker: FakeWorker,
) -> None:
    asked = worker.command(T, "ann", OPEN, "c-1")
    (opened,) = answers_in(await worker.poll(asked))
    await worker.poll(worker.command(T, "ann", commands.StartGame()))
    await play(worker)
    stored = len(worker.store.answers)
    await worker.restart()
    assert answers_in(await worker.poll(asked)) == [opened]
    outputs = await worker.poll(worker.command(T, "ann", commands.TakeSeat()))
    (answer,) = answers_in(outputs)
    assert answer.rejection is not None
    assert answer.rejection.code == "game_over"
    assert len(worker.store.answers) == stored
    (seen,) = of_type(
        await worker.poll(worker.command(T, "ann", commands.SyncSeat(connection_id="k"))),
        private.Snapshot,
    )
    assert (seen.phase, seen.settled, seen.view) == ("ended", True, seen.view)


async def test_a_poll_judged_again_after_a_discard_has_the_same_effects(
    worker: FakeWorker,
) -> None:
    await started(worker, T, people=4, kind=TableKind.PRIVATE)
    table = worker.tables._memory.table(PART, T)
    worker.now_ms += 60_000
    await worker.poll(worker.news(T, worker.deadline(T), 1), twice=True)
    told = worker.public(T)
    assert sum(isinstance(event, events.SeatAutoplayed) for event in told) == 1
    assert table is not worker.tables._memory.table(PART, T)


# what cannot be read


@pytest.mark.parametrize(
    ("value", "changes", "reason"),
    [
        (b"{", {}, "malformed"),
        (b'{"seat":9}', {}, "malformed"),
        (b'{"seat":true}', {}, "malformed"),
        (b"{}", {"type": "spades.take_seat.v9"}, "unknown message type"),
        (b"{}", {"actor": None}, "no sender"),
        (b"{}", {"actor": "x" * 81}, "sender"),
        (b"{}", {"actor": "wallet"}, "no account"),
        (b"{}", {"id": "i" * 81}, "command id"),
        (b"{}", {"subject": "another"}, "not the subject"),
        (b'{"amount_coins":1,"reason":"x"}', {"type": "spades.grant_coins.v1"}, "no command"),
    ],
)
async def test_an_unreadable_command_is_parked_and_its_partition_moves_on(
    worker: FakeWorker, value: bytes, changes: dict[str, str | None], reason: str
) -> None:
    envelope = Envelope(id="c-1", type="spades.take_seat.v1", source="/x", subject=T, actor="ann")._replace(**changes)
    bad = worker.record(Topic.TABLE_COMMANDS, T, value, envelope)
    outputs = await worker.poll(bad, worker.command(T, "ann", OPEN))
    assert [one.source for one in worker.parked] == [bad]
    assert reason in worker.parked[0].reason
    assert worker.parked[0].secret
    assert len(worker.public(T)) == 2
    assert len(answers_in(outputs)) == 1


async def test_an_undecodable_event_of_a_needed_type_holds_its_stream(worker: FakeWorker) -> None:
    envelope = Envelope(id=f"{T}:1", type="spades.hold_placed.v1", source="/w", subject=T, sequence=1)
    bad = worker.record(Topic.WALLET_EVENTS, T, b"{}", envelope)
    newer = worker.record(Topic.WALLET_EVENTS, T, b"{}", envelope._replace(type="spades.holds_captured.v2"))
    await worker.poll(bad, newer, worker.command(T, "ann", OPEN))
    assert [one.source for one in worker.quarantined] == [bad, newer]
    assert len(worker.public(T)) == 2


async def test_events_that_the_table_does_not_need_are_skipped(worker: FakeWorker) -> None:
    opened = wallet.AccountOpened(accounts=(), account_id="ann", grant_coins=1, command_id="x")
    voided = wallet.HoldVoided(accounts=(), reservation_id="r", account_id="ann", returned_coins=1)
    unknown = worker.record(
        Topic.WALLET_EVENTS,
        "ann",
        b"{}",
        Envelope(id="ann:2", type="spades.fortune_told.v1", source="/w", subject="ann"),
    )
    outputs = await worker.poll(worker.news("ann", opened, 1), worker.news(T, voided, 2), unknown)
    assert outputs == []
    assert worker.quarantined == []


async def test_news_of_a_table_that_is_not_in_memory_has_no_effect(worker: FakeWorker) -> None:
    captured = wallet.HoldsCaptured(accounts=(), pot_coins=4)
    late = TimedOut(deadline_id=1, due_ms=1)
    assert await worker.poll(worker.news(T, captured, 1), worker.news(T, late, 1)) == []


# coins, twice


async def test_a_coin_game_with_every_record_twice_is_settled_once(worker: FakeWorker) -> None:
    opening = replace(OPEN, kind=TableKind.COINS, stake_coins=100)
    take = worker.command(T, "ann", commands.TakeSeat())
    records = [worker.command(T, "ann", opening), take]
    await worker.poll(*records, *records)
    answered = 0
    version = 0
    while isinstance(table := worker.tables._memory.table(PART, T), Seating | Starting | BetweenHands | Playing):
        told = worker.public(T)
        news = []
        for event in told[answered:]:
            answer = wallet_answer(event)
            if answer is not None:
                version += 1
                news.append(worker.news(T, answer, version))
        answered = len(told)
        prompts: list[private.Prompt] = of_type(worker.published[-20:], private.Prompt)
        if not news and isinstance(table, Playing) and table.turn is not None:
            news = [bots_move(worker, one) for one in prompts if one.turn_id == table.turn.turn_id]
        if not news:
            worker.now_ms = max(worker.now_ms, worker.deadline(T).due_ms)
            news = [worker.news(T, worker.deadline(T), 1)]
        await worker.poll(*news, *news)
        await worker.poll(*news)
    settlement = wallet.Settlement(accounts=(), outcome="win", payouts=())
    for _ in range(3):
        await worker.poll(worker.news(T, settlement, version + 1))
    told = worker.public(T)
    assert sum(isinstance(event, events.GameSettled) for event in told) == 1
    assert isinstance(told[-1], events.GameSettled)
    assert worker.store.snapshots[T].retired


async def test_a_finished_coin_table_stays_in_memory_until_it_is_settled(
    worker: FakeWorker,
) -> None:
    opening = replace(OPEN, kind=TableKind.COINS, stake_coins=100)
    await worker.poll(worker.command(T, "ann", opening), worker.command(T, "ann", commands.TakeSeat()))
    for version, event in enumerate(worker.public(T), 1):
        answer = wallet_answer(event)
        if answer is not None:
            await worker.poll(worker.news(T, answer, version))
    captured = wallet.HoldsCaptured(accounts=(), pot_coins=400)
    await worker.poll(worker.news(T, captured, 50))
    await worker.poll(worker.command(T, "ann", commands.LeaveGame(confirm_price_coins=110)))
    await worker.restart()
    assert isinstance(worker.tables._memory.table(PART, T), Ended)
    settlement = wallet.Settlement(accounts=(), outcome="abandoned", payouts=())
    await worker.poll(worker.news(T, settlement, 99))
    assert worker.tables._memory.table(PART, T) is None
    await worker.restart()
    assert worker.tables._memory.table(PART, T) is None
    assert await worker.poll(worker.news(T, settlement, 99)) == []


# the clock


async def test_at_most_50_timeouts_are_acted_on_in_a_poll_and_the_rest_come_first_in_the_next() -> None:
    worker = FakeWorker(House(limits=Limits(bot_guard_ms=100)))
    await worker.take()
    tables = [f"t-{n}" for n in range(TIMEOUTS_MAX + 7)]
    for table_id in tables:
        await started(worker, table_id, people=0)
    worker.now_ms += 1_000
    timeouts = [worker.news(table_id, worker.deadline(table_id), 1) for table_id in tables]
    outputs = await worker.poll(*timeouts, *timeouts)
    assert len(of_type(outputs, events.SeatAutoplayed)) == TIMEOUTS_MAX
    assert worker.tables.next_due_ms() == 0
    outputs = await worker.poll()
    assert len(of_type(outputs, events.SeatAutoplayed)) == 7
    assert worker.tables.next_due_ms() is None


async def test_a_move_in_the_poll_of_its_timeout_is_in_time(worker: FakeWorker) -> None:
    await started(worker, T, people=0)
    timeout = worker.news(T, worker.deadline(T), 1)
    worker.now_ms += 10_000
    (prompt,) = of_type(worker.published, private.Prompt)
    outputs = await worker.poll(bots_move(worker, prompt), timeout)
    assert of_type(outputs, events.SeatAutoplayed) == []
    assert len(of_type(outputs, events.BidMade)) == 1


async def test_an_outage_is_given_back_before_any_input_and_once(worker: FakeWorker) -> None:
    await started(worker, T, people=4, kind=TableKind.PRIVATE)
    timeout = worker.news(T, worker.deadline(T), 1)
    alive_at_ms = worker.now_ms
    worker.now_ms += 40_000
    outputs = await worker.poll(timeout, outage=(alive_at_ms, 40_000))
    (extended,) = of_type(outputs, events.ClockExtended)
    assert extended.due_ms == worker.now_ms + 30_000
    assert of_type(outputs, events.SeatAutoplayed) == []
    again = await worker.poll(outage=(alive_at_ms, 40_000))
    assert of_type(again, events.ClockExtended) == []


async def test_a_bug_at_one_table_sets_one_command_aside_and_the_others_go_on(
    worker: FakeWorker,
) -> None:
    await started(worker, T, people=0)
    await started(worker, "t-2", people=0)
    table = worker.tables._memory.table(PART, T)
    broken = replace(table, turn=None)  # type: ignore[type-var]
    worker.tables._memory.put(PART, T, broken)  # type: ignore[arg-type]
    first, second = of_type(worker.published, private.Prompt)
    bad, good = bots_move(worker, first), bots_move(worker, second)
    outputs = await worker.poll(bad, good)
    assert len(of_type(outputs, events.BidMade)) == 1
    assert [one.source for one in worker.parked] == [bad]
    assert worker.parked[0].reason.startswith("a bug: ")


async def test_headers_are_those_of_the_envelope(worker: FakeWorker) -> None:
    await started(worker, T, people=2)
    for record in worker.published:
        envelope = envelope_of(record.headers)
        assert sorted(headers_of(envelope)) == sorted(record.headers)
        assert record.key == envelope.subject
    assert encode(commands.StartGame()) == b"{}"
