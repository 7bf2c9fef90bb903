"""The worker's tests run against the real PostgreSQL and Kafka."""

from collections.abc import AsyncIterator

import pytest

from spades_local.testing import Namespace
from tests.runtime.corner import Corner


@pytest.fixture
async def corner(namespace: Namespace) -> AsyncIterator[Corner]:
    made = Corner(namespace)
    made.prepare()
    yield made
    await made.close()
