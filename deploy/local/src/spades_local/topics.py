"""Every topic of the system, with one partition count for all, kept as long as it must be."""

import asyncio
from collections.abc import Mapping

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import (
    KafkaError,
    TopicAlreadyExistsError,
    for_code,
)

from spades_local.problems import NotReady, PartitionsDiffer

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
FOR_EVER_MS = -1

# How long each is kept. The public record of games and money is kept without limit.
RETENTION_MS: Mapping[str, int] = {
    "table.commands": DAY_MS,
    "table.events": FOR_EVER_MS,
    "table.private": HOUR_MS,
    "table.prompts": HOUR_MS,
    "clock.events": DAY_MS,
    "wallet.commands": DAY_MS,
    "wallet.events": FOR_EVER_MS,
    "lobby.events": 30 * DAY_MS,
    "parked": 30 * DAY_MS,
}
VISIBLE_LIMIT_S = 20.0


def names(prefix: str) -> tuple[str, ...]:
    """The topics' full names."""
    return tuple(prefix + name for name in RETENTION_MS)


async def create(bootstrap: str, prefix: str, partitions: int) -> None:
    """Make the topics that are missing; raises PartitionsDiffer if one has another count."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        await admin.start()
        wanted = [
            NewTopic(
                name=prefix + name,
                num_partitions=partitions,
                replication_factor=1,
                topic_configs=_settings(retention_ms),
            )
            for name, retention_ms in RETENTION_MS.items()
        ]
        answer = await admin.create_topics(wanted)
        for topic, code, *words in answer.topic_errors:
            if code not in (0, TopicAlreadyExistsError.errno):
                raise NotReady(f"Kafka refused to make the topic {topic}: {for_code(code)} {words}")
        await _await_visible(admin, prefix, partitions)
    finally:
        await admin.close()


async def delete(bootstrap: str, prefix: str) -> None:
    """Delete the topics of `prefix` that exist; returns when they are gone."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        await admin.start()
        deadline_s = asyncio.get_running_loop().time() + VISIBLE_LIMIT_S
        while there := sorted(set(names(prefix)) & set(await admin.list_topics())):
            if asyncio.get_running_loop().time() > deadline_s:
                raise NotReady(f"Kafka still shows {there} {VISIBLE_LIMIT_S:g} s after deletion.")
            await admin.delete_topics(there)
            await asyncio.sleep(0.02)
    finally:
        await admin.close()


async def _await_visible(admin: AIOKafkaAdminClient, prefix: str, partitions: int) -> None:
    """Wait until every partition has a leader: producers fail on a topic without."""
    deadline_s = asyncio.get_running_loop().time() + VISIBLE_LIMIT_S
    while asyncio.get_running_loop().time() < deadline_s:
        try:
            found = await admin.describe_topics(list(names(prefix)))
        except KafkaError:
            found = []
        counts = {
            topic["topic"]: len(topic["partitions"])
            for topic in found
            if not topic["error_code"]
            and all(part["leader"] >= 0 and not part["error_code"] for part in topic["partitions"])
        }
        wrong = {topic: count for topic, count in counts.items() if count != partitions}
        if wrong:
            raise PartitionsDiffer(
                f"These topics exist with another partition count than {partitions}: {wrong}.\n"
                "The number is fixed for life: set SPADES_PARTITIONS to it, or `make reset`."
            )
        if len(counts) == len(RETENTION_MS):
            return
        await asyncio.sleep(0.05)
    raise NotReady(f"Kafka did not show the topics of {prefix!r} within {VISIBLE_LIMIT_S:g} s.")


def _settings(retention_ms: int) -> dict[str, str]:
    settings = {"retention.ms": str(retention_ms), "cleanup.policy": "delete"}
    if retention_ms != FOR_EVER_MS:
        # Only closed segments are deleted, so a segment lasts a sixth of the time at most.
        settings["segment.ms"] = str(min(retention_ms // 6, DAY_MS))
    return settings
