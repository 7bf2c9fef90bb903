"""The wallet wired: one partition worker that commits each poll in one transaction, and a watch on the sum."""

import asyncio
import contextlib
from typing import Final

import psycopg
import structlog

from spades_runtime import Commit, NotReady, PartitionWorker, Process, database
from spades_wallet import metrics
from spades_wallet.audit import imbalance_coins
from spades_wallet.handlers import Wallet
from spades_wallet.settings import WalletSettings

log = structlog.get_logger()

WATCH_EVERY_S: Final = 60.0


async def main(process: Process[WalletSettings]) -> None:
    """Judge commands and table events until the process is told to stop."""
    worker = PartitionWorker(Wallet(process.settings.terms), process.settings, commit=Commit.TRANSACTION)
    watching = asyncio.create_task(_watch_sum(process.settings), name="watch")
    try:
        await process.work(worker)
    finally:
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching


async def _watch_sum(settings: WalletSettings) -> None:
    """Tell the operators' metrics what all accounts make together, which is zero."""
    while True:
        # Slept first: right after a start the database has games to go on with.
        await asyncio.sleep(WATCH_EVERY_S)
        try:
            db = await database.connect(settings)
            try:
                imbalance = await imbalance_coins(db)
            finally:
                await db.close()
        except (psycopg.Error, NotReady) as error:
            log.warning("sum_not_watched", reason=type(error).__name__)
        else:
            metrics.IMBALANCE_COINS.set(imbalance)
            if imbalance:
                log.error("ledger_out_of_balance", imbalance_coins=imbalance)
