"""The table service: commands, the wallet's and the clock's events in; the game's events out."""

from spades_runtime import Commit, PartitionWorker, Process, Seal
from spades_table.handlers import Tables
from spades_table.settings import TableSettings


async def main(process: Process[TableSettings]) -> None:
    """Run the table until told to stop. Raises NotReady where the seal's key is missing."""
    settings = process.settings
    seal = Seal.load(settings.seal_key_file)
    tables = Tables(settings.house(), seal)
    await process.work(PartitionWorker(tables, settings, commit=Commit.STATEMENT, seal=seal))
