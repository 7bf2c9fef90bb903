"""Services of ours as real processes: started, awaited, killed, reaped."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

READY_LIMIT_S = 60.0
STOP_LIMIT_S = 20.0
LOOK_EVERY_S = 0.05


class ServiceProcess:
    """`python -m spades_NAME` under an environment; ends with the block it is used in."""

    def __init__(self, name: str, env: Mapping[str, str], log: Path) -> None:
        self.name = name
        self.log = log
        self._env = dict(env)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> "ServiceProcess":
        """Start it, or start it again after it ended; returns when /readyz says so."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", f"spades_{self.name}"], env=self._env, stdout=log, stderr=log
            )
        deadline_s = time.monotonic() + READY_LIMIT_S
        while not self.is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline_s:
                raise AssertionError(f"{self.name} is not ready:\n{self.said()}")
            time.sleep(LOOK_EVERY_S)
        return self

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def is_ready(self) -> bool:
        """Whether /readyz answers 200."""
        port = self._env["SPADES_ADMIN_PORT"]
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def metrics(self) -> str:
        """What /metrics says."""
        port = self._env["SPADES_ADMIN_PORT"]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=2) as answer:
            return str(answer.read().decode())

    def kill(self) -> None:
        """kill -9, and reap."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(STOP_LIMIT_S)

    def freeze(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def stop(self) -> int:
        """Ask it to end, and return its exit code."""
        assert self._process is not None
        self._process.terminate()
        return self._process.wait(STOP_LIMIT_S)

    def end(self) -> None:
        """See to it that it does not run any more."""
        if self._process is not None and self._process.poll() is None:
            self.kill()

    def said(self) -> str:
        """The end of its log."""
        return self.log.read_text(errors="replace")[-4_000:]

    def __enter__(self) -> "ServiceProcess":
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
