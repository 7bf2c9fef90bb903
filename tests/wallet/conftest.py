"""A migrated ledger for each file of tests, and a desk at it."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from spades_local.testing import Namespace
from tests.wallet.desk import Desk, desk_at


@pytest.fixture(scope="module")
def ledger(module_namespace: Namespace) -> Namespace:
    """A namespace with the wallet's schema. Tests of one file share it and use names of their own."""
    module_namespace.migrate("wallet")
    return module_namespace


@pytest_asyncio.fixture
async def desk(ledger: Namespace) -> AsyncIterator[Desk]:
    """The wallet at partition 0."""
    async with desk_at(ledger) as wallet:
        yield wallet
