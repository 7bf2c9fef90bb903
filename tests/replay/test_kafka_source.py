"""The records of a running Kafka: all of them, each stream in its order."""

import pytest
from aiokafka import AIOKafkaProducer

from spades_events import CE_TYPES, Envelope, TableKind, Topic, encode, headers_of
from spades_events.wallet import WalletCommandRefused
from spades_local.testing import Namespace
from spades_replay import NoSource, Record, Verifier, read
from tests.replay.played import World, open_table, play_on

pytestmark = pytest.mark.real


async def publish(namespace: Namespace, records: list[Record]) -> None:
    async with AIOKafkaProducer(bootstrap_servers=namespace.bootstrap) as producer:
        for record in records:
            envelope = Envelope(
                id=record.id,
                type=record.type,
                source="/spades/test",
                subject=record.stream,
                sequence=record.version,
                time_ms=record.time_ms,
            )
            await producer.send(
                namespace.topic(record.topic),
                record.body,
                key=record.stream.encode(),
                headers=headers_of(envelope),
            )


async def test_what_was_published_is_read_and_verifies(namespace: Namespace) -> None:
    namespace.create_topics(partitions=2)
    world = World(seed=9)
    world.open_accounts("north", "east")
    for table_id in ("a", "b", "c"):
        open_table(world, table_id, ["north", "east"], kind=TableKind.ONLINE, stake_coins=10)
        play_on(world, table_id)
    await publish(namespace, world.records)
    source = f"kafka://{namespace.bootstrap}/{namespace.topic_prefix}"

    everything = [record async for record in read(source)]
    assert sorted(everything) == sorted(world.records)
    verifier = Verifier()
    assert [fault for record in everything if (fault := verifier.feed(record)) is not None] == []
    assert list(verifier.finish()) == []
    assert verifier.totals().settled == 3

    assert any(record.stream == "b" for record in world.records)
    one = [record async for record in read(source, "b")]
    assert one == sorted((record for record in world.records if record.stream == "b"), key=one.index)


async def test_an_answer_without_a_number_is_no_event_of_its_stream(namespace: Namespace) -> None:
    namespace.create_topics(partitions=1)
    refused = WalletCommandRefused(accounts=(), account_id="north", command_id="c-1", code="enough_coins")
    answer = Envelope(id="c-1", type=CE_TYPES[type(refused)], source="/spades/wallet", subject="north")
    async with AIOKafkaProducer(bootstrap_servers=namespace.bootstrap) as producer:
        topic = namespace.topic(Topic.WALLET_EVENTS)
        await producer.send_and_wait(topic, encode(refused), key=b"north", headers=headers_of(answer))
    assert [record async for record in read(f"kafka://{namespace.bootstrap}/{namespace.topic_prefix}")] == []


async def test_a_kafka_that_is_not_there_is_no_source() -> None:
    with pytest.raises(NoSource):
        _ = [record async for record in read("kafka://127.0.0.1:1/spades.")]


async def test_a_deployment_that_is_not_there_is_no_source(namespace: Namespace) -> None:
    with pytest.raises(NoSource):
        _ = [record async for record in read(f"kafka://{namespace.bootstrap}/nobody.")]
