"""The third way to real servers: containers, where a Docker engine answers."""

from pathlib import Path

import pytest

from spades_local import containers
from spades_local.problems import NotReady
from spades_local.testing import CONTAINERS, Namespace, serve_infra
from tests.runtime.corner import Corner
from tests.runtime.counter import CounterProcessor

ENVIRON = {"SPADES_TEST_SERVERS": CONTAINERS}


async def test_a_worker_works_on_containers_as_on_the_embedded_servers(tmp_path: Path) -> None:
    if reason := containers.why_not():
        pytest.skip(reason)
    with serve_infra(tmp_path, ENVIRON) as infra:
        corner = Corner(Namespace(infra, tmp_path))
        corner.prepare()
        try:
            async with corner.working(CounterProcessor()):
                await corner.add("c1", "k1", 2)
                await corner.until_answered(1)
            await corner.assert_exactly_once({"c1": {"k1": 2}})
        finally:
            await corner.close()
            corner.namespace.drop()


def test_without_a_docker_engine_the_reason_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    assert containers.why_not() is not None
    with pytest.raises(NotReady, match="no Docker engine answers"), serve_infra(tmp_path, ENVIRON):
        pass
