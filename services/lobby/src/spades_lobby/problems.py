"""What goes wrong, as clients are told: RFC 9457 with a slug in `code`, and never a stack."""

from http import HTTPStatus
from typing import Any, Final

import msgspec
from starlette.responses import Response

from spades_events.private import Rejection

MEDIA_TYPE: Final = "application/problem+json"

_STATUS: Final = {
    "not_found": 404,
    "account_required": 403,
    "not_host": 403,
    "operators_only": 403,
    "not_seated": 403,
    "option_refused": 422,
    "malformed": 422,
    "conflict": 422,
}
"""Status of a table's refusal; the rest are 409: the table is not in a state to do it."""


class Problem(Exception):
    """An answer other than the one that was asked for; `more` is for programs."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        headers: dict[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or {}
        self.more = {name: value for name, value in more.items() if value is not None}


def refusal(rejection: Rejection) -> Problem:
    """A table's refusal as a problem with the same slug."""
    fields = msgspec.to_builtins(rejection)
    code, message = fields.pop("code"), fields.pop("message")
    return Problem(_STATUS.get(code, 409), code, message, **fields)


def not_found() -> Problem:
    """The one answer for what is not there and for what is not the asker's."""
    return Problem(404, "not_found", "There is no such thing, or it is not yours.")


def outcome_unknown() -> Problem:
    return Problem(
        504,
        "outcome_unknown",
        "No answer in time. Send the same request with the same Idempotency-Key to find out.",
    )


def response(problem: Problem, ref: str) -> Response:
    """The problem as an HTTP response; `ref` finds it in our logs."""
    body = {
        "type": f"urn:spades:problem:{problem.code}",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "detail": problem.message,
        "code": problem.code,
        "message": problem.message,
        "ref": ref,
        **problem.more,
    }
    return Response(
        msgspec.json.encode(body),
        status_code=problem.status,
        headers=problem.headers,
        media_type=MEDIA_TYPE,
    )
