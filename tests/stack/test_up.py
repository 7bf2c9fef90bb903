"""The whole start and stop, with stand-ins for the services that tell what they were given."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from spades_local import roles
from spades_local.ports import is_free
from spades_local.testing import Infra, Namespace
from spades_runtime.operators import name_of

pytestmark = pytest.mark.real

SERVICES = ("wallet", "clock", "table", "bot", "lobby")

# Answers /readyz a moment after its start, writes its environment down, ends on SIGTERM.
SERVICE = """
import http.server, json, os, pathlib, signal, sys, threading, time
name = os.environ["SPADES_SERVICE"]
here = pathlib.Path(os.environ["STAND_IN_FOLDER"])
with (here / "story").open("a") as story:
    story.write(f"{name} starts\\n")
(here / f"{name}.json").write_text(json.dumps(dict(os.environ)))
born = time.monotonic()

class Probe(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        ready = self.path == "/readyz" and time.monotonic() - born > 0.3 and not (here / f"{name} drains").exists()
        if ready:
            with (here / "story").open("a") as story:
                story.write(f"{name} ready\\n")
        self.send_response(200 if ready else 503)
        self.end_headers()
        self.wfile.write(b"it drains\\n")
    def log_message(self, *_):
        pass

def end(*_):
    with (here / "story").open("a") as story:
        story.write(f"{name} ends\\n")
    os._exit(0)

signal.signal(signal.SIGTERM, end)
print(f"{name} listens", flush=True)
http.server.HTTPServer(("127.0.0.1", int(os.environ["SPADES_ADMIN_PORT"])), Probe).serve_forever()
"""

MIGRATION = """
import os, pathlib, sys
import psycopg
with psycopg.connect(os.environ["SPADES_MIGRATION_DATABASE_URL"]) as owner:
    owner.execute("CREATE TABLE IF NOT EXISTS migrated (id int)")
with (pathlib.Path(os.environ["STAND_IN_FOLDER"]) / "story").open("a") as story:
    story.write(f"{sys.argv[1]} migrated\\n")
"""


class Stack:
    """`spades-local up` with stand-in services, on the test's own corner of the servers."""

    def __init__(self, folder: Path, infra: Infra, prefix: str) -> None:
        self.folder = folder
        self.state = folder / "state"
        self.env = {
            **{name: value for name, value in os.environ.items() if name[:7] != "SPADES_"},
            "PYTHONPATH": str(folder / "stand-ins"),
            "STAND_IN_FOLDER": str(folder),
            "SPADES_STATE_DIR": str(self.state),
            "SPADES_DATABASE_URL": infra.admin_url,
            "SPADES_KAFKA_BOOTSTRAP": infra.bootstrap,
            "SPADES_TOPIC_PREFIX": f"{prefix}.",
            "SPADES_SCHEMA_PREFIX": f"{prefix}_",
            "SPADES_PARTITIONS": "2",
            "SPADES_LOBBY_PORT": "0",
            "SPADES_BOT_DELAY_MS": "20",
        }
        self.said = folder / "said"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.said.open("ab") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "spades_local", "up"],
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )
        until(lambda: self.record.get("ready"))

    @property
    def record(self) -> Any:
        try:
            return json.loads((self.state / "state.json").read_text())
        except OSError:
            return {}

    @property
    def pids(self) -> dict[str, int]:
        return {name: child["pid"] for name, child in self.record["children"].items()}

    @property
    def story(self) -> list[str]:
        # A probe may come more than once.
        return list(dict.fromkeys((self.folder / "story").read_text().splitlines()))

    def given_to(self, service: str) -> dict[str, str]:
        env: dict[str, str] = json.loads((self.folder / f"{service}.json").read_text())
        return {name: value for name, value in env.items() if name.startswith("SPADES_")}

    def ask(self, word: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "spades_local", word],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )


def until(condition: Callable[[], object], limit_s: float = 60.0) -> None:
    deadline_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline_s, "it never came"
        time.sleep(0.05)


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def lives(pid: int) -> bool:
    """Whether it still runs; an orphan that its new parent has not reaped yet does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def stack(infra: Infra, namespace: Namespace, tmp_path: Path) -> Iterator[Stack]:
    for service in SERVICES:
        package = tmp_path / "stand-ins" / f"spades_{service}"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "__main__.py").write_text(SERVICE)
    runtime = tmp_path / "stand-ins" / "spades_runtime"
    runtime.mkdir()
    (runtime / "__init__.py").touch()
    (runtime / "migrate.py").write_text(MIGRATION)
    made = Stack(tmp_path, infra, namespace.prefix)
    yield made
    made.ask("stop")
    if made.process is not None:
        made.process.wait(60)
    made.ask("reset")


def test_the_whole_stack_starts_in_order_survives_crashes_and_drains(stack: Stack) -> None:
    stack.start()
    story = stack.story
    first, second = ("wallet", "clock", "bot", "lobby"), ("table",)
    migrated = [story.index(f"{name} migrated") for name in roles.SERVICES_WITH_SCHEMA]
    first_starts = [story.index(f"{name} starts") for name in first]
    first_ready = [story.index(f"{name} ready") for name in first]
    second_starts = [story.index(f"{name} starts") for name in second]
    assert max(migrated) < min(first_starts)
    assert max(first_ready) < min(second_starts)
    until(lambda: "ready: http" in stack.said.read_text())
    said = stack.said.read_text()
    assert re.search(r"wallet \| wallet listens", said)
    # The address is the last thing said.
    assert said.splitlines()[-1].endswith(f"ready: {stack.record['address']}")

    # Any service killed is back; the others do not notice.
    before = stack.pids
    for name in SERVICES:
        os.kill(before[name], signal.SIGKILL)
    until(lambda: all(stack.pids[name] != before[name] for name in SERVICES))
    until(lambda: all(answers(stack.record["ports"][name]) for name in SERVICES))
    assert [pid for pid in before.values() if psutil.pid_exists(pid)] == []

    second_start = stack.ask("up")
    assert second_start.returncode == 1
    assert stack.record["address"] in second_start.stderr
    assert stack.ask("status").returncode == 0

    # Ctrl-C drains in the reverse order behind the lobby, and nothing is left.
    running, ports = stack.pids, stack.record["ports"]
    assert stack.process is not None
    stack.process.send_signal(signal.SIGINT)
    assert stack.process.wait(60) == 0
    ends = [line.split()[0] for line in stack.story if line.endswith(" ends")]
    assert ends == ["lobby", "table", "bot", "clock", "wallet"]
    assert [pid for pid in running.values() if psutil.pid_exists(pid)] == []
    assert [port for port in ports.values() if not is_free(port)] == []
    assert stack.ask("status").returncode == 3


def test_stop_ends_what_a_killed_supervisor_left(stack: Stack) -> None:
    stack.start()
    running = stack.pids
    assert stack.process is not None
    stack.process.kill()
    stack.process.wait()
    assert all(lives(pid) for pid in running.values())
    told = stack.ask("status")
    assert told.returncode == 3
    assert "nothing runs here" not in told.stdout
    assert all(f"runs, process {pid}" in told.stdout for pid in running.values())
    assert "make stop" in told.stdout
    assert stack.ask("stop").returncode == 0
    assert [pid for pid in running.values() if lives(pid)] == []


def test_each_service_is_given_what_it_needs_and_no_more(stack: Stack) -> None:
    stack.start()
    table, bot, lobby = (stack.given_to(name) for name in ("table", "bot", "lobby"))
    prefix = stack.env["SPADES_TOPIC_PREFIX"]
    assert table["SPADES_TOPIC_PREFIX"] == prefix
    assert table["SPADES_MEMBER_ID"] == "table-0"
    assert table["SPADES_PARTITIONS"] == "2"
    assert table["SPADES_DATABASE_SCHEMA"] == stack.env["SPADES_SCHEMA_PREFIX"] + "spades_table"
    assert table["SPADES_DATABASE_SCHEMA"] in table["SPADES_DATABASE_URL"]
    assert json.loads(Path(table["SPADES_SEAL_KEY_FILE"]).read_text())["current"] == "k1"
    assert set(lobby) >= {"SPADES_LOBBY_PORT", "SPADES_LOBBY_HOST", "SPADES_DATABASE_URL"}
    assert bot["SPADES_BOT_DELAY_MS"] == "20"
    assert "SPADES_DATABASE_URL" not in bot
    for given in (table, bot, lobby):
        # The administrator's address stays with the supervisor.
        assert stack.env["SPADES_DATABASE_URL"] not in given.values()
    assert "SPADES_SEAL_KEY_FILE" not in lobby
    assert "SPADES_SEAL_KEY_FILE" not in bot


def test_a_service_that_does_not_serve_makes_the_stack_unready(stack: Stack) -> None:
    stack.start()
    drains = stack.folder / "lobby drains"
    drains.touch()
    told = stack.ask("status")
    assert told.returncode == 3
    assert [line for line in told.stdout.splitlines() if "not ready: it drains" in line and "lobby |" in line]
    assert "stack | not ready" in told.stdout
    drains.unlink()
    assert stack.ask("status").returncode == 0


def test_the_commands_of_a_service_find_what_it_was_given_as_long_as_it_runs(stack: Stack) -> None:
    stack.start()
    file = stack.state / "given.json"
    assert oct(file.stat().st_mode & 0o777) == "0o600"
    given = json.loads(file.read_text())
    assert given == {service: stack.given_to(service) for service in SERVICES}
    assert stack.ask("stop").returncode == 0
    assert not file.exists()


def test_one_operator_is_made_whose_token_lies_in_the_state_folder(stack: Stack) -> None:
    stack.start()
    operators, token = stack.state / "operators", stack.state / "operator-token"
    assert [oct(file.stat().st_mode & 0o777) for file in (operators, token)] == ["0o600", "0o600"]
    assert {stack.given_to(service)["SPADES_OPERATORS_FILE"] for service in SERVICES} == {str(operators)}
    assert name_of(operators, token.read_text().strip()) == "local"
    # Somebody who names their own operators is asked for their own token.
    own = stack.folder / "own"
    own.touch()
    stack.ask("stop")
    stack.env["SPADES_OPERATORS_FILE"] = str(own)
    stack.start()
    assert stack.given_to("lobby")["SPADES_OPERATORS_FILE"] == str(own)
    assert not token.exists()


def test_a_failing_migration_is_told_and_leaves_nothing_running(stack: Stack) -> None:
    migrate = stack.folder / "stand-ins" / "spades_runtime" / "migrate.py"
    migrate.write_text("raise SystemExit('column seat exists twice')")
    done = stack.ask("up")
    assert done.returncode == 1
    assert "could not be migrated" in done.stderr
    assert "column seat exists twice" in done.stderr
    assert "Traceback" not in done.stderr
    assert stack.record["children"] == {}
