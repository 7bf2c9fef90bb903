"""The gateway's read model as a source: the same events, without the wallet's."""

import psycopg
import pytest

from spades_events import Topic
from spades_local.testing import Namespace
from spades_replay import NoSource, Verifier, read
from tests.replay.played import World, open_table, play_on

pytestmark = pytest.mark.real


async def test_a_game_in_the_read_model_verifies(namespace: Namespace) -> None:
    namespace.migrate("lobby")
    lobby = namespace.databases["lobby"]
    world = World(seed=4)
    for table_id in ("a", "b"):
        open_table(world, table_id, ["north"])
        play_on(world, table_id)
    records = [record._replace(of_read_model=True) for record in world.records if record.topic == Topic.TABLE_EVENTS]
    async with await psycopg.AsyncConnection.connect(lobby.app_url) as db:
        rows = [(r.stream, r.version, r.type, r.time_ms, "", r.body.decode()) for r in records]
        statement = (
            f"INSERT INTO {lobby.schema}.game_event (table_id, version, type, at_ms, seats, body) "
            "VALUES (%s, %s, %s, %s, %s, %s)"
        )
        await db.cursor().executemany(statement, rows)

    source = f"{lobby.app_url}?schema={lobby.schema}"
    everything = [record async for record in read(source)]
    assert sorted(everything) == sorted(records)
    verifier = Verifier()
    assert [fault for record in everything if (fault := verifier.feed(record))] + list(verifier.finish()) == []
    one = [record async for record in read(source, "b")]
    assert one == [record for record in records if record.stream == "b"]


@pytest.mark.parametrize("schema", ["spades_lobby; DROP TABLE account", "a.b", "A", "nobody_here"])
async def test_a_schema_that_is_none_is_no_source(namespace: Namespace, schema: str) -> None:
    with pytest.raises(NoSource):
        _ = [record async for record in read(f"{namespace.admin_url}?schema={schema}")]


async def test_a_server_that_is_not_there_is_no_source() -> None:
    with pytest.raises(NoSource):
        _ = [record async for record in read("postgresql://nobody@127.0.0.1:1/nothing")]
