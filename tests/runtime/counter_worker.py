"""The counter domain as a process of its own, to be killed and frozen: `python -m tests.runtime.counter_worker`."""

from spades_runtime import Commit, PartitionWorker, Process, RuntimeSettings, run

from tests.runtime.counter import CounterProcessor


async def main(process: Process[RuntimeSettings]) -> None:
    await process.work(PartitionWorker(CounterProcessor(), process.settings, commit=Commit.STATEMENT))


if __name__ == "__main__":
    run(main, RuntimeSettings)
