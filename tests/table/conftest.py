"""A table service without servers, its partition taken."""

import pytest

from tests.table.fake_worker import FakeWorker


@pytest.fixture
async def worker() -> FakeWorker:
    made = FakeWorker()
    await made.take()
    return made
