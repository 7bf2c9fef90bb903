"""Spans to an OpenTelemetry collector. Only `tracing` uses this, and imports it only where traces are wanted."""

from collections.abc import Iterable, MutableMapping
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

EXPORT_EVERY_MS: Final = 1_000
EXPORT_LIMIT_S: Final = 2
"""A collector that does not answer holds up no end of a process for longer."""

_propagator: Final = TraceContextTextMapPropagator()


class Spans:
    """Makes this process's spans, and sends them in the background."""

    def __init__(self, endpoint: str, service: str, share: float) -> None:
        self._provider = TracerProvider(
            resource=Resource.create({SERVICE_NAME: f"spades-{service}"}),
            sampler=ParentBased(TraceIdRatioBased(share)),
            shutdown_on_exit=False,
        )
        exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=EXPORT_LIMIT_S)
        self._provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=EXPORT_EVERY_MS))
        self._tracer = self._provider.get_tracer("spades")

    def stop(self) -> None:
        """Send what is left."""
        self._provider.shutdown()

    def sent(self, name: str, stream: str) -> str | None:
        span = self._tracer.start_span(f"send {name}", kind=SpanKind.PRODUCER, attributes={"spades.stream": stream})
        carrier: dict[str, str] = {}
        _propagator.inject(carrier, trace.set_span_in_context(span))
        span.end()
        return carrier.get("traceparent")

    def followed(self, name: str, traceparents: Iterable[tuple[str | None, str]], started_ns: int) -> None:
        for traceparent, stream in traceparents:
            if traceparent is not None:
                span = self._tracer.start_span(
                    name,
                    context=_parent(traceparent),
                    kind=SpanKind.CONSUMER,
                    start_time=started_ns,
                    attributes={"spades.stream": stream},
                )
                span.end()

    def traced(self, app: Any) -> Any:
        async def serve(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
            found = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope.get("headers", ())}
            # The path would name tables and people; which route it was says the command below it.
            name, parent = f"HTTP {scope.get('method', '')}", _parent(found.get("traceparent"))
            with self._tracer.start_as_current_span(name, context=parent, kind=SpanKind.SERVER):
                await app(scope, receive, send)

        return serve


def _parent(traceparent: str | None) -> Context:
    return _propagator.extract({} if traceparent is None else {"traceparent": traceparent}, Context())
