"""The table service as its own process on real servers, and a bot service made of this test."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import msgspec
import psycopg
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

import spades_rules as rules
from spades_events import CE_TYPES, Envelope, Topic, commands, decode, encode, envelope_of, headers_of, private
from spades_events.events import TableEvent
from spades_events.values import BOT_ACCOUNT
from spades_local.testing import Namespace
from spades_rules import View
from spades_runtime import partition_of
from spades_runtime.schema import quoted
from tests.table.driving import as_command

ROOT = Path(__file__).parents[2]
LIMIT_S = 60.0
PARTITIONS = 2


class RealTables:
    """Sends commands and reads what the table service publishes, in partition order."""

    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace
        self.told: dict[str, list[TableEvent]] = {}
        self.bodies: dict[str, list[bytes]] = {}
        self.answers: dict[str, private.Answer] = {}
        self.snapshots: list[private.Snapshot] = []
        self.repeated = 0
        self.bots_play = True
        self._count = 0

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator["RealTables"]:
        self.namespace.create_topics(PARTITIONS)
        self.namespace.migrate("table")
        bootstrap = self.namespace.bootstrap
        self._producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all")
        self._consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")
        await self._producer.start()
        await self._consumer.start()
        topics = (Topic.TABLE_EVENTS, Topic.TABLE_PRIVATE, Topic.TABLE_PROMPTS)
        self._names = {self.namespace.topic(topic): topic for topic in topics}
        self._consumer.assign([TopicPartition(name, part) for name in self._names for part in range(PARTITIONS)])
        reading = asyncio.create_task(self._read(), name="read")
        try:
            yield self
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            await self._consumer.stop()
            await self._producer.stop()

    async def send(self, table_id: str, account: str, command: msgspec.Struct, command_id: str | None = None) -> str:
        self._count += 1
        command_id = command_id or f"command-{self._count}"
        envelope = Envelope(
            id=command_id,
            type=CE_TYPES[type(command)],
            source="/spades/test",
            subject=table_id,
            actor=account,
        )
        await self.record(Topic.TABLE_COMMANDS, table_id, encode(command), envelope)
        return command_id

    async def record(self, topic: Topic, key: str, value: bytes, envelope: Envelope) -> None:
        await self._producer.send_and_wait(
            self.namespace.topic(topic),
            value,
            key=key.encode(),
            partition=partition_of(key, PARTITIONS),
            headers=headers_of(envelope),
        )

    async def answer(self, command_id: str) -> private.Answer:
        await self.until(lambda: command_id in self.answers)
        return self.answers[command_id]

    async def until(self, met: Any, limit_s: float = LIMIT_S) -> None:
        """Wait until what was read meets a condition."""
        deadline_s = time.monotonic() + limit_s
        while not met():
            assert time.monotonic() < deadline_s, {key: len(told) for key, told in self.told.items()}
            await asyncio.sleep(0.02)

    def has(self, table_id: str, kind: type[TableEvent]) -> bool:
        return any(isinstance(event, kind) for event in self.told.get(table_id, ()))

    async def _read(self) -> None:
        while True:
            fetched = await self._consumer.getmany(timeout_ms=200)
            for partition, records in fetched.items():
                topic = self._names[partition.topic]
                for record in records:
                    await self._take_in(topic, record)

    async def _take_in(self, topic: Topic, record: Any) -> None:
        envelope = envelope_of(record.headers)
        message: Any = decode(envelope.type, record.value)
        match topic:
            case Topic.TABLE_EVENTS:
                self._event(envelope, message, record.value)
            case Topic.TABLE_PROMPTS:
                if self.bots_play:
                    await self._bot(message)
            case _ if isinstance(message, private.Answer):
                self.answers[message.command_id] = message
            case _ if isinstance(message, private.Snapshot):
                self.snapshots.append(message)

    def _event(self, envelope: Envelope, event: TableEvent, body: bytes) -> None:
        told = self.told.setdefault(envelope.subject, [])
        bodies = self.bodies.setdefault(envelope.subject, [])
        assert envelope.sequence is not None
        if envelope.sequence <= len(told):
            # A record may repeat, and is then the same byte for byte.
            assert bodies[envelope.sequence - 1] == body
            self.repeated += 1
            return
        assert envelope.sequence == len(told) + 1, "a gap"
        told.append(event)
        bodies.append(body)

    async def _bot(self, prompt: private.Prompt) -> None:
        view = msgspec.json.decode(bytes(prompt.view), type=View)
        command = as_command(rules.judge(view), prompt.turn_id, prompt.hand_no)
        name = f"{prompt.table_id}:{prompt.turn_id}:{type(command).__name__}"
        await self.send(prompt.table_id, BOT_ACCOUNT, command, str(uuid5(NAMESPACE_URL, name)))

    def stored(self, query: str) -> list[tuple[Any, ...]]:
        """What the service's own role reads from its schema."""
        database = self.namespace.databases["table"]
        with psycopg.connect(database.app_url, autocommit=True) as connection:
            connection.execute(f"SET search_path = {quoted(database.schema)}")
            return connection.execute(query).fetchall()


class TableProcess:
    """`python -m spades_table`, to be killed, frozen and started again."""

    def __init__(self, namespace: Namespace, log: Path, **settings: str) -> None:
        self._log = log
        env = namespace.service_env("table", SPADES_LOG_LEVEL="info", **settings)
        self._probe = f"http://127.0.0.1:{env['SPADES_ADMIN_PORT']}"
        with log.open("ab") as out:
            self._popen = subprocess.Popen(
                [sys.executable, "-m", "spades_table"], env=env, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT
            )

    def get(self, path: str) -> str:
        try:
            with urllib.request.urlopen(self._probe + path, timeout=2) as answer:
                return str(answer.read().decode())
        except urllib.error.HTTPError as refused:
            return str(refused.read().decode())
        except OSError:
            return ""

    async def until_ready(self, limit_s: float = LIMIT_S) -> None:
        deadline_s = time.monotonic() + limit_s
        while (await asyncio.to_thread(self.get, "/readyz")).strip() != "ready":
            assert self._popen.poll() is None, self._log.read_text()
            assert time.monotonic() < deadline_s, self._log.read_text()
            await asyncio.sleep(0.05)

    def kill(self) -> None:
        self._popen.kill()
        self._popen.wait()

    def freeze(self) -> None:
        os.kill(self._popen.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self._popen.pid, signal.SIGCONT)

    def stop(self) -> int:
        self._popen.terminate()
        return self._popen.wait(30)

    def end(self) -> None:
        if self._popen.poll() is None:
            self.thaw()
            self.kill()


@contextlib.asynccontextmanager
async def table_process(namespace: Namespace, log: Path, **settings: str) -> AsyncIterator[TableProcess]:
    """A table service that does not outlive the block, ready to work."""
    process = TableProcess(namespace, log, **settings)
    try:
        await process.until_ready()
        yield process
    finally:
        process.end()


def opening(**fields: Any) -> commands.OpenTable:
    choice = commands.RulesetChoice(name=fields.pop("ruleset", "classic"), options=fields.pop("options", {}))
    return commands.OpenTable(kind=fields.pop("kind", "practice"), ruleset=choice, **fields)
