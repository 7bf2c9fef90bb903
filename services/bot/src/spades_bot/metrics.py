"""What the bot tells Prometheus."""

from prometheus_client import Counter, Histogram

PROMPTS = Counter("spades_bot_prompts_total", "Prompts read", ["outcome"])
"""answered | too_old | parked"""
COMMANDS_FAILED = Counter("spades_bot_commands_failed_total", "Moves that Kafka did not take; the table's guard plays")
JUDGEMENT = Histogram(
    "spades_bot_judgement_seconds",
    "Judging one prompt",
    buckets=(0.0001, 0.0002, 0.0003, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05),
)
LATENESS = Histogram(
    "spades_bot_lateness_seconds",
    "From the moment a move was due to Kafka's acknowledgement",
    buckets=(0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3, 10),
)
