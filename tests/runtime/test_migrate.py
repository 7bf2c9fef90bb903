"""Migrations bring a schema up to date once, whoever asks and how often."""

import threading
from pathlib import Path

import psycopg
import pytest

from spades_local.testing import Namespace
from spades_runtime.migrate import main, migrate, versions_of
from spades_runtime.schema import quoted

pytestmark = pytest.mark.real

FIRST = """
from alembic import op
from spades_runtime.schema import create_worker_tables
revision, down_revision = "0001", None

def upgrade():
    create_worker_tables(op)
"""
SECOND = """
from alembic import op
revision, down_revision = "0002", "0001"

def upgrade():
    op.execute("CREATE TABLE counted (n int)")
    op.execute("INSERT INTO counted VALUES (1)")
"""
BROKEN = """
from alembic import op
revision, down_revision = "0003", "0002"

def upgrade():
    op.execute("INSERT INTO counted VALUES (2)")
    op.execute("SELECT no_such_function()")
"""


@pytest.fixture
def versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, namespace: Namespace) -> Path:
    folder = tmp_path / "versions"
    folder.mkdir()
    (folder / "v1.py").write_text(FIRST)
    monkeypatch.setenv("SPADES_DATABASE_APP_ROLE", namespace.databases["table"].app_role)
    return folder


def _rows(namespace: Namespace, sql: str) -> list[tuple[object, ...]]:
    database = namespace.databases["table"]
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute(f"SET search_path = {quoted(database.schema)}")
        return owner.execute(sql.encode()).fetchall()


def test_only_missing_steps_run_and_asking_twice_changes_nothing(namespace: Namespace, versions: Path) -> None:
    database = namespace.databases["table"]
    migrate(database.owner_url, database.schema, versions)
    (versions / "v2.py").write_text(SECOND)
    migrate(database.owner_url, database.schema, versions)
    migrate(database.owner_url, database.schema, versions)
    assert _rows(namespace, "SELECT version_num FROM alembic_version") == [("0002",)]
    assert _rows(namespace, "SELECT n FROM counted") == [(1,)]


def test_two_migrations_at_once_are_one_after_the_other(namespace: Namespace, versions: Path) -> None:
    database = namespace.databases["table"]
    (versions / "v2.py").write_text(SECOND)
    failures: list[BaseException] = []

    def one() -> None:
        try:
            migrate(database.owner_url, database.schema, versions)
        except BaseException as error:  # noqa: BLE001 - told by the assertion below
            failures.append(error)

    threads = [threading.Thread(target=one) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert _rows(namespace, "SELECT n FROM counted") == [(1,)]


def test_a_step_that_fails_leaves_the_schema_as_it_was(namespace: Namespace, versions: Path) -> None:
    database = namespace.databases["table"]
    (versions / "v2.py").write_text(SECOND)
    migrate(database.owner_url, database.schema, versions)
    (versions / "v3.py").write_text(BROKEN)
    with pytest.raises(Exception, match="no_such_function"):
        migrate(database.owner_url, database.schema, versions)
    assert _rows(namespace, "SELECT version_num FROM alembic_version") == [("0002",)]
    assert _rows(namespace, "SELECT n FROM counted") == [(1,)]


def test_an_unknown_service_is_told_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(LookupError, match="spades_chess"):
        versions_of("chess")
    assert main(["chess"], {"SPADES_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/x"}) == 2
    assert "no service 'chess'" in capsys.readouterr().err


def test_a_service_without_data_has_nothing_to_migrate() -> None:
    assert main(["runtime"], {"SPADES_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/x"}) == 0
