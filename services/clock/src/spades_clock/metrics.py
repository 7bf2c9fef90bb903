"""What the clock tells Prometheus."""

from prometheus_client import Counter, Gauge, Histogram

LATENESS = Histogram(
    "spades_timer_lateness_seconds",
    "From a deadline to its first timeout, by the tables' clock",
    buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 60),
)
FIRED = Counter("spades_timeouts_total", "Timeouts published", ["which"])
TABLES = Gauge("spades_clock_tables", "Tables known")
LEAD = Gauge("spades_clock_lead_seconds", "How far our clock is ahead of the tables', the partition farthest off")
