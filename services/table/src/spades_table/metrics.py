"""What the table tells Prometheus beside the worker's own figures. No label carries an id."""

from prometheus_client import Counter, Gauge

LIVE = Gauge("spades_tables_live", "Tables in memory of this process")
TIMED_OUT = Counter("spades_table_timed_out_total", "Deadlines that ran out", ["kind"])
DEFERRED = Counter("spades_table_deferred_total", "Timeouts put off to the next poll")
HANDS = Counter("spades_table_hands_dealt_total", "Hands dealt")
ENDED = Counter("spades_table_ended_total", "Tables that are over", ["reason"])
REFUSED = Counter("spades_table_refused_total", "Commands refused", ["code"])
UNREADABLE = Counter("spades_table_unreadable_total", "Tables whose seal could not be opened")
CORRUPT = Counter("spades_table_corrupt_total", "Tables whose history cannot be folded")
