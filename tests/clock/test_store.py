"""One row a table: what is saved is what is loaded, and only what changed is written."""

import psycopg
import pytest

from spades_clock import store
from spades_clock.domain import Timer
from spades_clock.handlers import Deadlines
from spades_local.testing import Namespace
from spades_runtime import Poll
from tests.clock.test_deadlines import deadline, told

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def env(module_namespace: Namespace) -> dict[str, str]:
    module_namespace.migrate("clock")
    return module_namespace.service_env("clock")


async def connected(env: dict[str, str]) -> psycopg.AsyncConnection:
    # The address of the service's own role: what it may not do, the test may not either.
    return await psycopg.AsyncConnection.connect(env["SPADES_DATABASE_URL"], autocommit=True)


async def test_rows_are_written_replaced_and_taken_away(env: dict[str, str]) -> None:
    async with await connected(env) as db:
        first = Timer(table_id="a", version=5, deadline_id=5, due_ms=1_000)
        silent = Timer(table_id="b", version=6, deadline_id=None, due_ms=None)
        other = Timer(table_id="c", version=7, deadline_id=7, due_ms=9_000)
        await store.save(db, 1, {"a": first, "b": silent})
        await store.save(db, 2, {"c": other})
        assert await store.timers_of(db, 1) == [first, silent]
        assert await store.timers_of(db, 2) == [other]
        later = Timer(table_id="a", version=8, deadline_id=8, due_ms=2_000)
        await store.save(db, 1, {"a": later, "b": None})
        assert await store.timers_of(db, 1) == [later]
        assert await store.timers_of(db, 3) == []


async def test_a_flush_that_is_not_committed_is_flushed_again(env: dict[str, str]) -> None:
    async with await connected(env) as db:
        processor = Deadlines()
        await processor.take(4, db)
        await processor.process(Poll([told("unflushed", 5, deadline(5, 1_000), made_ms=0, part=4)], 0), db)
        processor.committed()
        async with db.transaction(force_rollback=True):
            await processor.flush(db)
        processor.discard()
        assert await store.timers_of(db, 4) == []
        await processor.flush(db)
        processor.committed()
        assert await store.timers_of(db, 4) == [Timer(table_id="unflushed", version=5, deadline_id=5, due_ms=1_000)]


async def test_what_changes_between_flush_and_commit_is_saved_by_the_next_flush(env: dict[str, str]) -> None:
    async with await connected(env) as db:
        processor = Deadlines()
        await processor.take(5, db)
        await processor.process(Poll([told("changed", 5, deadline(5, 1_000), made_ms=0, part=5)], 0), db)
        await processor.flush(db)
        await processor.process(Poll([told("changed", 9, deadline(9, 5_000), made_ms=0, part=5)], 0), db)
        processor.committed()
        await processor.flush(db)
        processor.committed()
        assert await store.timers_of(db, 5) == [Timer(table_id="changed", version=9, deadline_id=9, due_ms=5_000)]


async def test_saving_waits_for_no_disk(env: dict[str, str]) -> None:
    async def waits(db: psycopg.AsyncConnection) -> str:
        (setting,) = await (await db.execute("SHOW synchronous_commit")).fetchone() or ("",)
        return str(setting)

    async with await connected(env) as db:
        async with db.transaction():
            await Deadlines().flush(db)
            assert await waits(db) == "off"
        assert await waits(db) == "on"
