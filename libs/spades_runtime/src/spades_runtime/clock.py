"""The time of a process: the wall clock at its start plus monotonic time since."""

import time
from collections.abc import Callable


class Clock:
    """Milliseconds of Unix time that a jump of the machine's clock does not move."""

    def __init__(
        self,
        wall_ns: Callable[[], int] = time.time_ns,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._monotonic_ns = monotonic_ns
        self._zero_ns = wall_ns() - monotonic_ns()

    def now_ms(self) -> int:
        return (self._zero_ns + self._monotonic_ns()) // 1_000_000
