"""The environment each service is started with: the whole of what it knows of the machine."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from spades_events import PARTITIONS_LOCAL
from spades_local.problems import WrongSetting
from spades_local.roles import Database

TOPIC_PREFIX = "spades."
GROUP_PREFIX = "spades."
SERVICES = ("wallet", "clock", "table", "bot", "lobby")
# Knobs of the services that a person may set; everything else of ours is decided here.
PASSED_THROUGH = (
    *(f"SPADES_{service.upper()}_" for service in SERVICES),
    *("SPADES_OPERATORS_FILE", "SPADES_OTLP_ENDPOINT", "SPADES_TRACE_SHARE"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """What all services of one stack share."""

    bootstrap: str
    databases: Mapping[str, Database]
    seal_key: Path
    # Who may act on the admin ports, where a person names nobody else.
    operators: Path | None = None
    topic_prefix: str = TOPIC_PREFIX
    group_prefix: str = GROUP_PREFIX
    partitions: int = PARTITIONS_LOCAL
    log_level: str = "INFO"


def of_service(
    service: str, around: Surroundings, admin_port: int, environ: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Everything `service` reads from its environment, except the lobby's own address."""
    env = {
        **_outside(environ),
        **_knobs(environ),
        "PYTHONUNBUFFERED": "1",
        "SPADES_SERVICE": service,
        "SPADES_KAFKA_BOOTSTRAP": around.bootstrap,
        "SPADES_TOPIC_PREFIX": around.topic_prefix,
        "SPADES_GROUP_PREFIX": around.group_prefix,
        "SPADES_PARTITIONS": str(around.partitions),
        "SPADES_MEMBER_ID": f"{service}-0",
        "SPADES_ADMIN_PORT": str(admin_port),
        "SPADES_LOG_LEVEL": around.log_level,
    }
    if service in around.databases:
        env["SPADES_DATABASE_URL"] = around.databases[service].app_url
        env["SPADES_DATABASE_SCHEMA"] = around.databases[service].schema
    if around.operators is not None:
        env.setdefault("SPADES_OPERATORS_FILE", str(around.operators))
    if service == "table":
        env["SPADES_SEAL_KEY_FILE"] = str(around.seal_key)
    return env


def ours(env: Mapping[str, str]) -> dict[str, str]:
    """Only what is ours of an environment."""
    return {name: value for name, value in env.items() if name.startswith("SPADES_")}


def number(name: str, allowed: range, default: int, environ: Mapping[str, str]) -> int:
    """The whole number that a variable says; raises WrongSetting where it says none of those allowed."""
    text = environ.get(name) or str(default)
    if not text.isdecimal() or int(text) not in allowed:
        raise WrongSetting(
            f"{name} is {text!r}.\nSet it to a whole number from {allowed[0]} to {allowed[-1]}, or unset it."
        )
    return int(text)


def of_migration(service: str, database: Database, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What migrating one service's schema needs: its owner's address, and the app role's name."""
    return {
        **_outside(environ),
        "PYTHONUNBUFFERED": "1",
        "SPADES_SERVICE": service,
        "SPADES_MIGRATION_DATABASE_URL": database.owner_url,
        "SPADES_DATABASE_SCHEMA": database.schema,
        "SPADES_DATABASE_APP_ROLE": database.app_role,
    }


def _outside(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if not name.startswith("SPADES_")}


def _knobs(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name.startswith(PASSED_THROUGH)}
