"""The state file: who runs, under which process id, since when; and the runner's lock."""

import fcntl
import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from spades_local.places import Places, write_private
from spades_local.problems import AlreadyRunning

# The system rounds a start time to a hundredth; a clock set in between moves it by more.
START_TOLERANCE_S = 2.0
LEFTOVER_LIMIT_S = 10.0
# Seven children with 15 s each would be more; none has ever needed its whole bound.
DRAIN_LIMIT_S = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Running:
    """A process as it was when it started, so that a stranger with its id is not taken for it."""

    pid: int
    started_s: float
    argv: list[str]
    port: int | None = None
    restarts: int = 0


@dataclass(kw_only=True, slots=True)
class Record:
    """What the state file says. Ports outlive a run, so that addresses stay the same."""

    supervisor: Running | None = None
    ready: bool = False
    address: str | None = None
    bootstrap: str | None = None
    ports: dict[str, int] = field(default_factory=dict)
    children: dict[str, Running] = field(default_factory=dict)


def load(path: Path) -> Record:
    """The last record, or an empty one where there is none or it is unreadable."""
    try:
        raw: dict[str, Any] = json.loads(path.read_text())
        supervisor = raw.pop("supervisor")
        children = raw.pop("children")
        return Record(
            supervisor=Running(**supervisor) if supervisor else None,
            children={name: Running(**child) for name, child in children.items()},
            **raw,
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        # A crash of the machine may leave anything here; it only ever helps to clean up.
        return Record()


def save(path: Path, record: Record) -> None:
    """Write the record whole or not at all."""
    write_private(path, json.dumps(asdict(record), indent=1))


def describe(pid: int, argv: tuple[str, ...], port: int | None, restarts: int) -> Running:
    """The entry of a child just started."""
    try:
        started_s = psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:
        started_s = time.time()
    return Running(pid=pid, started_s=started_s, argv=list(argv), port=port, restarts=restarts)


def still_runs(running: Running) -> psutil.Process | None:
    """The very process that was recorded, unless it ended."""
    try:
        process = psutil.Process(running.pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        same_start = abs(process.create_time() - running.started_s) < START_TOLERANCE_S
        same_argv = process.cmdline() == running.argv
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None
    return process if same_start and same_argv else None


@contextmanager
def only_one(places: Places) -> Iterator[None]:
    """Hold the lock of this state folder; raises AlreadyRunning with where the other one is."""
    with places.lock.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            other = load(places.record)
            where = f" at {other.address}" if other.address else ""
            who = f" (process {other.supervisor.pid})" if other.supervisor else ""
            raise AlreadyRunning(
                f"A stack already runs here{where}{who}, with its state in {places.state}.\n"
                "Use it, stop it with `make stop`, or set SPADES_STATE_DIR to another folder."
            ) from error
        yield


def is_held(places: Places) -> bool:
    """Whether a supervisor holds the lock of this state folder."""
    try:
        with places.lock.open("r") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (FileNotFoundError, NotADirectoryError):
        return False
    return False


def left_running(record: Record) -> list[str]:
    """The recorded children that still run."""
    return [name for name, running in record.children.items() if still_runs(running) is not None]


def end_leftovers(record: Record) -> list[str]:
    """End the recorded children that still run, newest first; the names of those ended."""
    ended = []
    for name, running in reversed(record.children.items()):
        process = still_runs(running)
        if process is None:
            continue
        gone_with_it = process.children(recursive=True)
        # A postmaster rolls back and ends at once on SIGINT; SIGTERM would wait for its clients.
        process.send_signal(signal.SIGINT if name == "postgres" else signal.SIGTERM)
        _await_all([process, *gone_with_it], LEFTOVER_LIMIT_S)
        ended.append(name)
    return ended


def myself() -> Running:
    """The entry of this process as the supervisor."""
    process = psutil.Process(os.getpid())
    return Running(pid=process.pid, started_s=process.create_time(), argv=process.cmdline())


def await_end(process: psutil.Process) -> None:
    """Wait for a draining supervisor; end it if it never comes to an end."""
    _await_all([process], DRAIN_LIMIT_S)


def _await_all(processes: list[psutil.Process], limit_s: float) -> None:
    """Wait until all have ended; those that have not within the limit are killed."""
    deadline_s = time.monotonic() + limit_s
    while alive := [process for process in processes if _lives(process)]:
        if time.monotonic() > deadline_s:
            for process in alive:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            return
        time.sleep(0.05)


def _lives(process: psutil.Process) -> bool:
    # One that its parent has not reaped yet holds nothing but its number.
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
