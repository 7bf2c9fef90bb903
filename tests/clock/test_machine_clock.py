"""A machine clock that is set by an hour under the running service moves no deadline."""

import asyncio
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from spades_events.clock import TimedOut
from spades_local.testing import Namespace
from tests.clock.test_service import Tables
from tests.processes import ServiceProcess

HOUR_S = 3_600
FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(FAKETIME is None, reason="needs libfaketime (Debian's package faketime)"),
]


class SetClock(ServiceProcess):
    """A clock service whose machine's time of day can be set while it runs. Its monotonic time goes on, as a machine's
    does."""

    def __init__(self, env: dict[str, str], folder: Path) -> None:
        self._offset = folder / "offset"
        self.set(0)
        fake = {
            "LD_PRELOAD": str(FAKETIME),
            "FAKETIME_TIMESTAMP_FILE": str(self._offset),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        super().__init__("clock", env | fake, folder / "clock.log")

    def set(self, ahead_s: int) -> None:
        """Set the time of day so far ahead of the true one; below zero: behind."""
        replaced = self._offset.with_suffix(".new")
        replaced.write_text(f"{ahead_s:+d}\n")
        replaced.rename(self._offset)

    def ahead_s(self) -> float:
        """How far the service's own time of day was from ours when it said its last word, just now."""
        stamp = re.findall(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", self.said())[-1]
        return (datetime.fromisoformat(stamp).replace(tzinfo=UTC) - datetime.now(UTC)).total_seconds()


@pytest.fixture
def clock(namespace: Namespace, tmp_path: Path) -> Iterator[SetClock]:
    namespace.create_topics()
    namespace.migrate("clock")
    with SetClock(namespace.service_env("clock"), tmp_path) as started:
        assert isinstance(started, SetClock)
        yield started


async def fires_on_time(tables: Tables, table: str, due_ms: int, version: int = 5) -> None:
    """The deadline's first timeout, by the tables' own time."""
    while True:
        of, event, heard_ms = await tables.heard()
        if of == table:
            break
    assert event == TimedOut(deadline_id=version, due_ms=due_ms)
    # A slow machine is late by seconds, a clock that believed the jump by an hour.
    assert 0 <= heard_ms - due_ms < 60_000


async def test_a_jump_of_an_hour_both_ways_moves_no_deadline_of_a_running_clock(
    namespace: Namespace, clock: SetClock
) -> None:
    tables = Tables(namespace)
    await tables.start()
    try:
        for name, ahead_s in (("ahead", HOUR_S), ("behind", -HOUR_S)):
            due_ms = await tables.set(f"{name}-before", 5, in_ms=1_500)
            clock.set(ahead_s)
            await fires_on_time(tables, f"{name}-before", due_ms)
            due_ms = await tables.set(f"{name}-after", 5, in_ms=700)
            await fires_on_time(tables, f"{name}-after", due_ms)
        assert await asyncio.to_thread(clock.stop) == 0
        assert clock.ahead_s() == pytest.approx(-HOUR_S, abs=30), "the service never saw the jump"
    finally:
        await tables.stop()


async def test_a_clock_killed_and_started_an_hour_in_the_past_fires_when_the_tables_say(
    namespace: Namespace, clock: SetClock
) -> None:
    tables = Tables(namespace)
    await tables.start()
    try:
        due_ms = await tables.set("t", 5, in_ms=6_000)
        await tables.set("now", 5, in_ms=0)
        await tables.heard()
        # It saves what it knows and when it was alive at least once a second.
        await asyncio.to_thread(clock.stop)
        clock.set(-HOUR_S)
        await asyncio.to_thread(clock.start)
        while True:
            table, event, heard_ms = await tables.heard()
            if table == "t":
                break
        assert event.due_ms == due_ms
        assert heard_ms >= due_ms
    finally:
        await tables.stop()
