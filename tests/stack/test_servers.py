"""The embedded servers: what is committed outlives every crash, and nothing outlives a stop."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from spades_local.ports import is_free

pytestmark = [pytest.mark.real, pytest.mark.slow]

COMMAND = (sys.executable, "-m", "spades_local")


def surroundings(state: Path, **more: str) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith("SPADES_")}
    if "SPADES_CACHE_DIR" in os.environ:
        ours["SPADES_CACHE_DIR"] = os.environ["SPADES_CACHE_DIR"]
    return {**ours, "SPADES_STATE_DIR": str(state), **more}


def ask(env: Mapping[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*COMMAND, *words], env=env, capture_output=True, text=True, timeout=120, check=False)


def until(condition: Callable[[], object], limit_s: float = 60.0) -> None:
    deadline_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline_s, "it never came"
        time.sleep(0.05)


class Servers:
    """`spades-local infra` in a process of its own."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.env = surroundings(state)
        self.output = (state.parent / f"{state.name}.out").open("ab")
        self.process = subprocess.Popen(
            [*COMMAND, "infra", "--until-stdin-closes"],
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=self.output,
            stderr=subprocess.STDOUT,
        )
        until(lambda: self.process.poll() is not None or (state / "env.sh").exists(), 120)
        assert self.process.poll() is None, Path(self.output.name).read_text()

    @property
    def record(self) -> Any:
        return json.loads((self.state / "state.json").read_text())

    def pid(self, child: str) -> int:
        return int(self.record["children"][child]["pid"])

    @property
    def ports(self) -> dict[str, int]:
        return dict(self.record["ports"])

    def admin(self) -> "psycopg.Connection[tuple[Any, ...]]":
        line = (self.state / "env.sh").read_text().split("SPADES_DATABASE_URL='")[1]
        return psycopg.connect(line.split("'")[0], autocommit=True)

    def database_answers(self) -> bool:
        try:
            self.admin().close()
        except psycopg.OperationalError:
            return False
        return True

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)
        self.output.close()


@pytest.fixture
def state(tmp_path: Path) -> Path:
    for place in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        place.chmod(0o711)
    return tmp_path / "state"


@pytest.fixture
def servers(state: Path) -> Iterator[Servers]:
    started = Servers(state)
    yield started
    started.end()


def test_the_servers_survive_every_way_to_end_them(servers: Servers) -> None:
    # One pair of servers for the whole story: each start costs seconds.
    with servers.admin() as admin:
        admin.execute("CREATE TABLE kept (n int)")
        admin.execute("INSERT INTO kept VALUES (1)")

    second = ask(servers.env, "infra")
    assert second.returncode == 1
    assert "already runs" in second.stderr
    assert "make stop" in second.stderr

    for child in ("postgres", "kafka"):
        first = servers.pid(child)
        os.kill(first, signal.SIGKILL)
        until(lambda child=child, first=first: servers.pid(child) != first)
        assert not psutil.pid_exists(first)
    until(servers.database_answers)
    with servers.admin() as admin:
        assert admin.execute("SELECT n FROM kept").fetchall() == [(1,)]

    # The supervisor itself killed: the children go on as orphans until `stop` ends them.
    orphans = [servers.pid("postgres"), servers.pid("kafka")]
    ports = servers.ports
    servers.process.kill()
    servers.process.wait()
    assert [psutil.pid_exists(pid) for pid in orphans] == [True, True]
    assert ask(servers.env, "stop").returncode == 0
    until(lambda: not any(psutil.pid_exists(pid) for pid in orphans))
    assert [port for port in ports.values() if not is_free(port)] == []

    again = Servers(servers.state)
    assert again.ports == ports
    with again.admin() as admin:
        assert admin.execute("SELECT n FROM kept").fetchall() == [(1,)]
    pids = [again.pid("postgres"), again.pid("kafka")]
    assert ask(again.env, "status").returncode == 0
    assert ask(again.env, "stop").returncode == 0
    assert again.process.wait(60) == 0
    assert [pid for pid in pids if psutil.pid_exists(pid)] == []
    assert [port for port in ports.values() if not is_free(port)] == []

    assert ask(again.env, "reset").returncode == 0
    assert not (again.state / "pgdata").exists()
    assert not (again.state / "kafka").exists()
    assert not (again.state / "secrets.json").exists()
