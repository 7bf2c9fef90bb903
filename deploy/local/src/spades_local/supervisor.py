"""Runs programs: each starts when those before are ready, is restarted, and drains in reverse."""

import asyncio
import contextlib
import logging
import logging.handlers
import os
import signal
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from spades_local import record
from spades_local.problems import NotReady
from spades_local.programs import Program

# A crash is answered at once, a crash loop once a second.
BACKOFF_FIRST_S = 0.05
BACKOFF_MAX_S = 1.0
# After this long a life counts as a good one, and the next crash is answered at once again.
GOOD_LIFE_S = 10.0
# A program that was never ready and ended so often will not be cured by another try.
STILLBIRTHS_MAX = 8
READY_POLL_S = 0.05
# What services have to tell of their start comes within this after the last of them is ready.
QUIET_S = 0.7
QUIET_LIMIT_S = 3.0
LOG_BYTES_MAX = 10_000_000
LINE_BYTES_MAX = 1_000_000
LAST_LINES = 15

Tell = Callable[[str, str], None]


class Child:
    """One program kept running until it is stopped."""

    def __init__(self, program: Program, logs: Path, tell: Tell, note: Callable[[], None]) -> None:
        self.program = program
        self.running: record.Running | None = None
        self.told_s = time.monotonic()
        self._tell = tell
        self._note = note
        self._stopping = False
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        self._log_path = logs / f"{program.name}.log"
        self._log = _log_file(self._log_path)

    async def start(self) -> None:
        """Start it and keep it running; returns when it is ready, raises NotReady."""
        self._task = asyncio.create_task(self._keep_running())
        deadline_s = time.monotonic() + self.program.ready_limit_s
        while not await self._is_ready():
            if self._task.done():
                # A program that cannot even be started ends the task with the reason.
                self._task.result()
            hopeless = self.running is not None and self.running.restarts >= STILLBIRTHS_MAX
            if hopeless or time.monotonic() > deadline_s:
                raise NotReady(self._why_not_ready())
            await asyncio.sleep(READY_POLL_S)

    async def stop(self) -> None:
        """Ask it to end, wait, and end it if it does not; nothing of it is left behind."""
        self._stopping = True
        if self._task is None:
            return
        process = self._process
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(self.program.stop_signal)
            await asyncio.wait([self._task], timeout=self.program.stop_limit_s)
            if process.returncode is None:
                self._tell(self.program.name, f"still runs after {self.program.stop_limit_s:g} s")
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        else:
            self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        for handler in self._log.handlers:
            handler.close()

    async def _is_ready(self) -> bool:
        process = self._process
        if process is None or process.returncode is not None:
            return False
        # The answer counts only if our own child lived through it: a port can be a stranger's.
        return await self.program.ready() and process.returncode is None

    async def _keep_running(self) -> None:
        backoff_s, restarts = BACKOFF_FIRST_S, 0
        while True:
            born_s = time.monotonic()
            code = await self._live(restarts)
            if self._stopping:
                return
            if time.monotonic() - born_s > GOOD_LIFE_S:
                backoff_s = BACKOFF_FIRST_S
            self._tell(self.program.name, f"ended ({_ending(code)}); starting it again")
            await asyncio.sleep(backoff_s)
            backoff_s, restarts = min(BACKOFF_MAX_S, backoff_s * 2), restarts + 1

    async def _live(self, restarts: int) -> int:
        program = self.program
        self._process = process = await asyncio.create_subprocess_exec(
            *program.argv,
            env=dict(program.env),
            user=program.uid,
            group=program.gid,
            extra_groups=[] if program.uid is not None else None,
            # Its own session: Ctrl-C reaches the supervisor alone, which drains in order.
            start_new_session=True,
            cwd="/" if program.uid is not None else None,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            limit=LINE_BYTES_MAX,
        )
        self.running = record.describe(process.pid, program.argv, program.port, restarts)
        self._note()
        if self._stopping:
            process.send_signal(program.stop_signal)
        lines = asyncio.create_task(self._read_lines(process))
        try:
            return await process.wait()
        finally:
            # A grandchild may hold the pipe open; its last words are not worth waiting for.
            await asyncio.wait([lines], timeout=0.5)
            lines.cancel()

    async def _read_lines(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:
                # Longer than the limit: the reader has dropped it and goes on.
                continue
            if not line:
                return
            text = line.decode(errors="replace").rstrip()
            self._last.append(text)
            self._log.info(text)
            told = self.program.told(text)
            if told is not None:
                self.told_s = time.monotonic()
                self._tell(self.program.name, told)

    def _why_not_ready(self) -> str:
        program = self.program
        said = "\n".join(self._last) or "(it said nothing)"
        return (
            f"{program.name} does not get ready. Its last lines:\n"
            f"{said}\n"
            f"All of them are in {self._log_path}. "
            "If the stored data is damaged, `make reset` starts from nothing."
        )


class Supervisor:
    """The children of one run, in the order of their start."""

    def __init__(self, logs: Path, tell: Tell, note: Callable[[], None]) -> None:
        self.children: list[Child] = []
        self._logs = logs
        self._tell = tell
        self._note = note

    async def start(self, *programs: Program) -> None:
        """Start `programs` beside each other; returns when all are ready, raises NotReady."""
        began = [Child(program, self._logs, self._tell, self._note) for program in programs]
        self.children += began
        async with asyncio.TaskGroup() as starts:
            for child in began:
                starts.create_task(child.start())

    async def quiet(self) -> None:
        """Return when no child has had anything to tell for a moment, or after a bound."""
        deadline_s = time.monotonic() + QUIET_LIMIT_S
        while (now_s := time.monotonic()) < deadline_s:
            if all(now_s - child.told_s >= QUIET_S for child in self.children):
                return
            await asyncio.sleep(READY_POLL_S)

    async def drain(self) -> None:
        """Stop everything: what people speak to first, then the last started first."""
        for child in sorted(reversed(self.children), key=lambda child: not child.program.faces_people):
            self._tell(child.program.name, "stopping")
            await child.stop()
            child.running = None
            self._note()


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _log_file(path: Path) -> logging.Logger:
    log = logging.Logger(path.name)
    handler = logging.handlers.RotatingFileHandler(path, maxBytes=LOG_BYTES_MAX, backupCount=1)
    log.addHandler(handler)
    return log
