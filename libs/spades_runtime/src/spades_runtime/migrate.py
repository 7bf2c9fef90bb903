"""`python -m spades_runtime.migrate SERVICE`: bring one service's schema up to date.

It reads SPADES_MIGRATION_DATABASE_URL (the schema owner's address, else SPADES_DATABASE_URL) and
SPADES_DATABASE_SCHEMA, and runs the Alembic versions in the service's `migrations/versions`. All
steps that are missing run in one transaction, under one lock: two at once is one after the other.
"""

import importlib.util
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.pool import NullPool

from spades_runtime.schema import quoted

LOCK_LIMIT_MS = 10_000
"""A migration that waits longer for a table's lock gives up: behind it every query would wait too."""

_HERE = Path(__file__).parent / "migrations"


def versions_of(service: str) -> Path | None:
    """The folder of a service's migrations; None where it keeps no data. Raises LookupError for no such service."""
    spec = importlib.util.find_spec(f"spades_{service}")
    if spec is None or not spec.submodule_search_locations:
        raise LookupError(f"there is no service {service!r}: no package spades_{service}")
    versions = Path(next(iter(spec.submodule_search_locations))) / "migrations" / "versions"
    return versions if versions.is_dir() else None


def migrate(url: str, schema: str, versions: Path) -> None:
    """Bring `schema` to the newest version; raises sqlalchemy's errors."""
    engine = create_engine(
        make_url(url).set(drivername="postgresql+psycopg"),
        poolclass=NullPool,
        connect_args={"options": f"-c search_path={schema} -c lock_timeout={LOCK_LIMIT_MS}"},
    )
    with engine.connect() as connection:
        # Held to the end of the session. Another migration may well take longer than a table's lock.
        connection.execute(text("SET lock_timeout = 0"))
        connection.execute(text("SELECT pg_advisory_lock(hashtext(:name))"), {"name": f"migrate {schema}"})
        connection.execute(text(f"SET lock_timeout = {LOCK_LIMIT_MS}"))
        if not connection.execute(text("SELECT to_regnamespace(:name)"), {"name": quoted(schema)}).scalar():
            connection.execute(text(f"CREATE SCHEMA {quoted(schema)}"))
        connection.commit()
        config = Config(attributes={"connection": connection, "schema": schema})
        config.set_main_option("script_location", str(_HERE).replace("%", "%%"))
        config.set_main_option("path_separator", "newline")
        config.set_main_option("version_locations", str(versions).replace("%", "%%"))
        command.upgrade(config, "head")
        connection.commit()
    engine.dispose()


def main(arguments: list[str], environ: Mapping[str, str] = os.environ) -> int:
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m spades_runtime.migrate SERVICE\n")
        return 2
    service = arguments[0]
    url = environ.get("SPADES_MIGRATION_DATABASE_URL") or environ.get("SPADES_DATABASE_URL")
    if not url:
        sys.stderr.write("Set SPADES_MIGRATION_DATABASE_URL to the address of the schema's owner.\n")
        return 2
    try:
        versions = versions_of(service)
    except LookupError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if versions is not None:
        migrate(url, environ.get("SPADES_DATABASE_SCHEMA") or f"spades_{service}", versions)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
