"""What a move costs the gateway, and how long it takes at the socket: `python -m tests.bench.lobby`.

The gateway is the real process on the real Kafka and Postgres; the table is a responder that answers
each move with what a table publishes for one: three public events, the next seat's own part, the
answer. Four sockets watch each table, as four people do. CPU time is the gateway's own, so a busy
machine changes the latencies and not the cost.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import msgspec
import psutil
import uvloop
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from websockets.asyncio.client import ClientConnection, connect

from spades_events import CE_TYPES, Envelope, TurnKind, commands, encode, events, headers_of, private
from spades_local.testing import Namespace, serve_infra
from tests.lobby.fake_table import FakeTable
from tests.processes import ServiceProcess

PARTITIONS = 8
SEATS = 4


class Dealer:
    """Answers moves of tables that were opened by the fake table, as fast as it can."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._versions: dict[bytes, int] = {}

    def begin(self, table_id: str, version: int) -> None:
        self._versions[table_id.encode()] = version

    async def run(self) -> None:
        topic = self._namespace.topic("table.commands")
        consumer = AIOKafkaConsumer(bootstrap_servers=self._namespace.bootstrap, fetch_max_wait_ms=20)
        producer = AIOKafkaProducer(bootstrap_servers=self._namespace.bootstrap, linger_ms=0)
        await consumer.start()
        await producer.start()
        parts = [TopicPartition(topic, part) for part in range(PARTITIONS)]
        ends = await consumer.end_offsets(parts)
        consumer.assign(parts)
        for part, end in ends.items():
            consumer.seek(part, end)
        play = CE_TYPES[commands.PlayCard].encode()
        while True:
            for part, records in (await consumer.getmany(timeout_ms=100)).items():
                for record in records:
                    found = dict(record.headers)
                    if found["ce_type"] == play and record.key in self._versions:
                        await self._answer(producer, part.partition, record.key, found)

    async def _answer(self, producer: AIOKafkaProducer, part: int, key: bytes, found: dict[str, bytes]) -> None:
        table_id = key.decode()
        version = self._versions[key]
        self._versions[key] = version + 3
        seat = (version // 3) % SEATS
        facts: tuple[msgspec.Struct, ...] = (
            events.CardPlayed(turn_id="1:1", seat=seat, card="2C"),
            events.TurnStarted(
                turn_id=f"1:{version + 3}",
                hand_no=1,
                seat=(seat + 1) % SEATS,
                kind=TurnKind.PLAY,
                deadline_ms=1,
                server_ms=1,
            ),
            events.DeadlineSet(deadline_id=version + 3, due_ms=1, kind=None),
        )
        for number, fact in enumerate(facts, start=version + 1):
            seats = str((seat + 1) % SEATS) if isinstance(fact, events.TurnStarted) else ""
            envelope = Envelope(
                id=f"{table_id}:{number}",
                type=CE_TYPES[type(fact)],
                source="/spades/table",
                subject=table_id,
                sequence=number,
                time_ms=1_700_000_000_000,
                seats=seats,
            )
            await producer.send(
                self._namespace.topic("table.events"),
                encode(fact),
                key=key,
                partition=part,
                headers=headers_of(envelope),
            )
        mine = private.Supplement(seat=(seat + 1) % SEATS, legal_cards=("2C", "3C", "4C", "5C", "6C"))
        private_topic = self._namespace.topic("table.private")
        envelope = Envelope(
            id=f"{table_id}:{version + 2}:{mine.seat}",
            type=CE_TYPES[private.Supplement],
            source="/spades/table",
            subject=table_id,
            sequence=version + 2,
            time_ms=1_700_000_000_000,
            seat=mine.seat,
        )
        await producer.send(private_topic, encode(mine), key=key, partition=part, headers=headers_of(envelope))
        account, command_id = found["ce_spadesactor"].decode(), found["ce_id"].decode()
        answer = private.Answer(
            command_id=command_id, account_id=account, first_version=version + 1, last_version=version + 3
        )
        envelope = Envelope(
            id=command_id,
            type=CE_TYPES[private.Answer],
            source="/spades/table",
            subject=table_id,
            time_ms=1_700_000_000_000,
            actor=account,
        )
        await producer.send(private_topic, encode(answer), key=key, partition=part, headers=headers_of(envelope))


class Seat:
    """One person's socket at a table."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.seconds: list[float] = []
        self._sent_at = 0.0
        self._number = 0

    async def play(self) -> None:
        """Send a move; the table's answer brings the next seat's turn."""
        self._number += 1
        self._sent_at = time.perf_counter()
        await self._socket.send(f'{{"type":"play_card","id":"{self._number}","turn_id":"1:1","card":"2C"}}')

    async def run(self) -> None:
        async for text in self._socket:
            if text.startswith('{"type":"ack"'):
                self.seconds.append(time.perf_counter() - self._sent_at)
            elif '"turn_started"' in text[:30] and '"you"' in text:
                await self.play()


async def seats_at_a_table(address: str, number: int) -> tuple[str, list[ClientConnection]]:
    sockets = []
    table_id = ""
    for seat in range(SEATS):
        async with httpx.AsyncClient(base_url=address, timeout=30) as http:
            entered = await http.post("/v1/sessions", json={"guest": True, "token": True})
            http.headers["Authorization"] = f"Bearer {entered.json()['token']}"
            if seat == 0:
                body = {"kind": "practice", "ruleset": {"name": "deniro"}}
                opened = await http.post("/v1/tables", json=body, headers={"Idempotency-Key": f"t{number}"})
                table_id = opened.json()["table_id"]
            (await http.put(f"/v1/tables/{table_id}/seats/{seat}")).raise_for_status()
            ticket = (await http.post("/v1/ws-tickets")).json()["ticket"]
        socket = await connect(
            address.replace("http", "ws") + "/v1/ws",
            compression=None,
            proxy=None,
            subprotocols=["spades.v1"],  # type: ignore[list-item]
        )
        await socket.send(f'{{"type":"hello","ticket":"{ticket}"}}')
        await socket.recv()
        await socket.send(f'{{"type":"watch","table_id":"{table_id}"}}')
        await socket.recv()
        sockets.append(socket)
    return table_id, sockets


async def bench(namespace: Namespace, address: str, pid: int, tables: int, seconds: float) -> dict[str, Any]:
    dealer = Dealer(namespace)
    fake = FakeTable(namespace.bootstrap, namespace.topic_prefix, PARTITIONS)
    seats: list[Seat] = []
    firsts: list[Seat] = []
    async with fake.running():
        for number in range(tables):
            table_id, sockets = await seats_at_a_table(address, number)
            made = [Seat(socket) for socket in sockets]
            seats += made
            firsts.append(made[0])
            dealer.begin(table_id, fake.games[table_id].version)
    work = [asyncio.create_task(dealer.run()), *(asyncio.create_task(seat.run()) for seat in seats)]
    await asyncio.sleep(1)
    process = psutil.Process(pid)
    for seat in firsts:
        await seat.play()
    await asyncio.sleep(1)
    before, started = process.cpu_times(), time.perf_counter()
    moves_before = sum(len(seat.seconds) for seat in seats)
    await asyncio.sleep(seconds)
    moves = sum(len(seat.seconds) for seat in seats) - moves_before
    after, took = process.cpu_times(), time.perf_counter() - started
    cpu = after.user + after.system - before.user - before.system
    latencies = sorted(second for seat in seats for second in seat.seconds)
    for task in work:
        task.cancel()
    return {
        "tables": tables,
        "moves/s": round(moves / took),
        "CPU µs a move": round(cpu / max(1, moves) * 1e6),
        "CPU share": round(cpu / took, 2),
        "p50 ms": round(statistics.median(latencies) * 1e3, 1),
        "p99 ms": round(latencies[int(len(latencies) * 0.99)] * 1e3, 1),
        "MiB": round(process.memory_info().rss / 2**20),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tables", type=int, default=50)
    arguments.add_argument("--seconds", type=float, default=10.0)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        path.chmod(0o711)
        with serve_infra(path) as infra:
            namespace = Namespace(infra, path)
            namespace.create_topics(PARTITIONS)
            namespace.migrate("lobby")
            try:
                no_limit = {"SPADES_LOBBY_FRAMES_PER_SECOND": "100000", "SPADES_LOBBY_FRAMES_BURST": "100000"}
                env = namespace.service_env("lobby", **no_limit)
                with ServiceProcess("lobby", env, path / "lobby.log") as lobby:
                    address = f"http://127.0.0.1:{env['SPADES_LOBBY_PORT']}"
                    figures = uvloop.run(bench(namespace, address, lobby.pid, given.tables, given.seconds))
            finally:
                namespace.drop()
    for name, figure in figures.items():
        print(f"{name:>14}  {figure}")


if __name__ == "__main__":
    main()
