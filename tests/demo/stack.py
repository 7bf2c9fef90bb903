"""The stack to play on: the one that runs in the demo's own folder, or a fresh one that ends with us."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

STATE = Path(".spades") / "demo"
READY_LIMIT_S = 240.0
DRAIN_LIMIT_S = 70.0
LOOK_EVERY_S = 0.2
SERVERS = ("postgres", "kafka")

# Bots at 20 ms and short clocks: a game that takes an evening is over in half a minute.
SETTINGS = {
    "SPADES_BOT_PACE_MS": "20",
    "SPADES_TABLE_CLOCK_COINS_MS": "1500",
    "SPADES_TABLE_CLOCK_ONLINE_MS": "1500",
    "SPADES_TABLE_COMPUTER_SPEED_MS": "50",
    "SPADES_TABLE_NEXT_HAND_MS": "2000",
    "SPADES_TABLE_NEXT_HAND_PRACTICE_MS": "2000",
    "SPADES_LOBBY_PORT": "0",
}


class NotStarted(Exception):
    """The stack ended before it was ready; the text has its last words."""


@dataclass(frozen=True, slots=True)
class Stack:
    """What the state file says of a running stack."""

    state: Path

    def record(self) -> dict[str, Any]:
        record: dict[str, Any] = json.loads((self.state / "state.json").read_text())
        return record

    @property
    def address(self) -> str:
        return str(self.record()["address"])

    @property
    def bootstrap(self) -> str:
        return str(self.record()["bootstrap"])

    def pids(self) -> dict[str, int]:
        """Process id of every child by name."""
        return {name: child["pid"] for name, child in self.record()["children"].items()}

    def restarts(self) -> dict[str, int]:
        return {name: child["restarts"] for name, child in self.record()["children"].items()}

    async def is_ready(self, name: str) -> bool:
        """Whether a service says on its admin port that it is ready; of a server, whether its port is open."""
        port = self.record()["children"][name]["port"]
        try:
            async with asyncio.timeout(2):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                if name in SERVERS:
                    writer.close()
                    return True
                writer.write(b"GET /readyz HTTP/1.0\r\n\r\n")
                status = await reader.readline()
                writer.close()
                return b" 200 " in status
        except (OSError, TimeoutError):
            return False

    def kill(self, name: str) -> int | None:
        """kill -9 one child; returns its process id, None where it is just not there."""
        pid = self.pids().get(name)
        try:
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return None
        return pid

    def resident_bytes(self) -> dict[str, int]:
        """Memory of every child with the processes under it."""
        sizes = {}
        for name, pid in self.pids().items():
            process = psutil.Process(pid)
            family = [process, *process.children(recursive=True)]
            sizes[name] = sum(_own_bytes(member) for member in family)
        return sizes


def _own_bytes(process: psutil.Process) -> int:
    try:
        # What PostgreSQL's processes share is counted once each, so their own part is the honest figure.
        memory = process.memory_full_info()
        return int(getattr(memory, "pss", 0) or memory.rss)
    except psutil.Error:
        return 0


@asynccontextmanager
async def running(state: Path, settings: Mapping[str, str] = SETTINGS) -> AsyncIterator[Stack]:
    """Yield the stack of this folder; one that was not running is started, and stopped at the end."""
    stack = Stack(state.resolve())
    if _is_ready(stack):
        yield stack
        return
    env = {**{k: v for k, v in os.environ.items() if not k.startswith("SPADES_")}, **settings}
    env |= {name: value for name, value in os.environ.items() if name.startswith("SPADES_CACHE")}
    env["SPADES_STATE_DIR"] = str(stack.state)
    stack.state.mkdir(parents=True, exist_ok=True)
    await _run(env, "reset")
    log = stack.state / "demo.log"
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "spades_local", "up"), env=env, stdout=output, stderr=output
        )
    try:
        await _await_ready(stack, process, log)
        yield stack
    finally:
        if process.returncode is None:
            process.terminate()
        await asyncio.wait_for(process.wait(), DRAIN_LIMIT_S)


async def _run(env: dict[str, str], command: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "spades_local", command), env=env, stdout=asyncio.subprocess.DEVNULL
    )
    await process.wait()


async def _await_ready(stack: Stack, process: asyncio.subprocess.Process, log: Path) -> None:
    async with asyncio.timeout(READY_LIMIT_S):
        while not _is_ready(stack):
            if process.returncode is not None:
                raise NotStarted(f"the stack did not start:\n{log.read_text(errors='replace')[-3_000:]}")
            await asyncio.sleep(LOOK_EVERY_S)


def _is_ready(stack: Stack) -> bool:
    try:
        record = stack.record()
        return bool(record["ready"]) and psutil.pid_exists(record["supervisor"]["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
