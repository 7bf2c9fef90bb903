"""A thousand viewers on one gateway: `python -m tests.bench.fanout`.

The gateway is the real process; the tables are this process's, on two of the eight partitions, and
the other six carry traffic that nobody here watches. Then some viewers of one table stop reading.
"""

import argparse
import asyncio
import base64
import json
import os
import re
import secrets
import socket
import tempfile
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import msgspec
import psutil
import uvloop
from aiokafka import AIOKafkaProducer

from spades_events import CE_TYPES, Envelope, Topic, encode, events, headers_of
from spades_local.testing import Namespace, serve_infra
from spades_runtime import fetching, partition_of
from tests.bench.floor import percentiles_ms
from tests.bench.goals import Goal, tell
from tests.lobby.fake_table import FakeTable
from tests.processes import ServiceProcess

PARTITIONS = 8
WATCHED = (0, 1)
TABLES = 10
SLOW = 10
"""Viewers of the last table that stop reading, as many as go on reading there."""
PEOPLE = 20
PORTION = 200
EVENTS_PER_S = 50
UNREAD_BYTES_MAX = 64 * 1024
LONG = "x" * 30_000
FLOOD = 300
"""Long events, far more than the sockets' buffers and the bound together hold."""
_SEQ = re.compile(rb'"seq":(\d+)')


class Viewer(asyncio.Protocol):
    """One socket that watches a table, read as cheaply as can be: a frame's type, its number, its time."""

    def __init__(self, ticket: str, table_id: str) -> None:
        self._ticket = ticket
        self.table_id = table_id
        self._rest = b""
        self._is_open = False
        self.transport: asyncio.Transport
        self.snapshots = 0
        self.seq = 0
        self.gaps = 0
        self.closed: int | None = None
        """The close code, once there is one."""
        self.seen: dict[int, float] = {}

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        asked = (
            "GET /v1/ws HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: spades.v1\r\n\r\n"
        )
        transport.write(asked.encode())

    def data_received(self, data: bytes) -> None:
        data = self._rest + data
        if not self._is_open:
            head, found, data = data.partition(b"\r\n\r\n")
            if not found:
                self._rest = head
                return
            self._is_open = True
            self._say(1, msgspec.json.encode({"type": "hello", "ticket": self._ticket}))
            self._say(1, msgspec.json.encode({"type": "watch", "table_id": self.table_id}))
        self._rest = data[self._frames(data) :]

    def _frames(self, data: bytes) -> int:
        at = 0
        while len(data) - at >= 2:
            size, begins = data[at + 1], at + 2
            if size >= 126:
                width = 2 if size == 126 else 8
                if len(data) < begins + width:
                    break
                size, begins = int.from_bytes(data[begins : begins + width]), begins + width
            if len(data) < begins + size:
                break
            self._frame(data[at] & 15, data[begins : begins + size])
            at = begins + size
        return at

    def _frame(self, kind: int, payload: bytes) -> None:
        if kind == 8:
            self.closed = int.from_bytes(payload[:2])
        elif kind == 9:
            self._say(10, payload)
        elif kind == 1 and (found := _SEQ.search(payload, 0, 80)):
            seq = int(found[1])
            if payload.startswith(b'{"type":"snapshot"'):
                self.snapshots += 1
            else:
                self.gaps += seq != self.seq + 1
                self.seen[seq] = time.perf_counter()
            self.seq = seq

    def _say(self, kind: int, payload: bytes) -> None:
        # Masked, as clients must: with a mask of zeros.
        long = len(payload) > 125
        size = bytes([128 | 126]) + len(payload).to_bytes(2) if long else bytes([128 | len(payload)])
        self.transport.write(bytes([128 | kind]) + size + bytes(4) + payload)


class House:
    """The tables, and what is published of them."""

    def __init__(self, namespace: Namespace, tables: list[str], fake: FakeTable) -> None:
        self._namespace = namespace
        self._fake = fake
        self.tables = tables
        self.versions = {table_id: fake.games[table_id].version for table_id in tables}
        self.sent: dict[tuple[str, int], float] = {}

    async def __aenter__(self) -> "House":
        self._producer = AIOKafkaProducer(bootstrap_servers=self._namespace.bootstrap, max_request_size=2**21)
        await self._producer.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._producer.stop()

    async def publish(self, table_id: str, fact: msgspec.Struct) -> None:
        version = self.versions[table_id] = self.versions.get(table_id, 0) + 1
        envelope = Envelope(
            id=f"{table_id}:{version}",
            type=CE_TYPES[type(fact)],
            source="/spades/table",
            subject=table_id,
            sequence=version,
            time_ms=time.time_ns() // 1_000_000,
        )
        if table_id in self._fake.games:
            self._fake.games[table_id].version = version
        self.sent[table_id, version] = time.perf_counter()
        await self._producer.send(
            self._namespace.topic(Topic.TABLE_EVENTS),
            encode(fact),
            key=table_id.encode(),
            partition=partition_of(table_id, PARTITIONS),
            headers=headers_of(envelope),
        )

    async def play(self, seconds: float, unwatched: list[str]) -> None:
        """Cards at so many a second, one table after the other; as many of tables that nobody watches."""
        card = events.CardPlayed(turn_id="1:1", seat=0, card="2C")
        started_s = time.perf_counter()
        for number in range(int(seconds * EVENTS_PER_S)):
            await asyncio.sleep(max(0.0, started_s + number / EVENTS_PER_S - time.perf_counter()))
            await self.publish(self.tables[number % len(self.tables)], card)
            await self.publish(unwatched[number % len(unwatched)], card)

    async def flood(self, table_id: str) -> None:
        """More than a viewer that does not read is let wait for."""
        for _ in range(FLOOD):
            await self.publish(table_id, events.TableCancelled(reason=LONG, stake_coins=0, seats=()))
            await asyncio.sleep(0.02)


async def enter(address: str) -> tuple[list[str], list[dict[str, str]]]:
    """Open the tables that are watched, all on two partitions; who is in, as headers."""
    async with httpx.AsyncClient(base_url=address, timeout=60) as http:
        people = []
        for _ in range(PEOPLE):
            entered = await http.post("/v1/sessions", json={"guest": True, "token": True})
            people.append({"Authorization": f"Bearer {entered.json()['token']}"})
        tables: list[str] = []
        body = {"kind": "practice", "ruleset": {"name": "deniro"}}
        while len(tables) < TABLES:
            opened = await http.post("/v1/tables", json=body, headers={**people[0], "Idempotency-Key": uuid4().hex})
            table_id = opened.json()["table_id"]
            if partition_of(table_id, PARTITIONS) in WATCHED:
                tables.append(table_id)
    return tables, people


async def admit(address: str, people: list[dict[str, str]], count: int) -> list[str]:
    """A ticket for each of so many viewers."""
    async with httpx.AsyncClient(base_url=address, timeout=60) as http:
        made = [await http.post("/v1/ws-tickets", headers=people[number % PEOPLE]) for number in range(count)]
    return [one.json()["ticket"] for one in made]


async def connect(address: str, tables: list[str], tickets: list[str], first: int) -> list[Viewer]:
    loop, (host, port) = asyncio.get_running_loop(), address.removeprefix("http://").split(":")
    viewers = []
    for number, ticket in enumerate(tickets, start=first):
        # The last table's viewers are few: half of them will not read what is then sent in bulk.
        viewer = Viewer(ticket, tables[-1] if number < 2 * SLOW else tables[number % (TABLES - 1)])
        raw = socket.socket()
        if number < SLOW:
            # The machine's own buffers are not what is measured.
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        raw.setblocking(False)
        await loop.sock_connect(raw, (host, int(port)))
        await loop.create_connection(lambda viewer=viewer: viewer, sock=raw)  # type: ignore[misc]
        viewers.append(viewer)
    await until(lambda: all(viewer.snapshots for viewer in viewers), "a snapshot for each")
    return viewers


async def until(met: Any, what: str, limit_s: float = 60.0) -> None:
    until_s = time.monotonic() + limit_s
    while not met():
        if time.monotonic() > until_s:
            raise SystemExit(f"not within {limit_s:g} s: {what}")
        await asyncio.sleep(0.02)


async def everybody_saw(house: House, viewers: list[Viewer], table_of: dict[Viewer, str]) -> None:
    await until(lambda: all(one.seq >= house.versions[table_of[one]] for one in viewers), "the last event at each")


def latencies(house: House, viewers: list[Viewer], table_of: dict[Viewer, str]) -> dict[str, float]:
    """From the sending of an event to each viewer's having it."""
    samples = [
        seen_s - house.sent[table_of[viewer], seq]
        for viewer in viewers
        for seq, seen_s in viewer.seen.items()
        if (table_of[viewer], seq) in house.sent
    ]
    for viewer in viewers:
        viewer.seen.clear()
    return {"frames": len(samples), **percentiles_ms(samples)}


async def bench(
    namespace: Namespace, lobby: ServiceProcess, address: str, count: int, seconds: float
) -> dict[str, Any]:
    fake = FakeTable(namespace.bootstrap, namespace.topic_prefix, PARTITIONS)
    async with fake.running():
        tables, people = await enter(address)
        viewers: list[Viewer] = []
        while len(viewers) < count:
            # Tickets live for half a minute: the viewers come in portions.
            tickets = await admit(address, people, min(PORTION, count - len(viewers)))
            viewers += await connect(address, tables, tickets, len(viewers))
        table_of = {viewer: viewer.table_id for viewer in viewers}
        unwatched = [
            name for name in (str(uuid4()) for _ in range(200)) if partition_of(name, PARTITIONS) not in WATCHED
        ]
        process = psutil.Process(lobby.pid)
        result: dict[str, Any] = {}
        async with House(namespace, tables, fake) as house:
            used_s = _cpu_s(process)
            await house.play(seconds, unwatched)
            await everybody_saw(house, viewers, table_of)
            used_s = _cpu_s(process) - used_s
            result["all read"] = latencies(house, viewers, table_of)
            result["gateway"] = {
                "viewers": count,
                "partitions_read": int(_metric(lobby, "spades_lobby_partitions_read")),
                "cpu_us_a_frame": round(1e6 * used_s / result["all read"]["frames"], 1),
                "mb": round(process.memory_info().rss / 1e6),
            }
            slow, others = viewers[:SLOW], viewers[SLOW:]
            for viewer in slow:
                viewer.transport.pause_reading()
            before = [viewer.snapshots for viewer in slow]
            await asyncio.gather(house.play(seconds, unwatched), house.flood(tables[-1]))
            await everybody_saw(house, others, table_of)
            result["some slow"] = latencies(house, others, table_of)
            for viewer in slow:
                viewer.transport.resume_reading()
            await until(
                lambda: all(map(int.__lt__, before, [one.snapshots for one in slow])), "a snapshot for the slow"
            )
            for viewer in slow:
                viewer.transport.pause_reading()
            await house.flood(tables[-1])
            await everybody_saw(house, others, table_of)
            for viewer in slow:
                viewer.transport.resume_reading()
            await until(lambda: all(viewer.closed is not None for viewer in slow), "the slow to be closed")
            result["slow"] = {
                "got_a_snapshot": sum(after.snapshots > first for after, first in zip(slow, before, strict=True)),
                "closed_1013": sum(viewer.closed == 1013 for viewer in slow),
            }
            result["others"] = {
                "gaps": sum(viewer.gaps for viewer in others),
                "snapshots": sum(viewer.snapshots - 1 for viewer in others),
                "closed": sum(viewer.closed is not None for viewer in others),
            }
        for viewer in viewers:
            viewer.transport.close()
    return result


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _metric(lobby: ServiceProcess, name: str) -> float:
    lines = [line for line in lobby.metrics().splitlines() if line.startswith(f"{name} ")]
    return float(lines[0].split()[1])


def goals(result: dict[str, Any], count: int) -> list[Goal]:
    gateway, slow, others = result["gateway"], result["slow"], result["others"]
    return [
        Goal("viewers", gateway["viewers"], 1_000 if count >= 1_000 else count, at_least=True),
        Goal("partitions read", gateway["partitions_read"], 2 * len(WATCHED)),
        Goal("slow readers that got a snapshot", slow["got_a_snapshot"], SLOW, at_least=True),
        Goal("slow readers closed with 1013", slow["closed_1013"], SLOW, at_least=True),
        *(Goal(f"others' {name}", others[name], 0) for name in ("gaps", "snapshots", "closed")),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--viewers", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=8.0)
    given = parser.parse_args()
    fetching.install()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        path.chmod(0o711)
        with serve_infra(path) as infra:
            namespace = Namespace(infra, path)
            namespace.create_topics(PARTITIONS)
            namespace.migrate("lobby")
            try:
                settings = {
                    "SPADES_LOBBY_UNREAD_BYTES_MAX": str(UNREAD_BYTES_MAX),
                    "SPADES_LOBBY_PARTITION_IDLE_MS": "500",
                    "PATH": os.environ["PATH"],
                }
                env = namespace.service_env("lobby", **settings)
                with ServiceProcess("lobby", env, path / "lobby.log") as lobby:
                    address = f"http://127.0.0.1:{env['SPADES_LOBBY_PORT']}"
                    result = uvloop.run(bench(namespace, lobby, address, given.viewers, given.seconds))
            finally:
                namespace.drop()
    for name, figures in result.items():
        print(f"{name:10}", "  ".join(f"{key} {value}" for key, value in figures.items()))
    print(json.dumps(result))
    tell(goals(result, given.viewers))


if __name__ == "__main__":
    main()
