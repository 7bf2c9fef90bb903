"""What every HTTP request passes: bounds, origin, rate, headers of safety; and what fails comes out as a problem."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

import msgspec
import structlog
from aiokafka.errors import KafkaError
from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import Headers, MutableHeaders

from spades_lobby import metrics, problems
from spades_lobby.live.desk import SendFailed
from spades_lobby.origins import Origins
from spades_lobby.problems import Problem
from spades_lobby.rates import Rates
from spades_lobby.settings import LobbySettings

log = structlog.get_logger()

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

BODY_S: Final = 10.0
"""A body of at most 16 KiB has to be here by then."""
HEADERS_BYTES_MAX: Final = 16 * 1_024
_UNSAFE: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
}
_API_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}


class Guard:
    """ASGI middleware around the whole HTTP application."""

    def __init__(self, app: App, settings: LobbySettings, rates: Rates) -> None:
        self._app = app
        self._settings = settings
        self._origins = Origins(settings)
        self._rates = rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        ref = secrets.token_hex(8)
        scope["spades.ref"] = ref
        started = finished = False

        async def told(message: Message) -> None:
            nonlocal started, finished
            if message["type"] == "http.response.start":
                started = True
                self._dress(scope, message, ref)
            elif message["type"] == "http.response.body":
                finished = not message.get("more_body", False)
            await send(message)

        with structlog.contextvars.bound_contextvars(ref=ref):
            try:
                await self._app(scope, await self._admitted(scope, receive), told)
            except Exception as error:
                if not started:
                    await problems.response(problem_of(error), ref)(scope, receive, told)
                elif not finished:
                    # The answer has begun: all that is left is to break it off.
                    raise

    async def _admitted(self, scope: Scope, receive: Receive) -> Receive:
        """The request's body, whole and within bounds. Raises Problem."""
        headers = Headers(scope=scope)
        if sum(len(name) + len(value) for name, value in scope["headers"]) > HEADERS_BYTES_MAX:
            raise Problem(431, "too_large", f"Headers have at most {HEADERS_BYTES_MAX} bytes.")
        self._rates.request(address_of(scope))
        if scope["method"] not in _UNSAFE:
            return receive
        if not self._origins.allow(headers.get("origin"), headers.get("host", "")):
            raise Problem(403, "origin_refused", "This origin may not send requests.")
        body = await self._body(headers, receive)
        if body and headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise Problem(415, "json_only", "A body has to be application/json.")
        if body:
            _check_json(body)
        given = False

        async def again() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        return again

    async def _body(self, headers: Headers, receive: Receive) -> bytes:
        limit = self._settings.lobby_body_bytes_max
        if headers.get("content-encoding", "identity") != "identity":
            raise Problem(415, "not_encoded", "A body may not be compressed.")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > limit:
            raise Problem(413, "too_large", f"A body has at most {limit} bytes.")
        chunks: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(BODY_S):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Problem(400, "cut_off", "The body was cut off.")
                    chunk: bytes = message.get("body", b"")
                    size += len(chunk)
                    if size > limit:
                        raise Problem(413, "too_large", f"A body has at most {limit} bytes.")
                    chunks.append(chunk)
                    if not message.get("more_body", False):
                        return b"".join(chunks)
        except TimeoutError:
            raise Problem(408, "too_slow", "The body did not come in time.") from None

    def _dress(self, scope: Scope, message: Message, ref: str) -> None:
        metrics.REQUESTS.labels(
            method=scope["method"] if scope["method"] in _METHODS else "other",
            status=str(message["status"]),
        ).inc()
        headers = MutableHeaders(scope=message)
        headers["X-Request-Id"] = ref
        for name, value in _HEADERS.items():
            headers.setdefault(name, value)
        for name, value in _API_HEADERS.items():
            headers.setdefault(name, value)
        if self._settings.secure:
            headers.setdefault("Strict-Transport-Security", "max-age=31536000")


def _check_json(body: bytes) -> None:
    """Refuse what Python's own reader lets pass: NaN, lone surrogates, a depth that ends the process."""
    try:
        msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise Problem(400, "malformed", "The body is not JSON.") from None


_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", *_UNSAFE})


def address_of(scope: Scope) -> str:
    """The client's address; behind a trusted proxy the one it names."""
    client = scope.get("client")
    return client[0] if client else "unknown"


def problem_of(error: Exception) -> Problem:
    match error:
        case Problem():
            return error
        case SQLAlchemyError() | KafkaError() | SendFailed() | OSError():
            # Also a timeout: what we stand on does not answer.
            log.warning("request_not_served", error=type(error).__name__)
            return Problem(
                503,
                "unavailable",
                "Not possible right now; try again.",
                headers={"Retry-After": "1"},
            )
        case _:
            metrics.ERRORS.inc()
            log.error("request_failed", exc_info=error)
            return Problem(500, "internal", "That is our fault; the ref helps us find it.")
