"""The clock's knobs: those of every process. RuntimeSettings.interval_ms is how often deadlines are saved."""

from spades_runtime import RuntimeSettings


class ClockSettings(RuntimeSettings):
    """All have the prefix `SPADES_`."""

    service: str = "clock"
