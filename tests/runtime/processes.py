"""Workers in processes of their own: to be killed, frozen and started again."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tests.runtime.corner import Corner

ROOT = Path(__file__).parents[2]
END_LIMIT_S = 60


class WorkerProcess:
    """One counter worker."""

    def __init__(self, corner: Corner, member: str = "table-0", **env: str) -> None:
        environment = corner.env(SPADES_MEMBER_ID=member, **env)
        self._probe = f"http://127.0.0.1:{environment['SPADES_ADMIN_PORT']}/readyz"
        self._popen = subprocess.Popen(
            [sys.executable, "-m", "tests.runtime.counter_worker"],
            env=environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    @property
    def ended(self) -> bool:
        return self._popen.poll() is not None

    def readiness(self) -> str:
        """What /readyz says; empty while nobody answers."""
        try:
            with urllib.request.urlopen(self._probe, timeout=2) as answer:
                return answer.read().decode().strip()
        except urllib.error.HTTPError as refused:
            return refused.read().decode().strip()
        except OSError:
            return ""

    async def until_ready(self, limit_s: float = 60.0) -> None:
        """Wait until it serves."""
        deadline_s = time.monotonic() + limit_s
        while await asyncio.to_thread(self.readiness) != "ready":
            assert not self.ended, self.said()
            assert time.monotonic() < deadline_s, "not ready"
            await asyncio.sleep(0.05)

    def ends(self) -> int:
        """Wait for the end; the exit code, negative for a signal."""
        return self._popen.wait(END_LIMIT_S)

    def said(self) -> str:
        """All output, once it has ended."""
        assert self._popen.stdout is not None
        return self._popen.stdout.read().decode()

    def kill(self) -> None:
        self._popen.kill()
        self._popen.wait()

    def freeze(self) -> None:
        os.kill(self._popen.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self._popen.pid, signal.SIGCONT)

    def stop(self) -> int:
        """Ask it to end, as a platform does."""
        self._popen.terminate()
        return self.ends()


@contextlib.contextmanager
def worker_process(corner: Corner, member: str = "table-0", **env: str) -> Iterator[WorkerProcess]:
    """A worker that does not outlive the block."""
    process = WorkerProcess(corner, member, **env)
    try:
        yield process
    finally:
        if not process.ended:
            process.thaw()
            process.kill()
