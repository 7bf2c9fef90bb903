"""Children: started in order, restarted when they crash, drained in reverse, never left behind."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from spades_local.problems import NotReady
from spades_local.programs import Program
from spades_local.supervisor import Supervisor

# Says that it is ready by making a file; ends on SIGTERM as a service does.
GOOD = "import pathlib, sys, time; pathlib.Path(sys.argv[1]).touch(); time.sleep(60)"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + GOOD
BROKEN = "print('no table named hands'); raise SystemExit(3)"


class Told:
    """What a person would have read."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def __call__(self, name: str, text: str) -> None:
        self.lines.append((name, text))


def child(folder: Path, name: str, source: str = GOOD, **limits: float) -> Program:
    flag = folder / f"{name}.ready"

    async def is_ready() -> bool:
        return flag.exists()

    return Program(
        name=name,
        argv=(sys.executable, "-c", source, str(flag)),
        env=dict(os.environ),
        ready=is_ready,
        **limits,  # type: ignore[arg-type]
    )


def make(folder: Path) -> tuple[Supervisor, Told]:
    told = Told()
    return Supervisor(folder, told, lambda: None), told


def pids(supervisor: Supervisor) -> dict[str, int]:
    return {c.program.name: c.running.pid for c in supervisor.children if c.running}


async def until(condition: Callable[[], bool], limit_s: float = 10.0) -> None:
    async with asyncio.timeout(limit_s):
        while not condition():
            await asyncio.sleep(0.02)


async def test_children_drain_in_the_reverse_order_of_their_start(tmp_path: Path) -> None:
    supervisor, told = make(tmp_path)
    for name in ("postgres", "kafka", "table"):
        await supervisor.start(child(tmp_path, name))
    started = pids(supervisor)
    await supervisor.drain()
    assert [name for name, text in told.lines if text == "stopping"] == [
        "table",
        "kafka",
        "postgres",
    ]
    assert [pid for pid in started.values() if psutil.pid_exists(pid)] == []


async def test_a_crashed_child_is_started_again(tmp_path: Path) -> None:
    supervisor, _ = make(tmp_path)
    await supervisor.start(child(tmp_path, "table"))
    first = pids(supervisor)["table"]
    os.kill(first, signal.SIGKILL)
    await until(lambda: pids(supervisor)["table"] != first)
    # A zombie would still hold its process id.
    assert not psutil.pid_exists(first)
    await supervisor.drain()


async def test_a_child_deaf_to_the_signal_is_ended_after_its_bound(tmp_path: Path) -> None:
    supervisor, _ = make(tmp_path)
    await supervisor.start(child(tmp_path, "table", DEAF, stop_limit_s=0.2))
    pid = pids(supervisor)["table"]
    await supervisor.drain()
    assert not psutil.pid_exists(pid)


async def test_a_child_that_never_gets_ready_is_reported_with_its_last_lines(
    tmp_path: Path,
) -> None:
    supervisor, _ = make(tmp_path)
    with pytest.raises(BaseExceptionGroup) as caught:
        await supervisor.start(child(tmp_path, "wallet", BROKEN, ready_limit_s=0.5))
    (problem,) = caught.value.exceptions
    assert isinstance(problem, NotReady)
    assert "no table named hands" in str(problem)
    assert str(tmp_path / "wallet.log") in str(problem)
    await supervisor.drain()


async def test_all_that_a_child_says_is_in_its_log(tmp_path: Path) -> None:
    supervisor, told = make(tmp_path)
    await supervisor.start(child(tmp_path, "bot", "print('hello', flush=True); " + GOOD))
    await until(lambda: ("bot", "hello") in told.lines)
    await supervisor.drain()
    assert (tmp_path / "bot.log").read_text() == "hello\n"
