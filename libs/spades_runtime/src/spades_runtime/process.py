"""A process of ours: settings, logs, probes, signals, and one way to end.

async def main(process: Process) -> None:
    worker = PartitionWorker(…, process.settings, commit=Commit.STATEMENT)
    await process.work(worker)

if __name__ == "__main__":
    run(main, TableSettings)
"""

import asyncio
import contextlib
import gc
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import uvloop

from spades_runtime import fetching, logging, parked_list, tracing
from spades_runtime.errors import Fenced, NotReady, PublishFailed
from spades_runtime.probes import Probes, served
from spades_runtime.settings import RuntimeSettings
from spades_runtime.worker import PartitionWorker

_log = logging.get(__name__)

NOT_READY_WAIT_S = 2.0

GARBAGE_YOUNG_MAX = 20_000

EXIT_FAILED = 1
EXIT_FENCED = 3
EXIT_PUBLISH_FAILED = 4

SettingsT = TypeVar("SettingsT", bound=RuntimeSettings)


class Process(Generic[SettingsT]):
    """What `main` gets: the settings, the probes, and the wish to stop."""

    def __init__(self, settings: SettingsT) -> None:
        self.settings = settings
        self.probes = Probes()
        self.stopping = asyncio.Event()

    async def work(self, worker: PartitionWorker) -> None:
        """Run a worker until the process is told to stop; the probes answer for it."""
        self.probes.is_healthy = lambda: worker.healthy
        self.probes.problem = lambda: worker.problem
        self.probes.operated = parked_list.app(worker, self.settings)
        waiting = asyncio.create_task(self._stop(worker), name="stop")
        try:
            await worker.run()
        finally:
            waiting.cancel()

    async def _stop(self, worker: PartitionWorker) -> None:
        await self.stopping.wait()
        worker.stop()


def run(main: Callable[[Process[SettingsT]], Awaitable[None]], settings_type: type[SettingsT]) -> None:
    """Run a service to its end and exit: 0 when told to stop, else an error for the supervisor to restart.

    While `main` raises NotReady, the process waits, says why on /readyz, and tries again.
    """
    settings = settings_type()  # type: ignore[call-arg]  # its fields come from the environment
    logging.configure(settings)
    fetching.install()
    tracing.start(settings)
    try:
        code = uvloop.run(_supervised(main, settings))
    finally:
        tracing.stop()
    sys.exit(code)


async def _supervised(main: Callable[[Process[SettingsT]], Awaitable[None]], settings: SettingsT) -> int:
    process = Process(settings)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, process.stopping.set)
    # What the imports made lives for ever: no collection needs to look at it again.
    gc.freeze()
    # Decisions make and drop thousands of values a poll; looking for cycles that often finds none.
    gc.set_threshold(GARBAGE_YOUNG_MAX, 20, 20)
    async with served(process.probes, settings.admin_host, settings.admin_port) as port:
        _log.info("started", admin_port=port)
        try:
            await _until_ready(main, process)
        except Fenced:
            return EXIT_FENCED
        except PublishFailed as failed:
            _log.error("publish_failed", reason=str(failed))
            return EXIT_PUBLISH_FAILED
        except Exception:  # noqa: BLE001 - the edge: whatever it is ends the process, told in its own form
            _log.exception("failed")
            return EXIT_FAILED
    _log.info("stopped")
    return 0


async def _until_ready(main: Callable[[Process[SettingsT]], Awaitable[None]], process: Process[SettingsT]) -> None:
    told = ""
    while not process.stopping.is_set():
        try:
            await main(process)
            return
        except NotReady as problem:
            words = str(problem)
            if words != told:
                _log.error("not_ready", problem=words)
            told = words
            process.probes.problem = lambda words=words: words  # type: ignore[misc]
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.stopping.wait(), NOT_READY_WAIT_S)
