"""The two other styles of commit: one transaction a poll (a ledger), and one every so often (a clock)."""

import asyncio
from dataclasses import dataclass, field

import pytest

from spades_runtime import Clock, Commit, Database, Effects, Fenced, Headers, Output, PartitionWorker, Poll
from spades_runtime.schema import quoted
from tests.runtime.corner import SERVICE, Corner
from tests.runtime.counter import COMMANDS, EVENTS, PRIVATE, command
from tests.runtime.ledger import LEDGER, LedgerProcessor
from tests.runtime.processes import WorkerProcess

pytestmark = pytest.mark.real


@pytest.fixture
def ledger(corner: Corner) -> Corner:
    database = corner.namespace.databases[SERVICE]
    corner.query(LEDGER)
    corner.query(f"GRANT SELECT, INSERT, UPDATE ON ledger TO {quoted(database.app_role)}")
    return corner


async def test_a_transaction_holds_the_services_rows_and_the_answers_or_neither(ledger: Corner) -> None:
    async with ledger.working(LedgerProcessor(), Commit.TRANSACTION):
        await ledger.add_many((f"c{number % 3}", f"k{number}", 1) for number in range(30))
        await ledger.until_answered(30)
        await ledger.add_many((f"c{number % 3}", f"k{number}", 1) for number in range(30))
        await ledger.add("c0", "last")
        await ledger.until_answered(31)
    assert ledger.query("SELECT stream, version, total FROM ledger ORDER BY stream") == [
        ("c0", 11, 11),
        ("c1", 10, 10),
        ("c2", 10, 10),
    ]
    await ledger.assert_exactly_once(
        {f"c{n}": {f"k{k}": 1 for k in range(30) if k % 3 == n} | ({"last": 1} if n == 0 else {}) for n in range(3)}
    )


async def test_a_check_that_fires_is_found_one_command_at_a_time(ledger: Corner) -> None:
    await ledger.add_many([("c1", "k1", 60), ("c1", "k2", 60), ("c1", "k3", 30)])
    async with ledger.working(LedgerProcessor(), Commit.TRANSACTION):
        await ledger.until_answered(2)
        await ledger.until(lambda: ledger.query("SELECT count(*) FROM parked") == [(1,)], "parked")
    assert ledger.query("SELECT total FROM ledger") == [(90,)]
    assert ledger.query("SELECT reason FROM parked") == [("the database refused it: ledger_total_check",)]
    await ledger.assert_exactly_once({"c1": {"k1": 60, "k3": 30}})


async def test_a_fenced_transaction_leaves_no_row_behind(ledger: Corner) -> None:
    worker = PartitionWorker(LedgerProcessor(), ledger.settings(), commit=Commit.TRANSACTION)
    task = asyncio.create_task(worker.run())
    await ledger.until(lambda: worker.problem is None, "ready")
    ledger.query("UPDATE partition SET epoch = epoch + 1")
    await ledger.add("c1", "k1")
    with pytest.raises(Fenced):
        await asyncio.wait_for(task, 20)
    assert ledger.query("SELECT * FROM ledger") == []
    assert ledger.answered() == 0


@dataclass
class _Scribbler(LedgerProcessor):
    """Writes a row at each poll, also where nothing is answered."""

    async def process(self, poll: Poll, db: Database) -> Effects:
        effects = await super().process(poll, db)
        if poll.inputs:
            await db.execute("INSERT INTO ledger VALUES (%s, 0, 0)", [f"poll of {len(self.polls)}"])
        return effects


async def test_a_transaction_without_effects_is_rolled_back_and_its_offsets_follow(ledger: Corner) -> None:
    async with ledger.working(_Scribbler(), Commit.TRANSACTION):
        await ledger.send(COMMANDS, "c1", *command("c1", "look", b'{"read": true}'))
        offset = "SELECT sum((next_offsets->>'table.commands')::int) FROM partition"
        await ledger.until(lambda: ledger.query(offset) == [(1,)], "the offset")
        assert ledger.query("SELECT * FROM ledger") == []
    [told] = [record for record in await ledger.records(PRIVATE) if record.value != b"fresh"]
    assert told.value == b"0"


class _Particular(LedgerProcessor):
    """Wants nothing that is marked as another's."""

    def concerns(self, topic: str, headers: Headers) -> bool:
        return ("ce_type", b"others") not in headers


async def test_what_does_not_concern_a_service_is_passed_over_before_anything_is_asked(ledger: Corner) -> None:
    processor = _Particular()
    async with ledger.working(processor, Commit.TRANSACTION):
        for _ in range(3):
            await ledger.send(COMMANDS, "c1", b"not even JSON", [("ce_type", b"others")])
        offset = "SELECT sum((next_offsets->>'table.commands')::int) FROM partition"
        await ledger.until(lambda: ledger.query(offset) == [(3,)], "the offsets")
        assert processor.polls == []
        await ledger.add("c1", "k1", 2)
        await ledger.until_answered(1)
    assert processor.polls == [1]
    assert ledger.query("SELECT * FROM parked") == []
    await ledger.assert_exactly_once({"c1": {"k1": 2}})


@pytest.mark.parametrize("point", ["before_commit:2", "after_commit:2"])
async def test_a_ledger_killed_at_a_point_repeats_nothing(ledger: Corner, point: str) -> None:
    doomed = WorkerProcess(ledger, SPADES_TEST_LEDGER="1", CRASH_AT=point)
    await ledger.add_many((f"c{number}", "k1", 1) for number in range(4))
    await ledger.until_answered(1)
    await ledger.add_many((f"c{number}", "k2", 1) for number in range(4))
    assert await asyncio.to_thread(doomed.ends) == -9
    async with ledger.working(LedgerProcessor(), Commit.TRANSACTION):
        await ledger.until_answered(8)
    assert ledger.query("SELECT DISTINCT version, total FROM ledger") == [(2, 2)]
    await ledger.assert_exactly_once({f"c{number}": {"k1": 1, "k2": 1} for number in range(4)})


@dataclass
class AlarmProcessor:
    """{"at_ms": t} sets an alarm for the key; it rings once at its time. Rows are written now and then."""

    clock: Clock
    inputs: tuple[str, ...] = (COMMANDS,)
    outputs: tuple[str, ...] = (EVENTS,)
    due_ms: dict[tuple[int, str], int] = field(default_factory=dict)
    changed: dict[tuple[int, str], int | None] = field(default_factory=dict)

    def concerns(self, topic: str, headers: Headers) -> bool:
        return True

    async def take(self, part: int, db: Database) -> list[Output]:
        self.drop(part)
        cursor = await db.execute("SELECT stream, version FROM ledger WHERE total = %s", [part])
        self.due_ms |= {(part, stream): due_ms for stream, due_ms in await cursor.fetchall()}
        return []

    def drop(self, part: int) -> None:
        self.due_ms = {place: due_ms for place, due_ms in self.due_ms.items() if place[0] != part}
        self.changed = {place: due_ms for place, due_ms in self.changed.items() if place[0] != part}

    async def process(self, poll: Poll, db: Database) -> Effects:
        effects = Effects()
        for record in poll.inputs:
            assert record.key is not None
            place = (record.part, record.key.decode())
            self.due_ms[place] = self.changed[place] = poll.now_ms + int(record.value)
        for place in [place for place, due_ms in self.due_ms.items() if due_ms <= poll.now_ms]:
            late_ms = poll.now_ms - self.due_ms.pop(place)
            self.changed[place] = None
            effects.outputs.append(Output(EVENTS, place[0], place[1], b"%d" % late_ms, []))
        return effects

    def records(self, answer: object) -> list[Output]:
        raise AssertionError("no answers here")

    def committed(self) -> None:
        return

    def discard(self) -> None:
        return

    async def recall(self, ids: object, db: Database) -> None:
        raise AssertionError("no answers here")

    def next_due_ms(self) -> int | None:
        return min(self.due_ms.values(), default=None)

    async def flush(self, db: Database) -> None:
        for (part, stream), due_ms in self.changed.items():
            await db.execute("DELETE FROM ledger WHERE stream = %s", [stream])
            if due_ms is not None:
                await db.execute("INSERT INTO ledger VALUES (%s, %s, %s)", [stream, due_ms, part])
        self.changed.clear()

    async def unsettled(self, part: int, db: Database) -> list[str]:
        return []


@pytest.fixture
def alarms(corner: Corner) -> Corner:
    database = corner.namespace.databases[SERVICE]
    corner.query("CREATE TABLE ledger (stream text PRIMARY KEY, version bigint NOT NULL, total bigint NOT NULL)")
    corner.query(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ledger TO {quoted(database.app_role)}")
    return corner


async def test_an_own_wake_up_comes_at_its_time_and_its_record_goes_out_at_once(alarms: Corner) -> None:
    async with alarms.working(AlarmProcessor(Clock()), Commit.INTERVAL):
        await alarms.send(COMMANDS, "c1", b"300")
        await alarms.until(lambda: _rang(alarms), "the alarm")
    [rung] = await alarms.records(EVENTS)
    assert int(rung.value) >= 0
    assert alarms.query("SELECT * FROM ledger") == []


async def test_rows_and_offsets_of_an_interval_are_saved_together(alarms: Corner) -> None:
    async with alarms.working(AlarmProcessor(Clock()), Commit.INTERVAL):
        await alarms.send(COMMANDS, "c1", b"600000")
        await alarms.until(lambda: alarms.query("SELECT count(*) FROM ledger") == [(1,)], "saved")
        part = alarms.query("SELECT total FROM ledger")[0][0]
        offset = "SELECT next_offsets->>'table.commands' FROM partition WHERE part = %s"
        assert alarms.query(offset, [part]) == [("1",)]
    again = AlarmProcessor(Clock())
    async with alarms.working(again, Commit.INTERVAL):
        assert list(again.due_ms) == [(part, "c1")]


async def test_a_fenced_interval_worker_ends_and_saves_nothing(alarms: Corner) -> None:
    worker = PartitionWorker(AlarmProcessor(Clock()), alarms.settings(), commit=Commit.INTERVAL)
    task = asyncio.create_task(worker.run())
    await alarms.until(lambda: worker.problem is None, "ready")
    alarms.query("UPDATE partition SET epoch = epoch + 1")
    await alarms.send(COMMANDS, "c1", b"600000")
    with pytest.raises(Fenced):
        await asyncio.wait_for(task, 20)
    assert alarms.query("SELECT * FROM ledger") == []


async def _rang(corner: Corner) -> bool:
    return len(await corner.records(EVENTS)) == 1
