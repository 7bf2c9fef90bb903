"""The read model's consumer: a group of all gateways, a transaction a poll, offsets after it.

Plain aiokafka: every event of every table passes here, thousands a second, and the batch
subscriber of a framework would sleep after each empty poll.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import psycopg
import structlog
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import CommitFailedError, IllegalStateError, KafkaError
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from spades_events import Envelope, Topic, UndecodableMessage, decode, envelope_of, wallet
from spades_lobby import metrics
from spades_lobby.games import handlers
from spades_lobby.games.handlers import WalletRecord
from spades_lobby.games.readmodel import EventRow
from spades_lobby.settings import LobbySettings
from spades_runtime.kafka import MAX_POLL_INTERVAL_MS
from spades_runtime.stepping import SteppingReader

log = structlog.get_logger()

RETRY_S: Final = 0.5
RECORDS_MAX: Final = 2_000
_decode_object: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
VERSION_MAX: Final = 2**31 - 1
FETCH_WAIT_MS: Final = 200
REST_S: Final = 0.1
"""A list may be a tenth of a second old: so long after a poll the next one, which then brings more."""


class Projection:
    """Reads table.events and wallet.events into the read model; each record at least once."""

    def __init__(self, settings: LobbySettings, engine: AsyncEngine) -> None:
        self._engine = engine
        self._tables = settings.topic(Topic.TABLE_EVENTS)
        self._wallet = settings.topic(Topic.WALLET_EVENTS)
        self._consumer = AIOKafkaConsumer(
            self._tables,
            self._wallet,
            bootstrap_servers=settings.kafka_bootstrap,
            group_id=settings.group,
            group_instance_id=settings.member_name,
            session_timeout_ms=settings.session_ms,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            fetch_max_wait_ms=FETCH_WAIT_MS,
            # An outage of the database is waited for, not a reason to leave the group.
            max_poll_interval_ms=MAX_POLL_INTERVAL_MS,
            client_id=f"{settings.member_name}-projection",
        )
        self._next: dict[TopicPartition, int] = {}
        self._stepping = SteppingReader(self._consumer, self._next.__setitem__, self._go_back)
        self.turned_at = asyncio.get_running_loop().time()

    async def start(self) -> None:
        await self._consumer.start()

    async def stop(self) -> None:
        await self._consumer.stop()

    async def run(self) -> None:
        """Read until cancelled. An outage of either store is waited for: nothing is skipped."""
        while True:
            self.turned_at = asyncio.get_running_loop().time()
            try:
                polled = await self._stepping.getmany(500, RECORDS_MAX)
            except (KafkaError, IllegalStateError) as error:
                log.warning("projection_not_read", error=type(error).__name__)
                await asyncio.sleep(RETRY_S)
                continue
            if polled:
                self._next.update({part: records[-1].offset + 1 for part, records in polled.items()})
                await self._keep(polled)
                await asyncio.sleep(REST_S)

    async def _go_back(self) -> None:
        """Go on behind what was read here, or by another gateway since; what is kept already is not kept twice."""
        for part in self._consumer.assignment():
            offset = max(self._next.get(part, 0), await self._consumer.committed(part) or 0)
            if offset:
                self._consumer.seek(part, offset)
            else:
                await self._consumer.seek_to_beginning(part)

    async def _keep(self, polled: Mapping[TopicPartition, Sequence[Any]]) -> None:
        rows: list[EventRow] = []
        entries: list[WalletRecord] = []
        for part, records in polled.items():
            for record in records:
                if part.topic == self._tables:
                    _sort_table(record, rows)
                else:
                    _sort_wallet(record, entries)
        while True:
            self.turned_at = asyncio.get_running_loop().time()
            try:
                async with self._engine.begin() as db:
                    await handlers.keep_table_events(db, rows)
                    await handlers.keep_wallet_events(db, entries)
                break
            except (SQLAlchemyError, psycopg.Error, OSError) as error:
                log.warning("projection_not_written", error=type(error).__name__)
                await asyncio.sleep(RETRY_S)
        metrics.PROJECTED.labels(topic=Topic.TABLE_EVENTS.value).inc(len(rows))
        metrics.PROJECTED.labels(topic=Topic.WALLET_EVENTS.value).inc(len(entries))
        try:
            await self._consumer.commit({part: records[-1].offset + 1 for part, records in polled.items()})
        except (CommitFailedError, IllegalStateError, KafkaError) as error:
            # The partition went to another gateway, or comes again: both find the rows there.
            log.info("projection_offsets_not_committed", error=type(error).__name__)


def _envelope(record: Any) -> Envelope | None:
    try:
        return envelope_of(record.headers)
    except UndecodableMessage as error:
        metrics.PROJECTION_STALLED.inc()
        log.error(
            "record_not_kept",
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            reason=error.reason,
        )
        return None


def _sort_table(record: Any, rows: list[EventRow]) -> None:
    envelope = _envelope(record)
    if envelope is None or not 1 <= (envelope.sequence or 0) <= VERSION_MAX:
        return
    if not _is_json_object(record.value):
        return
    assert envelope.sequence is not None
    rows.append(
        EventRow(
            table_id=envelope.subject,
            version=envelope.sequence,
            type=envelope.type,
            at_ms=envelope.time_ms or record.timestamp,
            seats=envelope.seats,
            body=record.value,
        )
    )


def _sort_wallet(record: Any, entries: list[WalletRecord]) -> None:
    envelope = _envelope(record)
    if envelope is None:
        return
    try:
        event = decode(envelope.type, record.value)
    except UndecodableMessage as error:
        metrics.PROJECTION_STALLED.inc()
        log.error("wallet_event_not_kept", type=envelope.type, reason=error.reason)
        return
    if isinstance(event, wallet.WalletEvent):
        entries.append(WalletRecord(envelope, event))


def _is_json_object(body: bytes | None) -> bool:
    # A record that is no JSON would fail its whole batch in the database, for ever.
    try:
        _decode_object((body or b"").decode())
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
    return True
