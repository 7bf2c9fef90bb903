"""Another process takes the partition: nothing is lost, and one bad table stops no other."""

import msgspec
import pytest
from msgspec.structs import replace

import spades_rules as rules
from spades_events import commands, events, private, wallet
from spades_events.values import TableKind
from spades_runtime import KeyAbsent, Seal
from tests.table.driving import wallet_answer
from tests.table.fake_worker import NO_DATABASE, OPEN, PART, FakeWorker, T, bots_move, of_type, play, started


async def test_a_take_gives_each_person_a_snapshot_and_the_running_bot_its_prompt(
    worker: FakeWorker,
) -> None:
    await started(worker, T, people=2)
    await started(worker, "t-2", people=0)
    before = worker.tables._memory.table(PART, T)
    outputs = await worker.restart()
    assert worker.tables._memory.table(PART, T) == before
    snapshots = of_type(outputs, private.Snapshot)
    assert [(one.table_id, one.account_id) for one in snapshots] == [(T, "ann"), (T, "bob")]
    assert "t-2" in [one.table_id for one in of_type(outputs, private.Prompt)]


async def test_a_game_goes_on_through_a_restart_after_every_poll(worker: FakeWorker) -> None:
    await started(worker, T, people=0)
    prompts = of_type(worker.published, private.Prompt)
    for move in range(400):
        worker.now_ms += 20
        outputs = await worker.poll(bots_move(worker, prompts[0]))
        live = worker.tables._memory.table(PART, T)
        if live is None:
            break
        if move % 7 == 0:
            await worker.restart()
            assert worker.tables._memory.table(PART, T) == live
        prompts = of_type(outputs, private.Prompt)
    assert len(worker.public(T)) > 500


async def test_a_snapshot_of_other_rules_or_state_is_folded_from_events_instead(
    worker: FakeWorker,
) -> None:
    await started(worker, T, people=0)
    live = worker.tables._memory.table(PART, T)
    row = worker.store.snapshots[T]
    assert row.body
    saved = msgspec.msgpack.decode(row.body)
    saved["schema"] += 1
    for body in (msgspec.msgpack.encode(saved), b"\xc1", b"rubbish"):
        worker.store.snapshots[T] = row._replace(body=body)
        await worker.restart()
        assert worker.tables._memory.table(PART, T) == live


async def test_a_snapshot_and_the_events_make_the_same_table(worker: FakeWorker) -> None:
    await started(worker, T, people=0)
    row = worker.store.snapshots[T]
    live = worker.tables._memory.table(PART, T)
    worker.store.snapshots[T] = row._replace(version=0, body=b"")
    await worker.restart()
    assert worker.tables._memory.table(PART, T) == live


async def test_what_a_new_kafka_is_told_again_is_every_game_that_is_not_over(worker: FakeWorker) -> None:
    await started(worker, "over", people=0)
    await play(worker)
    await started(worker, "running", people=4, kind=TableKind.PRIVATE)
    await worker.poll(worker.command("seating", "ann", OPEN, "c-1"))
    assert await worker.tables.unsettled(PART, NO_DATABASE) == ["running", "seating"]


async def test_no_stored_byte_shows_a_card_of_the_running_hand(worker: FakeWorker) -> None:
    await started(worker, T, people=4, kind=TableKind.PRIVATE)
    table = worker.tables._memory.table(PART, T)
    root = table.setup.root  # type: ignore[union-attr]
    stored = b"".join(event.body + (event.sealed or b"") for one in worker.store.answers for event in one.events)
    stored += b"".join(row.body for row in worker.store.snapshots.values())
    assert root not in stored
    assert root.hex().encode() not in stored
    for name in rules.CARD_NAMES:
        assert f'"{name}"'.encode() not in stored


async def test_a_key_that_is_absent_stops_the_take(worker: FakeWorker) -> None:
    await started(worker, T, people=0)
    worker.seal = Seal("k2", {"k2": bytes(32)})
    with pytest.raises(KeyAbsent):
        await worker.restart()


async def test_a_seal_that_cannot_be_opened_cancels_its_table_alone(worker: FakeWorker) -> None:
    opening = replace(OPEN, kind=TableKind.COINS, stake_coins=100)
    await worker.poll(worker.command(T, "ann", opening), worker.command(T, "ann", commands.TakeSeat()))
    version = 0
    for event in worker.public(T):
        answer = wallet_answer(event)
        if answer is not None:
            version += 1
            await worker.poll(worker.news(T, answer, version))
    await worker.poll(worker.news(T, wallet.HoldsCaptured(accounts=(), pot_coins=400), 9))
    await started(worker, "t-2", people=0)
    # The same key id with another key: authentication fails.
    other = FakeWorker(seal=Seal("k1", {"k1": bytes(32)}))
    other.store.answers = [one for one in worker.store.answers if one.stream == T]
    other.store.snapshots = {T: worker.store.snapshots[T]}
    other.published = [one for one in worker.published if one.key == T]
    await other.take()
    assert other.tables.next_due_ms() == 0
    await other.poll()
    told = other.public(T)
    assert [type(event).__name__ for event in told[-2:]] == ["DealUnreadable", "TableCancelled"]
    cancelled = told[-1]
    assert isinstance(cancelled, events.TableCancelled)
    assert cancelled.reason == "deal_unreadable"
    assert [seat.account_id for seat in cancelled.seats].count("ann") == 1
    assert other.tables.next_due_ms() is None
    await other.poll(worker.news(T, wallet.Settlement(accounts=(), outcome="cancelled", payouts=()), 10))
    assert isinstance(other.public(T)[-1], events.GameSettled)


async def cancelled_elsewhere(worker: FakeWorker) -> str:
    """Why the table ends where the seals of `worker` cannot be opened: the same key id with another key."""
    other = FakeWorker(seal=Seal("k1", {"k1": bytes(32)}))
    other.store.answers = list(worker.store.answers)
    other.store.snapshots = dict(worker.store.snapshots)
    other.published = list(worker.published)
    await other.take()
    await other.poll()
    last = other.public(T)[-1]
    assert isinstance(last, events.TableCancelled)
    return last.reason


async def test_a_seal_that_cannot_be_opened_cancels_its_table_while_seating_and_in_a_hand(worker: FakeWorker) -> None:
    await worker.poll(worker.command(T, "ann", OPEN, "c-1"))
    assert await cancelled_elsewhere(worker) == "deal_unreadable"
    await started(worker, "t-2", people=0)
    await worker.poll(
        worker.command(T, "ann", commands.TakeSeat(seat=0)), worker.command(T, "ann", commands.StartGame())
    )
    assert await cancelled_elsewhere(worker) == "deal_unreadable"


async def test_a_table_whose_history_does_not_fold_stops_no_other(worker: FakeWorker) -> None:
    await started(worker, T, people=0)
    await started(worker, "t-2", people=0)
    row = worker.store.snapshots[T]
    worker.store.snapshots[T] = row._replace(version=0, body=b"")
    del worker.store.answers[0]
    await worker.restart()
    assert worker.tables._memory.table(PART, "t-2") is not None
    asked = worker.command(T, "ann", commands.SyncSeat(connection_id="k"))
    await worker.poll(asked)
    assert [one.source for one in worker.parked] == [asked]
