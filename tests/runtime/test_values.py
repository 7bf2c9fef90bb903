"""Small parts with laws of their own: time, partitions, arrays, stored events, crash points."""

import subprocess
import sys

import psycopg
import pytest
from aiokafka.partitioner import DefaultPartitioner
from hypothesis import given, settings
from hypothesis import strategies as st

from spades_local.testing import Infra
from spades_runtime import Clock, StoredEvent, arrays, partition_of
from spades_runtime.answers import decode_events, encode_events

TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=12)


def test_a_jump_of_the_machines_clock_moves_nothing() -> None:
    wall_ns, monotonic_ns = [10**18], [5 * 10**9]
    clock = Clock(lambda: wall_ns[0], lambda: monotonic_ns[0])
    before_ms = clock.now_ms()
    wall_ns[0] += 3_600 * 10**9
    monotonic_ns[0] += 250_000_000
    assert clock.now_ms() == before_ms + 250


@given(st.text(min_size=1).filter(lambda key: key.isprintable()), st.integers(1, 200))
def test_a_key_is_on_the_partition_that_kafkas_own_partitioner_gives_it(key: str, count: int) -> None:
    parts = list(range(count))
    assert partition_of(key, count) == DefaultPartitioner()(key.encode(), parts, parts)


@given(st.lists(st.tuples(st.sampled_from(["null", '{"a": [1.50, "♠"]}', '"\\u0000"']), st.none() | st.binary())))
def test_stored_events_come_back_byte_for_byte(bodies: list[tuple[str, bytes | None]]) -> None:
    events = tuple(StoredEvent("spades.x.v1", body.encode(), sealed, "02") for body, sealed in bodies)
    assert decode_events(encode_events(events)) == events


@pytest.mark.real
@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.none() | TEXT),
    st.lists(st.none() | st.binary(max_size=12)),
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)),
    st.lists(st.integers(-(2**31), 2**31 - 1)),
    st.lists(st.booleans()),
)
def test_arrays_arrive_as_they_were_sent(
    texts: list[str | None],
    byteas: list[bytes | None],
    int8s: list[int | None],
    int4s: list[int],
    bools: list[bool],
) -> None:
    connection = _connection()
    row = connection.execute(
        "SELECT %s::text[], %s::bytea[], %s::bigint[], %s::int[], %s::bool[]",
        [arrays.texts(texts), arrays.byteas(byteas), arrays.int8s(int8s), arrays.int4s(int4s), arrays.bools(bools)],
    ).fetchone()
    assert row == (texts, byteas, int8s, int4s, bools)


_open: list[psycopg.Connection] = []


def _connection() -> psycopg.Connection:
    return _open[0]


@pytest.fixture(autouse=True, scope="module")
def _database(infra: Infra) -> object:
    with psycopg.connect(infra.admin_url, autocommit=True) as connection:
        arrays.register(connection.adapters)
        _open.append(connection)
        yield
        _open.clear()


def test_a_crash_point_kills_at_the_wanted_passage_and_has_no_effect_unset() -> None:
    program = "from spades_runtime.crash import crash_at\nfor n in range(3): crash_at('here'); print(n, flush=True)"
    for wanted, passed, code in (("here:3", 2, -9), ("here", 0, -9), ("there:1", 3, 0), ("", 3, 0)):
        done = subprocess.run(
            [sys.executable, "-c", program], env={"CRASH_AT": wanted}, capture_output=True, text=True, check=False
        )
        assert (len(done.stdout.split()), done.returncode) == (passed, code), done.stderr
