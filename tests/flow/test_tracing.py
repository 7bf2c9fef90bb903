"""One trace from the request to what a viewer is shown, told to a collector in this process."""

import secrets
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spades_local.testing import Namespace
from spades_runtime import tracing
from spades_runtime.schema import quoted
from tests.lobby.player import Player
from tests.processes import ServiceProcess

LIMIT_S = 60.0


class Told(NamedTuple):
    """One span."""

    trace_id: str
    span_id: str
    parent_id: str
    service: str
    name: str


class Collector:
    """What an OpenTelemetry collector is to a service: POST /v1/traces."""

    def __init__(self) -> None:
        self.spans: list[Told] = []
        self._news = threading.Condition()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                collector.take_in(ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.send_header("content-type", "application/x-protobuf")
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def serving(self) -> Iterator["Collector"]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def take_in(self, request: ExportTraceServiceRequest) -> None:
        with self._news:
            for resource in request.resource_spans:
                named = {one.key: one.value.string_value for one in resource.resource.attributes}
                for scope in resource.scope_spans:
                    for span in scope.spans:
                        ids = span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex()
                        self.spans.append(Told(*ids, named["service.name"], span.name))
            self._news.notify_all()

    def of_trace(self, trace_id: str, wanted: set[tuple[str, str]]) -> list[Told]:
        """The spans of a trace, once all the wanted (service, name) are there."""

        def found() -> list[Told] | None:
            told = [span for span in self.spans if span.trace_id == trace_id]
            return told if wanted <= {(span.service, span.name) for span in told} else None

        with self._news:
            told = self._news.wait_for(found, LIMIT_S)
            assert told, [(span.service, span.name) for span in self.spans if span.trace_id == trace_id]
            return told


@pytest.mark.real
async def test_one_trace_leads_from_the_request_to_the_fan_out(namespace: Namespace, tmp_path: Path) -> None:
    namespace.create_topics(partitions=2)
    namespace.migrate("table", "lobby")
    with ExitStack() as running:
        collector = running.enter_context(Collector().serving())
        for name in ("table", "lobby"):
            env = namespace.service_env(name, SPADES_OTLP_ENDPOINT=collector.address)
            running.enter_context(ServiceProcess(name, env, tmp_path / name))
        trace_id = secrets.token_hex(16)
        async with Player(f"http://127.0.0.1:{env['SPADES_LOBBY_PORT']}") as ann:
            await ann.guest()
            table_id = await ann.open_table()
            socket = await ann.socket()
            await socket.watch(table_id)
            ann.http.headers["traceparent"] = f"00-{trace_id}-{secrets.token_hex(8)}-01"
            answer = await ann.http.put(f"/v1/tables/{table_id}/seats/0")
            assert answer.status_code == 200, answer.text
            await socket.until("seat_taken")
            await socket.close()
        told = collector.of_trace(
            trace_id,
            {
                ("spades-lobby", "HTTP PUT"),
                ("spades-lobby", "send spades.take_seat.v1"),
                ("spades-table", "answer"),
                ("spades-lobby", "fan out"),
            },
        )
    by_name = {span.name: span for span in told}
    sent = by_name["send spades.take_seat.v1"]
    assert sent.parent_id == by_name["HTTP PUT"].span_id
    assert by_name["answer"].parent_id == by_name["fan out"].parent_id == sent.span_id
    # The answer keeps it: a process that publishes it after a crash continues the same trace.
    stored = f"00-{trace_id}-{sent.span_id}-01"
    [events] = _answers_with(namespace, stored)
    assert '"spades.seat_taken.v1"' in events


def _answers_with(namespace: Namespace, traceparent: str) -> list[str]:
    database = namespace.databases["table"]
    with psycopg.connect(database.app_url, autocommit=True) as db:
        db.execute(f"SET search_path = {quoted(database.schema)}")
        rows = db.execute("SELECT events FROM answer WHERE traceparent = %s", [traceparent]).fetchall()
        return [str(row[0]) for row in rows]


def test_without_a_collector_nothing_is_traced() -> None:
    async def app(scope: object, receive: object, send: object) -> None:
        return

    assert not tracing.is_on()
    assert tracing.sent("spades.take_seat.v1", "t-1") is None
    assert tracing.traced(app) is app
