"""Events of the clock (`clock.events`, key: table id)."""

import msgspec


class TimedOut(msgspec.Struct, frozen=True, kw_only=True):
    """A deadline passed; repeated each second until the table moves on. The table judges whether it still counts."""

    deadline_id: int
    due_ms: int
