"""A broker that stops answering: nothing is lost, nothing is claimed alive, and the silence is given back."""

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from spades_local.testing import Infra, Namespace, serve_infra
from tests.runtime.corner import Corner
from tests.runtime.counter import CounterProcessor

pytestmark = [pytest.mark.real, pytest.mark.slow]

CUT_S = 5.0


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Infra, Path]]:
    """Servers of this file's own: their broker is frozen and killed here."""
    folder = tmp_path_factory.mktemp("own")
    for place in (folder, folder.parent, folder.parent.parent):
        place.chmod(0o711)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("SPADES_")}
    with serve_infra(folder, environ) as infra:
        yield infra, folder


@pytest.fixture
async def own(servers: tuple[Infra, Path], tmp_path: Path) -> AsyncIterator[tuple[Corner, int]]:
    """A corner of these servers, and the broker's process id."""
    infra, folder = servers
    corner = Corner(Namespace(infra, tmp_path))
    corner.prepare()
    record = json.loads((folder / "state.json").read_text())
    try:
        yield corner, int(record["children"]["kafka"]["pid"])
    finally:
        await corner.close()


@pytest.mark.timeout(240)
async def test_the_heartbeat_stops_while_kafka_is_silent_and_the_silence_is_given_back(
    own: tuple[Corner, int],
) -> None:
    corner, broker = own
    processor = CounterProcessor()
    async with corner.working(processor) as worker:
        await corner.add("c1", "k1")
        await corner.until_answered(1)
        await asyncio.sleep(1.5)
        os.kill(broker, signal.SIGSTOP)
        cut_ms = time.time() * 1_000
        try:
            await asyncio.sleep(CUT_S)
            stopped = corner.query("SELECT max(alive_at_ms) FROM partition")[0][0]
            # Not a moment is claimed in which Kafka did not answer.
            assert stopped <= cut_ms + 100
            assert worker.healthy
        finally:
            os.kill(broker, signal.SIGCONT)
        await corner.add("c1", "k2")
        await corner.until_answered(2)
        await corner.until(lambda: len(processor.outages) == 2, "each partition's outage")
        for _, alive_at_ms, outage_ms in processor.outages:
            assert alive_at_ms <= cut_ms + 100
            assert CUT_S * 1_000 - 100 <= outage_ms <= CUT_S * 1_000 + 3_000
    await corner.assert_exactly_once({"c1": {"k1": 1, "k2": 1}})


@pytest.mark.timeout(240)
async def test_a_broker_killed_and_started_again_loses_and_repeats_nothing(own: tuple[Corner, int]) -> None:
    corner, broker = own
    wanted: dict[str, dict[str, int]] = {f"c{number}": {} for number in range(5)}
    async with corner.working(CounterProcessor()) as worker:
        for round_no in range(40):
            commands = [(f"c{number}", f"r{round_no}", 1) for number in range(5)]
            for stream, command_id, amount in commands:
                wanted[stream][command_id] = amount
            await corner.add_many(commands)
            if round_no == 20:
                # Its supervisor starts it again; the sender and the worker find it.
                os.kill(broker, signal.SIGKILL)
        await corner.until_answered(200, 90)
        await corner.until(lambda: worker.problem is None, "ready")
        await corner.until(
            lambda: corner.query("SELECT bool_and(seq = published_seq) FROM partition") == [(True,)], "published", 60
        )
    await corner.assert_exactly_once(wanted)
