"""The Kafka topics: who keys, writes and keeps what.

The partition count is one for all topics and fixed for life: partition n of every
topic then holds the same tables, so one member owns a table's whole traffic.
"""

from dataclasses import dataclass
from enum import StrEnum

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS

PARTITIONS_LOCAL = 8


class Topic(StrEnum):
    """Topic names without the deployment's prefix (`spades.` by default)."""

    TABLE_COMMANDS = "table.commands"
    TABLE_EVENTS = "table.events"
    TABLE_PRIVATE = "table.private"
    TABLE_PROMPTS = "table.prompts"
    CLOCK_EVENTS = "clock.events"
    WALLET_COMMANDS = "wallet.commands"
    WALLET_EVENTS = "wallet.events"
    LOBBY_EVENTS = "lobby.events"
    PARKED = "parked"


@dataclass(frozen=True, kw_only=True, slots=True)
class TopicSpec:
    """How one topic is created; `retention_ms` -1 keeps without limit."""

    topic: Topic
    key: str
    retention_ms: int
    segment_ms: int | None = None


# Public facts stay without limit until an archive exists; what holds a seat's own
# cards goes within the hour, in short segments so that deletion is not late.
SPECS: tuple[TopicSpec, ...] = (
    TopicSpec(topic=Topic.TABLE_COMMANDS, key="table", retention_ms=DAY_MS),
    TopicSpec(topic=Topic.TABLE_EVENTS, key="table", retention_ms=-1),
    TopicSpec(topic=Topic.TABLE_PRIVATE, key="table", retention_ms=HOUR_MS, segment_ms=HOUR_MS // 6),
    TopicSpec(topic=Topic.TABLE_PROMPTS, key="table", retention_ms=HOUR_MS, segment_ms=HOUR_MS // 6),
    TopicSpec(topic=Topic.CLOCK_EVENTS, key="table", retention_ms=DAY_MS),
    TopicSpec(topic=Topic.WALLET_COMMANDS, key="account", retention_ms=DAY_MS),
    TopicSpec(topic=Topic.WALLET_EVENTS, key="table or account", retention_ms=-1),
    TopicSpec(topic=Topic.LOBBY_EVENTS, key="table, account or gateway", retention_ms=30 * DAY_MS),
    TopicSpec(topic=Topic.PARKED, key="source key", retention_ms=30 * DAY_MS),
)
