"""The table's knobs."""

from pydantic import Field

from spades_runtime import RuntimeSettings
from spades_table.house import House, Limits

HOUR_MS = 3_600_000


class TableSettings(RuntimeSettings):
    """All have the prefix `SPADES_`, ours `SPADES_TABLE_`."""

    service: str = "table"

    table_clock_coins_ms: int = Field(default=90_000, ge=100, le=HOUR_MS)
    table_clock_online_ms: int = Field(default=30_000, ge=100, le=HOUR_MS)
    table_computer_speed_ms: int = Field(default=667, ge=10, le=HOUR_MS)
    table_bot_guard_ms: int = Field(default=3_000, ge=100, le=HOUR_MS)
    table_seeds_ms: int = Field(default=5_000, ge=100, le=HOUR_MS)
    table_start_ms: int = Field(default=30_000, ge=100, le=HOUR_MS)
    table_reservation_ms: int = Field(default=30_000, ge=100, le=HOUR_MS)
    table_closing_ms: int = Field(default=900_000, ge=100, le=24 * HOUR_MS)
    table_next_hand_ms: int = Field(default=10_000, ge=10, le=HOUR_MS)
    table_next_hand_practice_ms: int = Field(default=60_000, ge=10, le=HOUR_MS)
    table_idle_ms: int = Field(default=1_800_000, ge=1_000, le=24 * HOUR_MS)

    def house(self) -> House:
        """The house as these knobs set it."""
        return House(
            limits=Limits(
                clock_coins_ms=self.table_clock_coins_ms,
                clock_online_ms=self.table_clock_online_ms,
                computer_speed_ms=self.table_computer_speed_ms,
                bot_guard_ms=self.table_bot_guard_ms,
                seeds_ms=self.table_seeds_ms,
                start_ms=self.table_start_ms,
                reservation_ms=self.table_reservation_ms,
                closing_ms=self.table_closing_ms,
                next_hand_ms=self.table_next_hand_ms,
                next_hand_practice_ms=self.table_next_hand_practice_ms,
                idle_ms=self.table_idle_ms,
            )
        )
