"""Each service's own schema and two roles: one that migrates it, one that the service runs as."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from psycopg import sql

from spades_local.credentials import Passwords

SERVICES_WITH_SCHEMA = ("table", "clock", "wallet", "lobby")
# On the ledger even an insert is a function's privilege; the wallet's migrations grant what it may.
GRANTS_BY_MIGRATION = frozenset({"wallet"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Database:
    """What one service needs to reach its own schema and no other."""

    schema: str
    app_role: str
    owner_role: str
    app_url: str
    owner_url: str


def create(admin_url: str, prefix: str, passwords: Passwords) -> Mapping[str, Database]:
    """Make the schemas and roles that are missing; the databases by service."""
    made = {}
    with psycopg.connect(admin_url, autocommit=True) as connection:
        for service in SERVICES_WITH_SCHEMA:
            schema = f"{prefix}spades_{service}"
            app, owner = schema, f"{schema}_owner"
            by_role = passwords.of(app, owner)
            with connection.transaction():
                for role, password in by_role.items():
                    _ensure_role(connection, role, password, schema)
                _ensure_schema(connection, schema, owner)
                _grant(connection, service, schema, app, owner)
            made[service] = Database(
                schema=schema,
                app_role=app,
                owner_role=owner,
                app_url=_url_of(admin_url, app, by_role[app]),
                owner_url=_url_of(admin_url, owner, by_role[owner]),
            )
    return made


def drop(admin_url: str, prefix: str) -> None:
    """Remove the schemas and roles of `prefix`, and whoever is still connected as one of them."""
    with psycopg.connect(admin_url, autocommit=True) as connection:
        for service in SERVICES_WITH_SCHEMA:
            schema = f"{prefix}spades_{service}"
            roles = [
                role
                for role in (schema, f"{schema}_owner")
                if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
            ]
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = ANY(%s)",
                [roles],
            )
            _run(connection, "DROP SCHEMA IF EXISTS {schema} CASCADE", schema=schema)
            for role in roles:
                _run(connection, "DROP OWNED BY {role}", role=role)
                _run(connection, "DROP ROLE {role}", role=role)


def _ensure_role(connection: psycopg.Connection, role: str, password: str, schema: str) -> None:
    if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone():
        _run(connection, "CREATE ROLE {role}", role=role)
    connection.execute(sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(role), sql.Literal(password)))
    _run(connection, "ALTER ROLE {role} SET search_path = {schema}", role=role, schema=schema)


def _ensure_schema(connection: psycopg.Connection, schema: str, owner: str) -> None:
    # An administrator who is no superuser may give a schema only to a role it belongs to.
    _run(connection, "GRANT {owner} TO CURRENT_USER", owner=owner)
    _run(
        connection,
        "CREATE SCHEMA IF NOT EXISTS {schema} AUTHORIZATION {owner}",
        schema=schema,
        owner=owner,
    )


def _grant(connection: psycopg.Connection, service: str, schema: str, app: str, owner: str) -> None:
    _run(connection, "GRANT USAGE ON SCHEMA {schema} TO {app}", schema=schema, app=app)
    # By default everybody may call a new function, whoever made it.
    _run(
        connection,
        "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC",
        owner=owner,
    )
    if service in GRANTS_BY_MIGRATION:
        return
    for privilege in (
        "SELECT, INSERT, UPDATE, DELETE ON TABLES",
        "USAGE ON SEQUENCES",
        "EXECUTE ON FUNCTIONS",
    ):
        _run(
            connection,
            "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA {schema} GRANT " + privilege + " TO {app}",
            owner=owner,
            schema=schema,
            app=app,
        )


def _run(connection: psycopg.Connection, statement: str, **names: str) -> None:
    quoted = {key: sql.Identifier(name) for key, name in names.items()}
    connection.execute(sql.SQL(statement).format(**quoted))


def _url_of(admin_url: str, role: str, password: str) -> str:
    parts = urlsplit(admin_url)
    at = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{quote(role)}:{quote(password)}@{at}"))
