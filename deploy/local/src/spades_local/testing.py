"""For tests: real servers, and a corner of them that no other test sees.

def test_something(namespace):
    namespace.create_topics(partitions=2)
    namespace.migrate("table")
    env = namespace.service_env("table")          # all that `python -m spades_table` reads
    topic = namespace.topic("table.events")
"""

import asyncio
import contextlib
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Coroutine, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from spades_events.topics import Topic
from spades_local import containers, environment, roles, stack, topics
from spades_local.credentials import Passwords, ensure_seal_key
from spades_local.environment import Surroundings
from spades_local.ports import any_free
from spades_local.problems import NotReady
from spades_local.record import DRAIN_LIMIT_S
from spades_local.roles import Database

PARTITIONS = 2
SERVERS_LIMIT_S = 180.0
CONTAINERS = "containers"


@dataclass(frozen=True, kw_only=True, slots=True)
class Infra:
    """Where the real PostgreSQL (an administrator's address) and Kafka answer."""

    admin_url: str
    bootstrap: str


class Namespace:
    """Topics, groups, schemas and roles under one prefix, each made when first asked for."""

    def __init__(self, infra: Infra, folder: Path, prefix: str | None = None) -> None:
        self.prefix = prefix or f"t{secrets.token_hex(4)}"
        self.bootstrap = infra.bootstrap
        self.admin_url = infra.admin_url
        self.topic_prefix = f"{self.prefix}."
        self.group_prefix = f"{self.prefix}."
        self.partitions = PARTITIONS
        self._folder = folder
        self._has_topics = False

    def topic(self, name: str) -> str:
        """The full name of a topic, as `table.events`."""
        return self.topic_prefix + Topic(name)

    def group(self, name: str) -> str:
        """The full name of a consumer group."""
        return self.group_prefix + name

    def create_topics(self, partitions: int = PARTITIONS) -> None:
        """Make all topics, each with so many partitions and a leader for every one."""
        self.partitions = partitions
        _await(topics.create(self.bootstrap, self.topic_prefix, partitions))
        self._has_topics = True

    @cached_property
    def databases(self) -> Mapping[str, Database]:
        """Each service's schema, roles and addresses; made at the first look."""
        passwords = Passwords(self._folder / f"{self.prefix}-secrets.json")
        return roles.create(self.admin_url, f"{self.prefix}_", passwords)

    @cached_property
    def seal_key_file(self) -> Path:
        """A seal key of this namespace's own."""
        path = self._folder / f"{self.prefix}-seal-key.json"
        ensure_seal_key(path)
        return path

    def migrate(self, *services: str) -> None:
        """Bring the schemas of `services` up to date as their owners."""
        for service in services:
            _await(stack.migrate(service, self.databases[service]))

    def service_env(self, service: str, **settings: str) -> dict[str, str]:
        """The whole environment of `python -m spades_<service>`, on a free admin port."""
        env = environment.of_service(service, self._surroundings(), any_free())
        if service == "lobby":
            env |= {"SPADES_LOBBY_HOST": "127.0.0.1", "SPADES_LOBBY_PORT": str(any_free())}
        return env | settings

    def drop(self) -> None:
        """Remove everything that this namespace made."""
        if self._has_topics:
            _await(topics.delete(self.bootstrap, self.topic_prefix))
        if "databases" in self.__dict__:
            roles.drop(self.admin_url, f"{self.prefix}_")

    def _surroundings(self) -> Surroundings:
        return Surroundings(
            bootstrap=self.bootstrap,
            databases=self.databases,
            seal_key=self.seal_key_file,
            topic_prefix=self.topic_prefix,
            group_prefix=self.group_prefix,
            partitions=self.partitions,
        )


@contextlib.contextmanager
def serve_infra(folder: Path, environ: Mapping[str, str] = os.environ) -> Iterator[Infra]:
    """The servers that the environment names, else embedded ones that live as long as we do.

    With `SPADES_TEST_SERVERS=containers` they are Docker's. Raises NotReady.
    """
    given = environ.get("SPADES_DATABASE_URL"), environ.get("SPADES_KAFKA_BOOTSTRAP")
    if given[0] and given[1]:
        yield Infra(admin_url=given[0], bootstrap=given[1])
        return
    if environ.get("SPADES_TEST_SERVERS") == CONTAINERS:
        with containers.serve() as (admin_url, bootstrap):
            yield Infra(admin_url=admin_url, bootstrap=bootstrap)
        return
    env = {**environ, "SPADES_STATE_DIR": str(folder)}
    with (folder / "servers.log").open("wb") as log:
        # The pipe is its leash: it drains when we close it, and also when we are killed.
        process = subprocess.Popen(
            [sys.executable, "-m", "spades_local", "infra", "--until-stdin-closes"],
            env=env,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            yield _await_servers(process, folder)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(DRAIN_LIMIT_S)


def _await_servers(process: "subprocess.Popen[bytes]", folder: Path) -> Infra:
    deadline_s = time.monotonic() + SERVERS_LIMIT_S
    while not (folder / "env.sh").exists():
        if process.poll() is not None or time.monotonic() > deadline_s:
            raise NotReady(f"No servers for the tests:\n{(folder / 'servers.log').read_text()}")
        time.sleep(0.05)
    exports = dict(
        line.removeprefix("export ").replace("'", "").split("=", 1)
        for line in (folder / "env.sh").read_text().splitlines()
    )
    return Infra(admin_url=exports["SPADES_DATABASE_URL"], bootstrap=exports["SPADES_KAFKA_BOOTSTRAP"])


def _await(work: Coroutine[Any, Any, None]) -> None:
    """Run `work` to its end from anywhere, also inside a test's own event loop."""
    failures: list[BaseException] = []

    def target() -> None:
        try:
            asyncio.run(work)
        except BaseException as error:  # noqa: BLE001 - raised again below, in the caller's thread
            failures.append(error)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
