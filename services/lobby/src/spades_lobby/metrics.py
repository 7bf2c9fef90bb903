"""What the gateway counts. No table, account or address in a label."""

from prometheus_client import Counter, Gauge, Histogram

SOCKETS = Gauge("spades_lobby_sockets", "Open WebSockets.")
VIEWERS = Gauge("spades_lobby_viewers", "Sockets that watch a table.")
PARTITIONS_READ = Gauge("spades_lobby_partitions_read", "Partitions that the fan-out reads for somebody here.")
FRAMES_IN = Counter("spades_lobby_frames_in", "Frames read from clients.")
FRAMES_OUT = Counter("spades_lobby_frames_out", "Frames written to clients.")
OVERFLOWS = Counter("spades_lobby_overflows", "Readers that were too slow for their table.")
REJECTIONS = Counter("spades_lobby_rejections", "Commands that a table refused.", ["code"])
UNKNOWN = Counter("spades_lobby_outcomes_unknown", "Commands whose answer did not come in time.")
ANSWER_SECONDS = Histogram(
    "spades_lobby_answer_seconds",
    "From a command's sending to its answer.",
    buckets=(0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0),
)
PROJECTED = Counter("spades_lobby_projected", "Records taken into the read model.", ["topic"])
PROJECTION_STALLED = Counter("spades_lobby_projection_stalled", "Streams whose events the read model cannot read.")
REQUESTS = Counter("spades_lobby_requests", "HTTP requests.", ["method", "status"])
ERRORS = Counter("spades_lobby_errors", "Requests that failed by a fault of ours.")
