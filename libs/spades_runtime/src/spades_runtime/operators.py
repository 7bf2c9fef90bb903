"""Who may act on the admin port: operators by name, each with a token of their own.

SPADES_OPERATORS_FILE names a file of lines `NAME SHA256-OF-THE-TOKEN`; it is read at every call, so
that a line added or taken out counts at once. Without the file every call is refused.
"""

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, Final

from spades_runtime import logging

_log = logging.get(__name__)

_LINE: Final = re.compile(r"([a-z0-9][a-z0-9_.-]{0,39})[ \t]+([0-9a-f]{64})")
ACTOR_PREFIX: Final = "operator:"
"""No account's id begins so: an operator's name is none a player can have."""

App = Callable[
    [MutableMapping[str, Any], Callable[[], Awaitable[Any]], Callable[[MutableMapping[str, Any]], Awaitable[None]]],
    Awaitable[None],
]


def new_operator(name: str) -> tuple[str, str]:
    """Return a token, and the line of the file that lets its holder in. Raises ValueError for no name."""
    token = secrets.token_urlsafe(32)
    line = f"{name} {_digest(token)}"
    if not _LINE.fullmatch(line):
        raise ValueError("a name has 1 to 40 of a-z 0-9 _ . -")
    return token, line


def name_of(file: Path, token: str) -> str | None:
    """Whose token this is. Raises OSError where the file cannot be read."""
    digest = _digest(token)
    found = None
    for line in file.read_text("utf-8").splitlines():
        match = _LINE.fullmatch(line.strip())
        if match is not None and hmac.compare_digest(match[2], digest):
            found = match[1]
    return found


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def actor_of(scope: MutableMapping[str, Any]) -> str:
    """As whom the caller of an admitted request acts: `operator:NAME`."""
    return f"{ACTOR_PREFIX}{scope['spades.operator']}"


class OperatorsOnly:
    """ASGI middleware: lets operators in, and logs each call with its operator."""

    def __init__(self, app: App, file: Path | None) -> None:
        self._app = app
        self._file = file

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            # No sockets here: the server refuses the handshake.
            await send({"type": "websocket.close"})
            return
        try:
            name = self._admitted(scope)
        except (OSError, UnicodeDecodeError) as error:
            _log.error("operators_unreadable", error=type(error).__name__)
            await _refuse(send, 503, "operators_unreadable")
            return
        if name is None:
            _log.warning("operator_refused", path=scope["path"])
            code = "no_operators" if self._file is None else "not_an_operator"
            await _refuse(send, 403 if self._file is None else 401, code)
            return
        _log.info("operator_call", operator=name, method=scope["method"], path=scope["path"])
        scope["spades.operator"] = name
        await self._app(scope, receive, send)

    def _admitted(self, scope: MutableMapping[str, Any]) -> str | None:
        given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        scheme, _, token = given.decode("latin-1").partition(" ")
        if self._file is None or scheme.lower() != "bearer":
            return None
        return name_of(self._file, token.strip())


async def _refuse(send: Any, status: int, code: str) -> None:
    headers = [(b"content-type", b"application/problem+json")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    body = json.dumps({"type": f"urn:spades:problem:{code}", "status": status, "code": code}).encode()
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
