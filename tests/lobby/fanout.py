"""The real table's records through the real fan-out, in one process, without a server: no socket, no log, no clock.

A `Line` is what a connection is to the fan-out, and keeps every frame that it would have sent.
"""

import asyncio
import json
from collections import deque
from collections.abc import Iterable
from itertools import count
from random import Random
from typing import Any, NamedTuple, cast

import msgspec
from sqlalchemy.ext.asyncio import AsyncEngine

from spades_events import Topic
from spades_events.private import Rejection
from spades_lobby.live.desk import Answers, Desk
from spades_lobby.live.feeds import Viewer
from spades_lobby.live.hub import Hub
from spades_lobby.people.namebook import Names
from spades_lobby.settings import LobbySettings
from spades_rules import Rules
from spades_runtime import Input, Output
from spades_table.house import House
from tests.table.fake_worker import PART, FakeWorker

SETTINGS = LobbySettings.model_validate({"kafka_bootstrap": "nowhere:1", "database_url": "postgresql://nowhere"})


class Read(NamedTuple):
    """A record as a consumer reads it."""

    topic: str
    partition: int
    offset: int
    key: bytes
    value: bytes
    headers: tuple[tuple[str, bytes], ...]


class Line:
    """A connection that keeps every frame."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.texts: list[bytes] = []
        self.frames: list[dict[str, Any]] = []
        self.viewer: Viewer

    def send_later(self, frame: bytes) -> None:
        # An unmasked frame's head is 2, 4 or 10 bytes (RFC 6455, 5.2).
        head = {126: 4, 127: 10}.get(frame[1], 2)
        self.texts.append(frame[head:])
        self.frames.append(json.loads(frame[head:]))

    def ask_snapshot(self, viewer: Viewer) -> None:
        self.hub.ask_snapshot(viewer)

    def no_snapshot(self, viewer: Viewer, rejection: Rejection) -> None:
        raise AssertionError(rejection)

    def table_silent(self, viewer: Viewer) -> None:
        raise AssertionError("the table is silent")

    def played_elsewhere(self, viewer: Viewer) -> None:
        raise AssertionError("played elsewhere")


class NoNames(Names):
    async def load(self, account_ids: Iterable[str]) -> None:
        """Everybody is called by their account."""

    def of(self, account_ids: Iterable[str]) -> dict[str, str]:
        return {one: one for one in account_ids}


class Fanout:
    """One table, and the gateways before it; all chance comes from the seed."""

    def __init__(self, table_id: str, seed: int, *, rules: Rules | None = None, gateways: int = 1) -> None:
        self.table_id = table_id
        house = House() if rules is None else House(rules={rules.version: rules}, rules_version=rules.version)
        self.worker = FakeWorker(house, random=Random(seed).randbytes)
        self._waiting: deque[Input] = deque()
        self._names = count()
        desk, engine = cast(Desk, self), cast(AsyncEngine, None)
        self.hubs = [Hub(SETTINGS, desk, Answers(), NoNames(engine), lambda: 0.0) for _ in range(gateways)]

    # The desk and the log in one: what a gateway sends goes into the table's next poll.

    async def send(
        self, topic: Topic, key: str, actor: str, command_id: str, command: msgspec.Struct, *_: object
    ) -> None:
        assert topic is Topic.TABLE_COMMANDS
        self._waiting.append(self.worker.command(key, actor, command, command_id))

    def part_of(self, key: str) -> int:
        return PART

    def watch(self, account: str, gateway: int = 0) -> Line:
        """A new connection of this person; its snapshot comes with the next `run`."""
        hub = self.hubs[gateway]
        line = Line(hub)
        feed = hub.feed(self.table_id)
        line.viewer = Viewer(feed, f"c-{account}-{next(self._names)}", account, line)
        feed.add(line.viewer)
        hub.ask_snapshot(line.viewer, claims=True)
        return line

    def drop(self, line: Line) -> None:
        """The connection is gone; the feed stays, as for the others who watch."""
        line.viewer.feed.remove(line.viewer)

    def ask(self, account: str, command: msgspec.Struct) -> None:
        """For the table's next poll."""
        self._waiting.append(self.worker.command(self.table_id, account, command))

    async def run(self) -> None:
        """Until nothing is on its way any more."""
        await self._settle()
        while self._waiting:
            inputs = list(self._waiting)
            self._waiting.clear()
            self.worker.now_ms += 50
            records = by_topic(await self.worker.poll(*inputs))
            for hub in self.hubs:
                await hub.dispatch({hub.reader.parts(PART, topic)[0]: read for topic, read in records.items()})
            await self._settle()

    async def _settle(self) -> None:
        """Let what the gateways send in the background be sent."""
        while any(hub._tasks for hub in self.hubs):
            await asyncio.sleep(0)

    async def stop(self) -> None:
        for hub in self.hubs:
            await hub.reader.stop()


def by_topic(outputs: Iterable[Output]) -> dict[str, list[Read]]:
    found: dict[str, list[Read]] = {}
    for offset, one in enumerate(outputs):
        record = Read(one.topic, one.part, offset, one.key.encode(), one.value, tuple(one.headers))
        found.setdefault(one.topic, []).append(record)
    return found
