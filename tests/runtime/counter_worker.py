"""The counter domain as a process of its own, to be killed and frozen: `python -m tests.runtime.counter_worker`."""

import os

from spades_runtime import Commit, PartitionWorker, Process, RuntimeSettings, run
from tests.runtime.counter import CounterProcessor
from tests.runtime.ledger import LedgerProcessor


async def main(process: Process[RuntimeSettings]) -> None:
    if os.environ.get("SPADES_TEST_LEDGER"):
        worker = PartitionWorker(LedgerProcessor(), process.settings, commit=Commit.TRANSACTION)
    else:
        worker = PartitionWorker(CounterProcessor(), process.settings, commit=Commit.STATEMENT)
    await process.work(worker)


if __name__ == "__main__":
    run(main, RuntimeSettings)
