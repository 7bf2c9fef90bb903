"""The public port's ASGI application: the REST interface, the sockets, the page."""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, Final

from aiokafka.errors import KafkaError
from fastapi import FastAPI, Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import JSONResponse, PlainTextResponse, Response

from spades_lobby import asyncapi, problems
from spades_lobby.live.desk import SendFailed
from spades_lobby.problems import Problem
from spades_lobby.rest import (
    bodies,
    routes_games,
    routes_people,
    routes_queue,
    routes_statistics,
    routes_tables,
    routes_tokens,
    routes_wallet,
)
from spades_lobby.rest.gateway import ASKS_WHO, Gateway
from spades_lobby.rest.guard import App, Guard, problem_of
from spades_lobby.rest.routes_tables import KEY_HEADER
from spades_lobby.rest.web import Page
from spades_runtime import tracing
from spades_runtime.probes import Probes

SOCKET_PATH: Final = "/v1/ws"
FRAMES_PATH: Final = "/v1/asyncapi.json"
_WHY_A_KEY: Final = "the same key again is the same request, and a repeated one does nothing twice."

_NOUNS: Final = (routes_people, routes_tokens, routes_tables, routes_queue, routes_wallet, routes_games)
_ROUTERS: Final = [noun.router for noun in (*_NOUNS, routes_statistics)]
_PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    status: {
        "model": bodies.ProblemView,
        "description": words,
    }
    for status, words in (("4XX", "Refused, with its reason."), ("5XX", "Not possible right now."))
}
_ABOUT: Final = (
    "Guests and accounts, tables, coins, finished games. Playing goes over the WebSocket at "
    f"`{SOCKET_PATH}`, sub-protocol `spades.v1`: get a ticket, say hello, watch a table. Its frames: `{FRAMES_PATH}`."
)
_SCHEMES: Final = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "A program's: a session's `token`, or a personal one.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "spades_session",
        "description": "A browser's; over https `__Host-spades_session`.",
    },
}
_HTTP_CODES: Final = {404: "not_found", 405: "method_not_allowed", 400: "malformed"}


def rest(gateway: Gateway, probes: Probes) -> FastAPI:
    """The REST interface and the page."""
    app = interface()
    app.state.gateway = gateway
    _add_probes(app, probes)
    # Only the page's own files: what holds a secret is not squeezed beside what a stranger chose.
    app.mount("/", GZipMiddleware(Page(gateway.settings.lobby_web_dir), minimum_size=1_000), name="page")
    return app


def interface() -> FastAPI:
    """The REST interface, described; it serves once `app.state.gateway` is set."""
    app = FastAPI(
        title="Spades",
        version="1",
        description=_ABOUT,
        openapi_url="/v1/openapi.json",
        # Their pages load scripts from elsewhere, which the page's policy rightly refuses.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=_PROBLEMS,
        telemetry={"tracing": False, "metrics": False},
        exception_handlers=ON_ERROR,
    )
    for router in _ROUTERS:
        app.include_router(router)
    app.add_route(FRAMES_PATH, _frames, include_in_schema=False)
    app.openapi = lambda: _document(app)  # type: ignore[method-assign]
    return app


async def _frames(_: Request) -> Response:
    """The socket's frames, as an AsyncAPI document."""
    return JSONResponse(await asyncio.to_thread(_frames_document))


@functools.cache
def _frames_document() -> dict[str, Any]:
    return asyncapi.document()


def _add_probes(app: FastAPI, probes: Probes) -> None:
    """The two questions of a load balancer; what is measured stays on the admin port."""

    async def lives(_: Request) -> Response:
        return PlainTextResponse("ok\n", 200 if probes.is_healthy() else 503)

    async def is_ready(_: Request) -> Response:
        # Why not is for operators, on their own port.
        return PlainTextResponse("ok\n", 200 if probes.problem() is None else 503)

    app.add_route("/healthz", lives)
    app.add_route("/readyz", is_ready)


def _document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, with problems under their media type and without answers we never give."""
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        for operations in document["paths"].values():
            for operation in operations.values():
                responses = operation["responses"]
                responses.pop("422", None)
                for status in _PROBLEMS:
                    content = responses[status]["content"]
                    content[problems.MEDIA_TYPE] = content.pop("application/json")
        document["components"]["securitySchemes"] = _SCHEMES
        for route in (route for router in _ROUTERS for route in router.routes):
            if isinstance(route, APIRoute) and _asks_who(route.dependant):
                for method in route.methods or ():
                    document["paths"][route.path][method.lower()]["security"] = [{name: []} for name in _SCHEMES]
        for unused in ("HTTPValidationError", "ValidationError"):
            document["components"]["schemas"].pop(unused, None)
        app.openapi_schema = document
    return app.openapi_schema


def _asks_who(dependant: Dependant) -> bool:
    return dependant.call in ASKS_WHO or any(_asks_who(one) for one in dependant.dependencies)


def application(gateway: Gateway, probes: Probes) -> App:
    """Everything the public port serves."""
    http = tracing.traced(Guard(rest(gateway, probes), gateway.settings, gateway.rates))

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "websocket":
            await http(scope, receive, send)
        elif scope["path"] == SOCKET_PATH:
            await gateway.sockets(scope, receive, send)
        else:
            await gateway.sockets.refuse_path(receive, send)

    return app


async def _on_error(request: Request, error: Exception) -> Response:
    return problems.response(problem_of(error), request.scope["spades.ref"])


async def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _HTTP_CODES.get(error.status_code, "refused")
    problem = (
        problems.not_found()
        if error.status_code == 404
        else Problem(error.status_code, code, "This request is not served.")
    )
    problem.headers.update(error.headers or {})
    return problems.response(problem, request.scope["spades.ref"])


async def _on_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where, *inside = (str(part) for part in first["loc"])
    if (where, *inside) == ("header", KEY_HEADER) and first["type"] == "missing":
        problem = Problem(400, "idempotency_key_required", f"Send an {KEY_HEADER}: {_WHY_A_KEY}")
        return problems.response(problem, request.scope["spades.ref"])
    if where == "path":
        # An id that cannot be one is not there, like any other.
        return problems.response(problems.not_found(), request.scope["spades.ref"])
    field = ".".join(inside) or where
    problem = Problem(422, "malformed", f"{field}: {first['msg']}", field=field)
    return problems.response(problem, request.scope["spades.ref"])


ON_ERROR: Final[dict[int | type[Exception], Callable[[Request, Any], Coroutine[Any, Any, Response]]]] = {
    Problem: _on_error,
    RequestValidationError: _on_invalid,
    HTTPException: _on_http,
    SQLAlchemyError: _on_error,
    KafkaError: _on_error,
    SendFailed: _on_error,
    OSError: _on_error,
    Exception: _on_error,
}
