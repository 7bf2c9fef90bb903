"""A namespace is a corner of the real servers that nobody else sees."""

import psycopg
import pytest
from aiokafka.admin import AIOKafkaAdminClient

from spades_local import topics
from spades_local.problems import PartitionsDiffer
from spades_local.testing import Namespace

pytestmark = pytest.mark.real


async def _topics_of(namespace: Namespace) -> set[str]:
    admin = AIOKafkaAdminClient(bootstrap_servers=namespace.bootstrap)
    await admin.start()
    try:
        return {name for name in await admin.list_topics() if name.startswith(namespace.prefix)}
    finally:
        await admin.close()


async def test_a_namespace_makes_every_topic_and_leaves_none(namespace: Namespace) -> None:
    namespace.create_topics(partitions=3)
    assert await _topics_of(namespace) == set(topics.names(namespace.topic_prefix))
    namespace.drop()
    assert await _topics_of(namespace) == set()


async def test_creating_topics_twice_changes_nothing(namespace: Namespace) -> None:
    namespace.create_topics(partitions=2)
    namespace.create_topics(partitions=2)
    assert len(await _topics_of(namespace)) == len(topics.names(""))


def test_a_partition_count_is_fixed_for_life(namespace: Namespace) -> None:
    namespace.create_topics(partitions=2)
    with pytest.raises(PartitionsDiffer, match="make reset"):
        namespace.create_topics(partitions=3)


def test_a_service_reads_and_writes_what_its_owner_made(namespace: Namespace) -> None:
    clock = namespace.databases["clock"]
    with psycopg.connect(clock.owner_url) as owner:
        owner.execute("CREATE TABLE due (id bigserial, at_ms bigint)")
    with psycopg.connect(clock.app_url) as app:
        app.execute("INSERT INTO due (at_ms) VALUES (5)")
        assert app.execute("SELECT id, at_ms FROM due").fetchall() == [(1, 5)]


def test_a_service_makes_no_table_of_its_own(namespace: Namespace) -> None:
    with psycopg.connect(namespace.databases["clock"].app_url) as app:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            app.execute("CREATE TABLE mine (id int)")


def test_a_service_sees_nothing_of_another(namespace: Namespace) -> None:
    table, lobby = namespace.databases["table"], namespace.databases["lobby"]
    with psycopg.connect(table.owner_url) as owner:
        owner.execute("CREATE TABLE hands (id int)")
    with psycopg.connect(lobby.app_url) as stranger:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            stranger.execute(f'SELECT * FROM "{table.schema}".hands')


def test_the_wallet_gets_no_right_by_default(namespace: Namespace) -> None:
    wallet = namespace.databases["wallet"]
    with psycopg.connect(wallet.owner_url) as owner:
        owner.execute("CREATE TABLE transfers (id int)")
        owner.execute("CREATE FUNCTION post() RETURNS int LANGUAGE sql AS 'SELECT 1'")
    for attempt in ("SELECT * FROM transfers", "DELETE FROM transfers", "SELECT post()"):
        with psycopg.connect(wallet.app_url) as app:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                app.execute(attempt)


def test_a_dropped_namespace_leaves_no_role_and_no_schema(namespace: Namespace) -> None:
    held = psycopg.connect(namespace.databases["table"].app_url)
    namespace.drop()
    held.close()
    with psycopg.connect(namespace.admin_url) as admin:
        found = admin.execute(
            "SELECT rolname FROM pg_roles WHERE rolname LIKE %(mine)s "
            "UNION ALL SELECT nspname FROM pg_namespace WHERE nspname LIKE %(mine)s",
            {"mine": namespace.prefix + "%"},
        ).fetchall()
    assert found == []
