"""A worker's part of the admin port: what it has set aside, and judging it again.

GET  /admin/parked?after=&limit=                  places, reasons, marks; no content, no header
POST /admin/parked/TOPIC/PARTITION/OFFSET/redrive
"""

import asyncio
from typing import Any, Final

import psycopg
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from spades_runtime import database, parking
from spades_runtime.errors import NotReady
from spades_runtime.operators import OperatorsOnly, actor_of
from spades_runtime.parking import Place
from spades_runtime.redriving import Outcome
from spades_runtime.settings import RuntimeSettings
from spades_runtime.worker import PartitionWorker

LIMIT: Final = 100
LIMIT_MAX: Final = 1_000
REDRIVE_LIMIT_S: Final = 30.0
_STATUS: Final = {
    Outcome.REDRIVEN: 200,
    Outcome.ALREADY: 200,
    Outcome.NOT_FOUND: 404,
    Outcome.NOT_HERE: 409,
    Outcome.MISPLACED: 409,
    Outcome.GONE: 410,
    Outcome.SET_ASIDE_AGAIN: 422,
    Outcome.UNKNOWN: 504,
}


def app(worker: PartitionWorker, settings: RuntimeSettings) -> OperatorsOnly:
    """The ASGI application, for operators only."""
    made = Starlette(
        routes=[
            Route("/parked", _List(settings).list),
            Route("/parked/{topic}/{part:int}/{offset:int}/redrive", _Redrive(worker).redrive, methods=["POST"]),
        ]
    )
    return OperatorsOnly(made, settings.operators_file)


class _List:
    def __init__(self, settings: RuntimeSettings) -> None:
        self._settings = settings

    async def list(self, request: Request) -> JSONResponse:
        try:
            after = _place_of(request.query_params.get("after"))
            limit = int(request.query_params.get("limit", LIMIT))
        except ValueError:
            return _problem(400, "malformed")
        if not 1 <= limit <= LIMIT_MAX:
            return _problem(400, "malformed")
        try:
            # Not the worker's own connection, which is in use.
            db = await database.connect(self._settings)
            try:
                found = await parking.listed(db, after, limit)
            finally:
                await db.close()
        except (psycopg.Error, NotReady):
            return _problem(503, "unavailable")
        last = found[-1].row if len(found) == limit else None
        return JSONResponse(
            {
                "parked": [_shown(one) for one in found],
                "next": last and f"{last.topic}:{last.part}:{last.offset}",
            }
        )


class _Redrive:
    def __init__(self, worker: PartitionWorker) -> None:
        self._worker = worker

    async def redrive(self, request: Request) -> JSONResponse:
        given = request.path_params
        if given["offset"] >= 2**63 or given["part"] >= 2**31:
            return _problem(404, Outcome.NOT_FOUND)
        place = Place(given["topic"], given["part"], given["offset"])
        try:
            async with asyncio.timeout(REDRIVE_LIMIT_S):
                outcome = await self._worker.redriver.redrive(place, actor_of(request.scope))
        except TimeoutError:
            return _problem(504, Outcome.UNKNOWN)
        except OverflowError:
            return _problem(429, "rate_limited")
        status = _STATUS[outcome]
        return JSONResponse({"outcome": outcome}) if status == 200 else _problem(status, outcome)


def _place_of(text: str | None) -> Place | None:
    if text is None:
        return None
    topic, part, offset = text.split(":")
    place = Place(topic, int(part), int(offset))
    if "\x00" in topic or not 0 <= place.part < 2**31 or not 0 <= place.offset < 2**63:
        raise ValueError
    return place


def _shown(one: parking.Listed) -> dict[str, Any]:
    row = one.row
    return {
        "topic": row.topic,
        "partition": row.part,
        "offset": row.offset,
        "stream": None if row.key is None else row.key[:80].decode("utf-8", "replace"),
        "reason": row.reason,
        "payload": row.form,
        "quarantined": row.quarantined,
        "at_ms": row.at_ms,
        "redriven_by": one.redriven_by,
        "redriven_ms": one.redriven_ms,
    }


def _problem(status: int, code: str) -> JSONResponse:
    body = {"type": f"urn:spades:problem:{code}", "status": status, "code": code}
    return JSONResponse(body, status, media_type="application/problem+json")
