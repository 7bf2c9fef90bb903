"""After whatever was lost, Postgres is the truth, and what cannot be known is said aloud."""

import asyncio

import psycopg
import pytest
from aiokafka.admin import AIOKafkaAdminClient

from spades_local import topics
from spades_runtime import Commit, Database, PartitionWorker, RuntimeSettings, UnsafeDatabase
from spades_runtime import database as runtime_database
from tests.runtime.corner import Corner
from tests.runtime.counter import COMMANDS, EVENTS, PRIVATE, CounterProcessor

pytestmark = pytest.mark.real


def _terminate(corner: Corner) -> int:
    """End every connection of the service's role, as a restart of the server does."""
    role = corner.namespace.databases["table"].app_role
    with psycopg.connect(corner.namespace.admin_url, autocommit=True) as admin:
        ended = admin.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = %s", [role]
        ).fetchone()
        assert ended is not None
        return int(ended[0])


async def test_lost_database_connections_lose_and_repeat_nothing(corner: Corner) -> None:
    processor = CounterProcessor()
    wanted: dict[str, dict[str, int]] = {f"c{number}": {} for number in range(5)}
    async with corner.working(processor) as worker:
        ended = 0
        for round_no in range(60):
            commands = [(f"c{number}", f"r{round_no}", 1) for number in range(5)]
            for stream, command_id, amount in commands:
                wanted[stream][command_id] = amount
            await corner.add_many(commands)
            if round_no % 6 == 3:
                # Somewhere between reading and publishing: the next commit's outcome is unknown.
                ended += await asyncio.to_thread(_terminate, corner)
        await corner.until_answered(300)
        await corner.until(lambda: worker.problem is None, "ready again")
        assert ended > 0
        assert processor.takes > 2
    await corner.assert_exactly_once(wanted)


async def test_a_worker_waits_for_its_database_and_then_goes_on(corner: Corner) -> None:
    missing, refused = True, 0

    async def connect(settings: RuntimeSettings) -> Database:
        nonlocal refused
        if missing:
            refused += 1
            raise psycopg.OperationalError("nobody listens")
        return await runtime_database.connect(settings)

    worker = PartitionWorker(CounterProcessor(), corner.settings(), commit=Commit.STATEMENT, connect=connect)
    task = asyncio.create_task(worker.run())
    await corner.add("c1", "k1")
    await corner.until(lambda: refused >= 3, "three attempts")
    assert worker.problem is not None
    assert worker.healthy
    missing = False
    await corner.until_answered(1)
    worker.stop()
    await task


async def test_a_server_that_forgets_commits_is_refused(corner: Corner) -> None:
    role = corner.namespace.databases["table"].app_role
    with psycopg.connect(corner.namespace.admin_url, autocommit=True) as admin:
        admin.execute(f'ALTER ROLE "{role}" SET synchronous_commit = off'.encode())
    with pytest.raises(UnsafeDatabase, match="synchronous_commit = off"):
        await runtime_database.connect(corner.settings())


async def test_records_without_partition_rows_mean_a_lost_database(corner: Corner) -> None:
    await corner.send(EVENTS, "c1", b"{}")
    worker = PartitionWorker(CounterProcessor(), corner.settings(), commit=Commit.STATEMENT)
    task = asyncio.create_task(worker.run())
    await corner.until(lambda: "make reset" in (worker.problem or ""), "the reason in words")
    assert corner.query("SELECT count(*) FROM partition") == [(0,)]
    worker.stop()
    await task


async def test_a_replaced_kafka_cluster_is_told_the_unsettled_streams_again_from_version_1(corner: Corner) -> None:
    async with corner.working(CounterProcessor()):
        await corner.add_many(("c1", f"k{number}", 1) for number in range(7))
        await corner.until_answered(7)
    corner.query("UPDATE partition SET kafka_cluster_id = 'another'")
    before = len(await corner.records(EVENTS))
    async with corner.working(CounterProcessor()):
        # From offset 0 on every command comes again, and is known.
        await corner.until(lambda: _again(corner, 7), "all commands read again")
    told = [int(record.headers["ce_sequence"]) for record in (await corner.records(EVENTS))[before:]]
    assert told == list(range(1, 8))
    assert corner.answered() == 7
    assert corner.query("SELECT count(*) FROM partition WHERE kafka_cluster_id = 'another'") == [(0,)]


async def test_a_kafka_that_was_wiped_has_every_unsettled_stream_again_and_goes_on_behind_it(corner: Corner) -> None:
    async with corner.working(CounterProcessor()):
        await corner.add_many(("c1", f"k{number}", 1) for number in range(5))
        await corner.until_answered(5)
    await topics.delete(corner.namespace.bootstrap, corner.namespace.topic_prefix)
    await topics.create(corner.namespace.bootstrap, corner.namespace.topic_prefix, corner.partitions)
    corner.query("UPDATE partition SET kafka_cluster_id = 'the one before'")
    async with corner.working(CounterProcessor()):
        await corner.add("c1", "k5")
        await corner.until_answered(6)
        # A sender whose answer went with the old cluster asks again: its command is known.
        await corner.add("c1", "k3")
        await corner.until(lambda: _again(corner, 1), "the command again")
    await corner.assert_exactly_once({"c1": {f"k{number}": 1 for number in range(6)}})
    assert [int(one.headers["ce_sequence"]) for one in await corner.records(EVENTS)] == list(range(1, 7))


async def _again(corner: Corner, count: int) -> bool:
    return sum(record.value == b"again" for record in await corner.records(PRIVATE)) == count


async def test_an_offset_beyond_the_end_goes_to_the_end(corner: Corner) -> None:
    async with corner.working(CounterProcessor()):
        await corner.add("c1", "k1")
        await corner.until_answered(1)
    corner.query("""UPDATE partition SET next_offsets = '{"table.commands": 999, "wallet.events": 999}'""")
    async with corner.working(CounterProcessor()):
        await corner.add("c1", "k2")
        await corner.until_answered(2)
    await corner.assert_exactly_once({"c1": {"k1": 1, "k2": 1}})


async def test_a_take_tells_private_records_afresh_and_public_ones_not_again(corner: Corner) -> None:
    async with corner.working(CounterProcessor()):
        await corner.add("c1", "k1")
        await corner.until_answered(1)
    async with corner.working(CounterProcessor()):
        pass
    assert [record.value for record in await corner.records(PRIVATE)] == [b"answered", b"fresh"]
    assert len(await corner.records(EVENTS)) == 1


async def test_refusals_are_forgotten_after_ten_minutes_and_nothing_else_is(corner: Corner) -> None:
    async with corner.working(CounterProcessor()):
        await corner.add("c1", "k1", -1)
        await corner.add("c1", "k2", -1)
        await corner.add("c1", "k3", 1)
        await corner.until_answered(3)
    corner.query("UPDATE answer SET at_ms = at_ms - 600001 WHERE command_id <> 'k2'")
    async with corner.working(CounterProcessor()):
        await corner.until(lambda: corner.answered() == 2, "the old refusal is gone")
    assert corner.query("SELECT command_id FROM answer ORDER BY seq") == [("k2",), ("k3",)]


async def test_the_service_cannot_rewrite_history(corner: Corner) -> None:
    async with corner.working(CounterProcessor()):
        await corner.add("c1", "k1")
        await corner.until_answered(1)
    database = corner.namespace.databases["table"]
    for attempt in (
        "UPDATE answer SET events = NULL",
        "DELETE FROM answer",
        "TRUNCATE answer",
        "DELETE FROM parked",
        "UPDATE parked SET reason = ''",
        "DELETE FROM partition",
        "DROP TABLE answer",
    ):
        with psycopg.connect(database.app_url, autocommit=True) as service:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                service.execute(attempt.encode())
    assert corner.answered() == 1


async def test_a_topic_that_is_gone_stops_the_heartbeat(corner: Corner) -> None:
    """An input whose fetches fail: `alive_at` must not claim that its commands would have been heard."""
    async with corner.working(CounterProcessor()) as worker:
        await corner.until(lambda: _alive(corner) is not None, "a first heartbeat")
        admin = AIOKafkaAdminClient(bootstrap_servers=corner.namespace.bootstrap)
        await admin.start()
        await admin.delete_topics([corner.namespace.topic(COMMANDS)])
        await admin.close()
        await asyncio.sleep(1.5)
        stopped = _alive(corner)
        await asyncio.sleep(2.5)
        assert _alive(corner) == stopped
        assert worker.healthy


def _alive(corner: Corner) -> int | None:
    found = corner.query("SELECT max(alive_at_ms) FROM partition")[0][0]
    return None if found is None else int(found)
