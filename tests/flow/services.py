"""All five services as processes on a namespace's own topics and schemas."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from spades_local.testing import Namespace
from tests.demo.stack import SETTINGS
from tests.processes import ServiceProcess

IN_ORDER = ("wallet", "clock", "table", "bot", "lobby")
OWNERS = ("wallet", "clock", "table", "lobby")


class Services:
    """The running system, by name."""

    def __init__(self, namespace: Namespace, folder: Path) -> None:
        namespace.create_topics(partitions=2)
        namespace.migrate(*OWNERS)
        self.namespace = namespace
        self.environments = {name: namespace.service_env(name, **_settings()) for name in IN_ORDER}
        self.processes = {
            name: ServiceProcess(name, env, folder / f"{name}.log") for name, env in self.environments.items()
        }

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.environments['lobby']['SPADES_LOBBY_PORT']}"

    @property
    def source(self) -> str:
        """Where the record can be read, as `spades replay --source` takes it."""
        return f"kafka://{self.namespace.bootstrap}/{self.namespace.topic_prefix}"

    def start(self) -> None:
        for name in IN_ORDER:
            self.processes[name].start()

    def kill_all(self) -> None:
        """kill -9 of everything of ours at once."""
        for process in self.processes.values():
            process.kill()

    def said(self) -> str:
        return "\n".join(f"== {name}\n{process.said()}" for name, process in self.processes.items())


def _settings() -> dict[str, str]:
    return {name: value for name, value in SETTINGS.items() if name != "SPADES_LOBBY_PORT"}


@contextlib.contextmanager
def running(namespace: Namespace, folder: Path) -> Iterator[Services]:
    """Start everything; end everything with the block."""
    services = Services(namespace, folder)
    try:
        services.start()
        yield services
    finally:
        for process in services.processes.values():
            process.end()
