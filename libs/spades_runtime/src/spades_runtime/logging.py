"""Structured logs: one event and its keys a line, JSON for machines, words for a terminal.

Never a body, a key or a card in one: log where a record is (topic, partition, offset), not what it says.
"""

import logging
import sys
import time
from collections.abc import Callable
from typing import Any

import structlog

from spades_runtime.settings import RuntimeSettings

# aiokafka tells every rebalance and every refused connection, at length.
_CHATTY = {"aiokafka": logging.WARNING, "kafka": logging.WARNING, "uvicorn": logging.WARNING}


REPEATED_EVERY_S = 10.0
"""A library's message that repeats itself is told so often: an outage is a few lines, not thousands."""


class OncePer(logging.Filter):
    """Lets each message of a library through once in a while, whatever its arguments."""

    def __init__(self, every_s: float, now_s: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._every_s = every_s
        self._now_s = now_s
        self._told_s: dict[tuple[str, int], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        now_s = self._now_s()
        # The place, not the text: an argument may be part of the message already.
        place = (record.pathname, record.lineno)
        if now_s - self._told_s.get(place, -self._every_s) < self._every_s:
            return False
        self._told_s[place] = now_s
        return True


def configure(settings: RuntimeSettings) -> None:
    """Send our logs and those of the libraries to standard output in one form."""
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if settings.log_format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stdout.isatty())
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(service=settings.service, member=settings.member_name)
    handler = logging.StreamHandler(sys.stdout)
    once = OncePer(REPEATED_EVERY_S)
    handler.addFilter(lambda record: not record.name.startswith("aiokafka") or once.filter(record))
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name, least in _CHATTY.items():
        logging.getLogger(name).setLevel(max(level, least))


def get(name: str) -> Any:
    """Return the logger of a module."""
    return structlog.get_logger(name)
