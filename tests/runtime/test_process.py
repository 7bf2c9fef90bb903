"""A process starts when it can, says when it serves and why not, and ends in order when it is told."""

import asyncio
import urllib.error
import urllib.request

import pytest
from pydantic import ValidationError

from spades_runtime import RuntimeSettings
from spades_runtime.probes import Probes, served
from tests.runtime.corner import Corner
from tests.runtime.processes import WorkerProcess, worker_process


def _get(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


async def test_probes_say_whether_a_process_lives_and_why_it_is_not_ready() -> None:
    probes = Probes()
    async with served(probes, "127.0.0.1", 0) as port:
        assert await asyncio.to_thread(_get, port, "/healthz") == (200, "ok\n")
        assert await asyncio.to_thread(_get, port, "/readyz") == (503, "starting\n")
        probes.problem = lambda: None
        probes.is_healthy = lambda: False
        assert await asyncio.to_thread(_get, port, "/healthz") == (503, "stuck\n")
        assert await asyncio.to_thread(_get, port, "/readyz") == (200, "ready\n")
        status, text = await asyncio.to_thread(_get, port, "/metrics")
        assert status == 200
        assert "spades_commit_seconds_bucket" in text
        assert (await asyncio.to_thread(_get, port, "/other"))[0] == 404


def test_a_setting_that_is_missing_is_told_without_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPADES_KAFKA_BOOTSTRAP", raising=False)
    with pytest.raises(ValidationError, match="kafka_bootstrap") as refusal:
        RuntimeSettings(service="any", database_url="postgresql://us:secret@there/db")  # type: ignore[call-arg]
    assert "secret" not in str(refusal.value)


@pytest.mark.real
async def test_a_process_told_to_stop_finishes_what_it_read_and_leaves_nothing_to_publish(corner: Corner) -> None:
    with worker_process(corner) as process:
        await process.until_ready()
        await corner.add_many((f"c{number % 5}", f"k{number}", 1) for number in range(200))
        await corner.until_answered(1)
        assert await asyncio.to_thread(process.stop) == 0
    assert corner.query("SELECT bool_and(seq = published_seq) FROM partition") == [(True,)]
    # What was not read is the next owner's: exactly the commands behind the stored offsets.
    read = corner.query("SELECT sum((next_offsets->>'table.commands')::int) FROM partition")
    assert read == [(corner.answered(),)]


@pytest.mark.real
async def test_a_process_without_its_kafka_waits_lives_and_ends_when_told(corner: Corner) -> None:
    process = WorkerProcess(corner, SPADES_KAFKA_BOOTSTRAP="127.0.0.1:1")
    try:
        await corner.until(lambda: process.readiness() == "starting", "it says that it is starting", 60)
        assert await asyncio.to_thread(process.stop) == 0
    finally:
        if not process.ended:
            process.kill()
