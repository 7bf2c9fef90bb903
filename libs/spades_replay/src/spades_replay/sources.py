"""Where the records come from: a running Kafka, the gateway's read model, a folder of NDJSON, or standard input.

kafka://HOST:PORT[,HOST:PORT…][/PREFIX]    every record from the first to the last there is now
postgresql://…[?schema=spades_lobby]       the read model's table events; it holds no wallet events
FOLDER or FILE                             *.ndjson, one CloudEvent in JSON format a line; or one game's events as the
                                           gateway gives them to people (`frames.py`)
-                                          the same on standard input
"""

import re
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import msgspec
import psycopg
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaConnectionError
from aiokafka.partitioner import murmur2

from spades_events import Topic, UndecodableMessage, envelope_of
from spades_events.envelope import ms_of_rfc3339, rfc3339
from spades_replay import frames
from spades_replay.faults import Illegal, NoSource
from spades_replay.records import PUBLIC_TOPICS, Record

DEFAULT_PREFIX: Final = "spades."
DEFAULT_SCHEMA: Final = "spades_lobby"
_SERVER: Final = re.compile(r"([^:]+|\[.+\])(:\d{1,5})?")
_SCHEMA_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")

CLOUD_EVENT_TOPICS: Final = {"/spades/table": Topic.TABLE_EVENTS, "/spades/wallet": Topic.WALLET_EVENTS}


class CloudEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A line of NDJSON: the JSON format of CloudEvents."""

    id: str
    source: str
    type: str
    subject: str
    sequence: str
    time: str | None = None
    specversion: str = "1.0"
    data: msgspec.Raw


_decode_line = msgspec.json.Decoder(CloudEvent).decode


async def read(source: str, stream: str | None = None) -> AsyncIterator[Record]:
    """Yield the records of all streams (or of one table), each stream in its order.

    Raises NoSource where there is nothing to read from, and Illegal for a record that is none of ours.
    """
    if source.startswith("kafka://"):
        async for record in _from_kafka(source, stream):
            yield record
    elif source.startswith(("postgresql://", "postgres://")):
        async for record in _from_postgres(source, stream):
            yield record
    else:
        for record in _from_lines(_lines(source), stream or frames.table_named_by(source)):
            if stream is None or record.stream == stream:
                yield record


async def _from_kafka(source: str, stream: str | None) -> AsyncIterator[Record]:
    parts = urlsplit(source)
    prefix = parts.path.strip("/") or DEFAULT_PREFIX
    bootstrap = parts.netloc.split(",")
    if not all(_SERVER.fullmatch(server) for server in bootstrap):
        raise NoSource("a Kafka is named kafka://HOST:PORT or kafka://HOST:PORT/PREFIX")
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False)
    try:
        await consumer.start()
        places = await _places(bootstrap, prefix, stream)
        async for record in _all_there_is(consumer, places, prefix, stream):
            yield record
    except KafkaConnectionError as error:
        raise NoSource(f"no Kafka answers at {parts.netloc}") from error
    finally:
        await consumer.stop()


async def _all_there_is(
    consumer: Any, places: list[TopicPartition], prefix: str, stream: str | None
) -> AsyncIterator[Record]:
    consumer.assign(places)
    await consumer.seek_to_beginning(*places)
    ends = await consumer.end_offsets(places)
    open_places = {place for place in places if ends[place] > await consumer.position(place)}
    while open_places:
        for place, batch in (await consumer.getmany(*open_places, timeout_ms=1_000)).items():
            for read in batch:
                if read.offset < ends[place] and (stream is None or read.key == stream.encode()):
                    record = _of_kafka(place.topic.removeprefix(prefix), read)
                    if record is not None:
                        yield record
            if batch[-1].offset + 1 >= ends[place]:
                open_places.discard(place)


async def _places(bootstrap: list[str], prefix: str, stream: str | None) -> list[TopicPartition]:
    """Every partition of the public topics, or those that hold one stream."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        described = await admin.describe_topics([prefix + topic for topic in PUBLIC_TOPICS])
    finally:
        await admin.close()
    places = []
    for topic in described:
        numbers = sorted(partition["partition"] for partition in topic["partitions"])
        if not numbers:
            raise NoSource(f"Kafka has no topic {topic['topic']}")
        if stream is not None:
            numbers = [(murmur2(stream.encode()) & 0x7FFFFFFF) % len(numbers)]
        places += [TopicPartition(topic["topic"], number) for number in numbers]
    return places


def _of_kafka(topic: str, read: Any) -> Record | None:
    """Return the event; None for an answer to a sender, which no stream counts (the wallet's refusals)."""
    try:
        envelope = envelope_of(read.headers)
    except UndecodableMessage as error:
        raise Illegal(f"{topic} partition {read.partition} offset {read.offset}: {error.reason}") from error
    if envelope.sequence is None:
        return None
    return Record(
        topic=topic,
        stream=envelope.subject,
        version=envelope.sequence,
        id=envelope.id,
        type=envelope.type,
        body=read.value,
        time_ms=envelope.time_ms,
    )


async def _from_postgres(source: str, stream: str | None) -> AsyncIterator[Record]:
    parts = urlsplit(source)
    query = dict(parse_qsl(parts.query))
    schema = query.pop("schema", DEFAULT_SCHEMA)
    if not _SCHEMA_NAME.fullmatch(schema):
        raise NoSource("a schema's name is lower-case letters, digits and underscores")
    address = urlunsplit(parts._replace(query="&".join(f"{name}={value}" for name, value in query.items())))
    where = "WHERE table_id = %(stream)s" if stream else ""
    statement = (
        "SELECT table_id, version, type, at_ms, body::text "  # noqa: S608 - a checked name
        f"FROM {schema}.game_event {where} ORDER BY table_id, version"
    )
    try:
        connection = await psycopg.AsyncConnection.connect(address)
    except psycopg.Error as error:
        # Without its text, which may quote the address and so its password.
        raise NoSource("no PostgreSQL answers there, or it is no address of one") from error
    async with connection, connection.cursor(name="replay") as rows:
        try:
            await rows.execute(statement, {"stream": stream})
        except psycopg.ProgrammingError:
            raise NoSource(f"schema {schema} holds no read model") from None
        async for table_id, version, name, at_ms, body in rows:
            yield Record(
                topic=Topic.TABLE_EVENTS,
                stream=table_id,
                version=version,
                id=f"{table_id}:{version}",
                type=name,
                body=body.encode(),
                time_ms=at_ms,
                of_read_model=True,
            )


def _lines(source: str) -> Iterator[bytes]:
    if source == "-":
        yield from sys.stdin.buffer
        return
    path = Path(source)
    if not path.exists():
        raise NoSource(f"there is no {source}")
    files = sorted(path.glob("*.ndjson")) if path.is_dir() else [path]
    if not files:
        raise NoSource(f"no *.ndjson in {source}")
    for file in files:
        try:
            with file.open("rb") as lines:
                yield from lines
        except OSError as error:
            raise NoSource(f"{file} cannot be read: {error.strerror}") from error


def _from_lines(lines: Iterable[bytes], table_id: str | None) -> Iterator[Record]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            if frames.is_of_them(line):
                yield from frames.records(line, table_id)
                continue
            event = _decode_line(line)
            topic = CLOUD_EVENT_TOPICS[event.source]
            yield Record(
                topic=topic,
                stream=event.subject,
                version=int(event.sequence),
                id=event.id,
                type=event.type,
                body=bytes(event.data),
                time_ms=None if event.time is None else ms_of_rfc3339(event.time.encode()),
            )
        except (msgspec.DecodeError, KeyError, ValueError, TypeError, AttributeError) as error:
            raise Illegal(f"line {number} is no public event: {type(error).__name__}") from error


def line_of(record: Record) -> bytes:
    """A record as a line of NDJSON, without the line feed."""
    source = next(name for name, topic in CLOUD_EVENT_TOPICS.items() if topic == record.topic)
    return msgspec.json.encode(
        CloudEvent(
            id=record.id,
            source=source,
            type=record.type,
            subject=record.stream,
            sequence=str(record.version),
            time=None if record.time_ms is None else rfc3339(record.time_ms).decode(),
            data=msgspec.Raw(record.body),
        )
    )
