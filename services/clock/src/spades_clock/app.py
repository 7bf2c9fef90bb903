"""The clock's wiring: table.events → timers → clock.events, deadlines and offsets saved together now and then."""

from spades_clock.handlers import Deadlines
from spades_clock.settings import ClockSettings
from spades_runtime import Commit
from spades_runtime.process import Process
from spades_runtime.worker import PartitionWorker


async def main(process: Process[ClockSettings]) -> None:
    """Fire deadlines until the process is told to stop."""
    await process.work(PartitionWorker(Deadlines(), process.settings, commit=Commit.INTERVAL))
