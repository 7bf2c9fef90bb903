"""The one statement: everything of a partition whose epoch is ours, nothing of one whose is not."""

from collections.abc import AsyncIterator

import psycopg
import pytest

from spades_local.testing import Namespace
from spades_runtime import Answer, Database, StoredEvent, answers, database, snapshots
from spades_runtime.schema import create_worker_tables, quoted
from spades_runtime.statement import ParkedRow, PartitionRow, QuarantineRow, Write, execute
from spades_runtime.types import SnapshotRow
from tests.runtime.corner import SERVICE, Corner

pytestmark = pytest.mark.real


@pytest.fixture
async def db(namespace: Namespace) -> AsyncIterator[Database]:
    made = namespace.databases[SERVICE]
    with psycopg.connect(made.owner_url, autocommit=True) as owner:
        owner.execute(f"SET search_path = {quoted(made.schema)}")
        create_worker_tables(owner, made.app_role)
    connection = await database.connect(Corner(namespace).settings())
    for part in (0, 1):
        await connection.execute("INSERT INTO partition VALUES (%s, 5, '{}', 0, 0, NULL, 'here')", [part])
    yield connection
    await connection.close()


def _answer(part: int, version: int, stream: str = "", command_id: str = "") -> Answer:
    return Answer(
        part=part,
        stream=stream or f"s{part}",
        account="ann",
        command_id=command_id or f"k{version}",
        fingerprint=b"print",
        first_version=version,
        events=(StoredEvent("spades.x.v1", b'{"n": 1.0}', b"\x00\xff", "02"), StoredEvent("spades.y.v1", b"{}")),
        refusal=None,
        at_ms=1_000,
        traceparent="00-trace",
    )


def _refused(part: int, command_id: str) -> Answer:
    return Answer(part, f"s{part}", "ann", command_id, b"print", 7, (), b'{"code":"no"}', 1_000)


def _row(part: int, epoch: int = 5, seq: int = 1) -> PartitionRow:
    return PartitionRow(part, epoch, {"table.commands": seq}, seq, 0, 99)


@pytest.mark.parametrize("count", [1, 3])
async def test_answers_come_back_as_they_were_written(db: Database, count: int) -> None:
    written = [_answer(0, 1 + 2 * number) for number in range(count)]
    assert await execute(db, Write([_row(0, seq=count)], written, range(1, count + 1))) == {0}
    refused = _refused(0, "no")
    assert await execute(db, Write([_row(0, seq=count + 1)], [refused], [count + 1])) == {0}
    everything = [*written, refused]
    assert await answers.fetch(db, [answer.id for answer in everything]) == {answer.id: answer for answer in everything}
    assert await answers.unpublished(db, 0, 0) == list(enumerate(everything, 1))
    assert await answers.of_stream(db, "s0") == written
    cursor = await db.execute(
        "SELECT epoch, next_offsets, seq, published_seq, alive_at_ms FROM partition WHERE part = 0"
    )
    assert await cursor.fetchone() == (5, {"table.commands": count + 1}, count + 1, 0, 99)


@pytest.mark.parametrize("parts", [[0], [0, 1]])
async def test_nothing_is_written_of_a_partition_with_another_epoch(db: Database, parts: list[int]) -> None:
    await db.execute("UPDATE partition SET epoch = 6 WHERE part = 0")
    write = Write(
        [_row(part) for part in parts],
        [_answer(part, 1) for part in parts],
        [1] * len(parts),
        [SnapshotRow(part, f"s{part}", 1, b"body") for part in parts],
        [ParkedRow(part, "t", 1, 2, None, b"[]", None, "left_out", "why", False, 1) for part in parts],
        [QuarantineRow(part, f"s{part}", "why", 1) for part in parts],
    )
    ours = set(parts) - {0}
    assert await execute(db, write) == ours
    assert await execute(db, Write([_row(0)], [_answer(0, 1)], [1])) == set()
    for table in ("answer", "snapshot", "parked", "quarantine"):
        cursor = await db.execute(f"SELECT part FROM {table}".encode())
        assert {row[0] for row in await cursor.fetchall()} == ours, table


@pytest.mark.parametrize("count", [1, 2])
async def test_the_same_command_or_the_same_version_twice_writes_nothing(db: Database, count: int) -> None:
    await execute(db, Write([_row(0)], [_answer(0, 1)], [1]))
    others = [_answer(0, 50, "other"), _answer(0, 60, "other")][: count - 1]
    for twice, constraint in (
        (_answer(0, 9, command_id="k1"), "answer_id"),
        (_refused(0, "k1"), "answer_id"),
        (_answer(0, 1, command_id="new"), "answer_version"),
    ):
        with pytest.raises(psycopg.errors.UniqueViolation) as told:
            await execute(db, Write([_row(0, seq=9)], [*others, twice], [2, 3][:count]))
        assert told.value.diag.constraint_name == constraint
    cursor = await db.execute("SELECT seq FROM partition WHERE part = 0")
    assert await cursor.fetchone() == (1,)
    assert len(await answers.unpublished(db, 0, 0)) == 1


async def test_a_tail_is_what_stands_behind_the_newest_snapshot_of_each_live_stream(db: Database) -> None:
    stored = [_answer(0, 1), _answer(0, 3), _answer(0, 5), _answer(0, 1, "gone"), _answer(1, 1)]
    rows = [_row(0, seq=4), _row(1, seq=1)]
    versions = [SnapshotRow(0, "s0", 0, b""), SnapshotRow(0, "gone", 2, b"", True), SnapshotRow(1, "s1", 0, b"")]
    await execute(db, Write(rows, stored, [1, 2, 3, 4, 1], versions))
    assert await answers.tail(db, 0) == stored[:3]
    await execute(db, Write([_row(0, seq=5)], snapshots=[SnapshotRow(0, "s0", 4, b"state")]))
    assert await answers.tail(db, 0) == [stored[2]]
    assert await snapshots.live(db, 0) == [SnapshotRow(0, "s0", 4, b"state")]
    assert (await snapshots.fetch(db, ["gone", "none"]))["gone"].retired
