"""What cannot be judged is set aside with its reason, and the rest goes on."""

import asyncio

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.record.util import calc_crc32c

from spades_runtime import Commit, PartitionWorker, Seal, partition_of
from spades_runtime.parking import PAYLOAD_BYTES_MAX
from tests.runtime.corner import Corner
from tests.runtime.counter import COMMANDS, GIFTS, CounterProcessor, command

pytestmark = pytest.mark.real

PARKED = "parked"


async def test_poison_is_parked_and_its_partition_moves_on(corner: Corner) -> None:
    poison: list[tuple[str | bytes | None, bytes, list[tuple[str, bytes]]]] = [
        ("c1", *command("c1", "p1", b"not json")),
        ("c1", *command("c1", "p2", b'{"add": "many"}')),
        ("c1", *command("c1", "p3", b"\xff" * 900_000)),
        ("c1", b'{"add": 1}', []),
        (None, *command("c1", "p5", b'{"add": 1}')),
        (b"\xff\xfe", *command("c1", "p6", b'{"add": 1}')),
        (b"c\x001", *command("c1", "p7", b'{"add": 1}')),
    ]
    part = partition_of("c1", corner.partitions)
    for key, value, headers in poison:
        await corner.send(COMMANDS, key, value, headers, part)
    await corner.add("c1", "k1", 5)
    async with corner.working(CounterProcessor()):
        await corner.until_answered(1)
    await corner.assert_exactly_once({"c1": {"k1": 5}})
    stored = corner.query('SELECT topic, part, "offset", form, payload FROM parked ORDER BY "offset"')
    # Without a seal a command's payload is left out: it may hold a player's cards.
    assert stored == [(COMMANDS, part, offset, "left_out", None) for offset in range(7)]
    told = await corner.records(PARKED)
    assert sorted(int(record.headers["parked_offset"]) for record in told) == list(range(7))
    assert {record.value for record in told} == {b""}
    assert {record.headers["parked_reason"] for record in told} >= {b"unreadable key", b"unreadable: JSONDecodeError"}


async def _send_undecodable(corner: Corner, topic: str, part: int) -> None:
    """Send a record whose header has a name that is no UTF-8; aiokafka writes none, other clients may."""
    producer = AIOKafkaProducer(bootstrap_servers=corner.namespace.bootstrap)
    await producer.start()
    batch = producer.create_batch()
    batch.append(timestamp=None, key=b"c1", value=b"{}", headers=[("ce_bad", b"x")])
    built = batch._build()
    built[:] = built.replace(b"ce_bad", b"ce_\xff\xfe\xfd")
    # Record batches (format 2): the checksum of all from byte 21 on stands before it.
    built[17:21] = calc_crc32c(bytes(built[21:])).to_bytes(4, "big")
    await (await producer.send_batch(batch, corner.namespace.topic(topic), partition=part))
    await producer.stop()


async def test_a_record_that_cannot_be_decoded_is_stepped_over_and_told_by_its_place(corner: Corner) -> None:
    part = partition_of("c1", corner.partitions)
    elsewhere = next(name for name in ("c2", "c3", "c4", "c5") if partition_of(name, corner.partitions) != part)
    for number in range(5):
        await corner.add("c1", f"before{number}")
        await corner.add(elsewhere, f"beside{number}")
    for _ in range(2):
        await _send_undecodable(corner, COMMANDS, part)
    await _send_undecodable(corner, GIFTS, part)
    await corner.add("c1", "behind")
    async with corner.working(CounterProcessor()):
        await corner.until_answered(11)
        await corner.until(lambda: corner.query("SELECT count(*) FROM parked") == [(3,)], "parked")
    await corner.assert_exactly_once(
        {
            "c1": {f"before{number}": 1 for number in range(5)} | {"behind": 1},
            elsewhere: {f"beside{number}": 1 for number in range(5)},
        }
    )
    assert corner.query('SELECT topic, "offset", reason FROM parked ORDER BY topic, "offset"') == [
        (COMMANDS, 5, "the name of a header is no text"),
        (COMMANDS, 6, "the name of a header is no text"),
        (GIFTS, 0, "the name of a header is no text"),
    ]


async def test_a_header_without_a_value_is_no_reason_to_end(corner: Corner) -> None:
    value, headers = command("c1", "k1", b'{"add": 1}')
    await corner.send(COMMANDS, "c1", value, [*headers, ("ce_extra", None)])  # type: ignore[list-item]
    await corner.send(COMMANDS, "c1", value, [(name, None) for name, _ in headers])  # type: ignore[misc]
    await corner.add("c1", "k2")
    async with corner.working(CounterProcessor()):
        await corner.until_answered(2)
        await corner.until(lambda: corner.query("SELECT count(*) FROM parked") == [(1,)], "parked")
    await corner.assert_exactly_once({"c1": {"k1": 1, "k2": 1}})


async def test_a_parked_command_is_sealed_and_opens_in_its_place_only(corner: Corner) -> None:
    seal = Seal("k1", {"k1": bytes(32)})
    worker = PartitionWorker(CounterProcessor(), corner.settings(), commit=Commit.STATEMENT, seal=seal)
    task = asyncio.create_task(worker.run())
    body = b"x" * (PAYLOAD_BYTES_MAX + 1)
    await corner.send(COMMANDS, "c1", *command("c1", "p1", body))
    await corner.until(lambda: corner.query("SELECT count(*) FROM parked") == [(1,)], "parked")
    worker.stop()
    await task
    [record] = await corner.records(PARKED)
    assert record.headers["parked_payload"] == b"sealed"
    place = f"{COMMANDS}:{record.part}:0".encode()
    assert seal.open(record.value, place) == body[:PAYLOAD_BYTES_MAX]


async def test_a_record_on_the_wrong_partition_is_parked(corner: Corner) -> None:
    wrong = 1 - partition_of("c1", corner.partitions)
    await corner.send(COMMANDS, "c1", *command("c1", "k1", b'{"add": 1}'), part=wrong)
    async with corner.working(CounterProcessor()):
        await corner.until(lambda: corner.query("SELECT count(*) FROM parked") == [(1,)], "parked")
    assert corner.answered() == 0
    assert corner.query("SELECT reason FROM parked") == [(f"its key belongs on partition {1 - wrong}",)]


async def test_an_unreadable_event_quarantines_its_stream_and_holds_all_later_events_in_order(corner: Corner) -> None:
    await corner.send(GIFTS, "c1", *command("c1", "g1", b'{"gift": 1}', "gift"))
    await corner.send(GIFTS, "c1", *command("c1", "g2", b"unreadable", "gift"))
    await corner.send(GIFTS, "c1", *command("c1", "g3", b'{"gift": 3}', "gift"))
    async with corner.working(CounterProcessor()):
        await corner.until(lambda: _held(corner) == 2, "two held")
        await corner.send(GIFTS, "c1", *command("c1", "g4", b'{"gift": 4}', "gift"))
        await corner.until(lambda: _held(corner) == 3, "three held")
    async with corner.working(CounterProcessor()):
        # The set of quarantined streams outlives the process.
        await corner.send(GIFTS, "c1", *command("c1", "g5", b'{"gift": 5}', "gift"))
        await corner.send(GIFTS, "c2", *command("c2", "g6", b'{"gift": 6}', "gift"))
        await corner.until(lambda: _held(corner) == 4, "four held")
        await corner.add("c1", "k1", 1)
        await corner.until_answered(3)
    # Commands of the stream are still judged, other streams are not touched.
    await corner.assert_exactly_once({"c1": {"g1": 1, "k1": 1}, "c2": {"g6": 6}})
    held = corner.query("SELECT payload FROM parked WHERE quarantined ORDER BY seq")
    assert [bytes(payload) for (payload,) in held] == [b"unreadable", *(b'{"gift": %d}' % n for n in (3, 4, 5))]
    assert corner.query("SELECT stream FROM quarantine") == [("c1",)]
    told = await corner.records(PARKED)
    assert [record.headers["parked_offset"] for record in told] == [b"1", b"2", b"3", b"4"]


def _held(corner: Corner) -> int:
    return int(corner.query("SELECT count(*) FROM parked WHERE quarantined")[0][0])


async def test_what_the_database_refuses_is_parked_and_the_rest_of_its_batch_is_kept(corner: Corner) -> None:
    # A NUL is text to Kafka and to JSON, and none to Postgres.
    await corner.add("c1", "k1", 1)
    await corner.add("c1", "k\x002", 2)
    await corner.add("c1", "k3", 3)
    async with corner.working(CounterProcessor()):
        await corner.until_answered(2)
        await corner.until(lambda: corner.query("SELECT count(*) FROM parked") == [(1,)], "parked")
    await corner.assert_exactly_once({"c1": {"k1": 1, "k3": 3}})
    assert corner.query('SELECT "offset" FROM parked') == [(1,)]
