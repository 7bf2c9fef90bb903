"""Traces, where an OTLP address is set: from the request, by the command, to what viewers are shown.

A command carries `traceparent`; its stored answer keeps it, so whoever publishes the answer, also
after a crash, continues the same trace. Without an address every function here returns at once and
nothing of OpenTelemetry is imported. No span says more than types and a stream's id.
"""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar, cast

from spades_runtime.settings import RuntimeSettings

if TYPE_CHECKING:
    from spades_runtime.otlp import Spans

_AppT = TypeVar("_AppT")

_spans: "Spans | None" = None


def start(settings: RuntimeSettings) -> None:
    """Trace from now on, if the settings name a collector."""
    global _spans
    if settings.otlp_endpoint:
        from spades_runtime.otlp import Spans

        _spans = Spans(settings.otlp_endpoint, settings.service, settings.trace_share)


def stop() -> None:
    """Send what is left, and trace no more."""
    global _spans
    spans, _spans = _spans, None
    if spans is not None:
        spans.stop()


def is_on() -> bool:
    return _spans is not None


def now_ns() -> int:
    return time.time_ns()


def sent(name: str, stream: str) -> str | None:
    """A command goes out: the `traceparent` that it carries, None while nothing is traced."""
    return None if _spans is None else _spans.sent(name, stream)


def followed(name: str, traceparents: Iterable[tuple[str | None, str]], started_ns: int) -> None:
    """Something was done, since `started_ns`, for the commands with these (traceparent, stream)."""
    if _spans is not None:
        _spans.followed(name, traceparents, started_ns)


def traced(app: _AppT) -> _AppT:
    """The ASGI application with a span around each HTTP request; itself where nothing is traced."""
    return app if _spans is None else cast(_AppT, _spans.traced(app))
