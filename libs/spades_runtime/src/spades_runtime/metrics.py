"""What a worker tells Prometheus. No label carries an id: their number stays bounded."""

from prometheus_client import Counter, Gauge, Histogram

_FINE_S = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

POLL_RECORDS = Histogram(
    "spades_poll_records", "Records judged in one poll", buckets=(1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000)
)
DECIDE_SECONDS = Histogram("spades_decide_seconds", "Judging one poll", buckets=_FINE_S)
COMMIT_SECONDS = Histogram("spades_commit_seconds", "Writing one poll's effects", buckets=_FINE_S)
LAG_SECONDS = Histogram("spades_lag_seconds", "Age of a poll's oldest record when it is judged", buckets=_FINE_S)
DECISIONS = Counter("spades_decisions_total", "Answers committed", ["kind"])
PUBLISHED = Counter("spades_published_total", "Records handed to the producer")
PARKED = Counter("spades_parked_total", "Records set aside", ["topic"])
TAKES = Counter("spades_takes_total", "Partitions taken: their epoch moved")
FENCED = Counter("spades_fenced_total", "Commits refused because another process owns the partition")
RETAKES = Counter("spades_retakes_total", "Times all state was dropped because an outcome was unknown")
RECALLS = Counter("spades_recalls_total", "Polls judged again because a command had been answered before")
OUTAGES = Counter("spades_outages_total", "Outages of a partition that were given back")
OFFSETS_LOST = Counter("spades_offsets_lost_total", "Stored offsets beyond the end of their partition")
OWNED = Gauge("spades_partitions_owned", "Partitions this process may write")
IN_FLIGHT = Gauge("spades_publish_in_flight", "Committed batches not yet acknowledged by Kafka")
ALIVE_AT = Gauge("spades_alive_at_seconds", "Unix time of the oldest partition heartbeat")
STEPPED_OVER = Counter("spades_records_stepped_over", "Records that could not be decoded at all", ["topic"])
