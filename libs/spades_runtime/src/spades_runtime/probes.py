"""What the platform asks a process: does it live, is it ready, what does it measure.

/healthz   200 while the loop turns; else the platform should restart the process
/readyz    200 when it serves; else 503 with the reason in words
/metrics   Prometheus text
/admin/…   what the service lets operators do
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route

from spades_runtime.operators import OperatorsOnly


class Probes:
    """The answers; whoever runs sets the two questions."""

    def __init__(self) -> None:
        self.is_healthy: Callable[[], bool] = lambda: True
        self.problem: Callable[[], str | None] = lambda: "starting"
        """Why the process is not ready, in words for an operator; None when it is."""
        self.operated: OperatorsOnly | None = None
        """What operators may do here; None until the service says so."""

    def app(self) -> Starlette:
        """The ASGI application, to serve alone or to mount."""
        return Starlette(
            routes=[
                Route("/healthz", self._healthz),
                Route("/readyz", self._readyz),
                Route("/metrics", self._metrics),
                Mount("/admin", self._admin),
            ]
        )

    async def _healthz(self, _: Request) -> Response:
        return PlainTextResponse("ok\n") if self.is_healthy() else PlainTextResponse("stuck\n", 503)

    async def _readyz(self, _: Request) -> Response:
        problem = self.problem()
        return PlainTextResponse("ready\n") if problem is None else PlainTextResponse(f"{problem}\n", 503)

    async def _admin(self, scope: Any, receive: Any, send: Any) -> None:
        app = self.operated or PlainTextResponse("nothing here\n", 404)
        await app(scope, receive, send)

    async def _metrics(self, _: Request) -> Response:
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


class _Server(uvicorn.Server):
    """Uvicorn without signal handlers: the process has its own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def served(probes: Probes, host: str, port: int) -> AsyncIterator[int]:
    """Serve the probes while the block runs; yields the port. Raises OSError where the port is taken."""
    listening = socket.create_server((host, port))
    server = _Server(
        uvicorn.Config(probes.app(), log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=1)
    )
    task = asyncio.create_task(server.serve([listening]), name="probes")
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        await task
