"""For tests: PostgreSQL and Kafka as containers, where a Docker engine answers. The third way to the same suite."""

import contextlib
from collections.abc import Iterator
from typing import Final

from spades_local.jars import KAFKA_VERSION
from spades_local.kafka import SETTINGS
from spades_local.ports import HOST, any_free
from spades_local.problems import NotReady

POSTGRES_IMAGE: Final = "postgres:18"
KAFKA_IMAGE: Final = f"apache/kafka:{KAFKA_VERSION}"
_KAFKA_PORT: Final = 9092
_STARTED: Final = r".*Kafka Server started.*"


def why_not() -> str | None:
    """Why no container can be started here; None where a Docker engine answers."""
    # A test's own dependency: the stack does without.
    import docker  # type: ignore[import-untyped]
    from docker.errors import DockerException  # type: ignore[import-untyped]

    try:
        client = docker.from_env(timeout=5)
    except DockerException as error:
        return f"no Docker engine answers: {type(error).__name__}"
    try:
        client.ping()
    except (DockerException, OSError) as error:
        return f"no Docker engine answers: {type(error).__name__}"
    finally:
        client.close()
    return None


@contextlib.contextmanager
def serve() -> Iterator[tuple[str, str]]:
    """An administrator's address of PostgreSQL and Kafka's bootstrap, as long as the block runs. Raises NotReady."""
    if reason := why_not():
        raise NotReady(f"No containers for the tests: {reason}.")
    from testcontainers.community.postgres import PostgresContainer
    from testcontainers.core.container import DockerContainer
    from testcontainers.core.wait_strategies import LogMessageWaitStrategy

    port = any_free()
    kafka = DockerContainer(KAFKA_IMAGE).with_bind_ports(_KAFKA_PORT, port)
    for name, value in (SETTINGS | _listeners(port)).items():
        kafka = kafka.with_env(f"KAFKA_{name.upper().replace('.', '_')}", value)
    kafka = kafka.waiting_for(LogMessageWaitStrategy(_STARTED))
    with PostgresContainer(POSTGRES_IMAGE, driver=None) as postgres, kafka:
        yield postgres.get_connection_url(), f"{HOST}:{port}"


def _listeners(port: int) -> dict[str, str]:
    return {
        "listeners": f"PLAINTEXT://:{_KAFKA_PORT},CONTROLLER://:9093",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.quorum.voters": "1@localhost:9093",
    }
