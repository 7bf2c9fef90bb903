"""Every topic of the system, with one partition count for all, kept as long as it must be."""

import asyncio
import contextlib

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError, TopicAlreadyExistsError, for_code

from spades_events.topics import DAY_MS, SPECS, TopicSpec
from spades_local.problems import NotReady, PartitionsDiffer

VISIBLE_LIMIT_S = 20.0


def names(prefix: str) -> tuple[str, ...]:
    """The topics' full names."""
    return tuple(prefix + spec.topic for spec in SPECS)


async def create(bootstrap: str, prefix: str, partitions: int) -> None:
    """Make the topics that are missing; raises PartitionsDiffer if one has another count."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        await admin.start()
        wanted = [
            NewTopic(
                name=prefix + spec.topic,
                num_partitions=partitions,
                replication_factor=1,
                topic_configs=_settings(spec),
            )
            for spec in SPECS
        ]
        answer = await admin.create_topics(wanted)
        for topic, code, *words in answer.topic_errors:
            if code not in (0, TopicAlreadyExistsError.errno):
                raise NotReady(f"Kafka refused to make the topic {topic}: {for_code(code)} {words}")
        await _await_visible(admin, prefix, partitions)
        await _await_coordinator(admin)
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
        if len(counts) == len(SPECS):
            return
        await asyncio.sleep(0.05)
    raise NotReady(f"Kafka did not show the topics of {prefix!r} within {VISIBLE_LIMIT_S:g} s.")


async def _await_coordinator(admin: AIOKafkaAdminClient) -> None:
    """Wait until groups can be joined: Kafka makes the topic of their offsets only when first asked for one.

    The services would wait for it too, but each with an error in its log.
    """
    deadline_s = asyncio.get_running_loop().time() + VISIBLE_LIMIT_S
    while asyncio.get_running_loop().time() < deadline_s:
        with contextlib.suppress(KafkaError):
            await admin.find_coordinator("spades")
            return
        await asyncio.sleep(0.05)


def _settings(spec: TopicSpec) -> dict[str, str]:
    settings = {"retention.ms": str(spec.retention_ms), "cleanup.policy": "delete"}
    if spec.segment_ms is not None:
        settings["segment.ms"] = str(spec.segment_ms)
    elif spec.retention_ms > 0:
        # Only closed segments are deleted, so a segment lasts a sixth of the time at most.
        settings["segment.ms"] = str(min(spec.retention_ms // 6, DAY_MS))
    return settings
