"""The gateway's part of the admin port, for operators: drain, games, grants, reports."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, FastAPI, Query, Request, Response
from pydantic import Field

from spades_events.lobby import OperatorActed
from spades_lobby.live import talk
from spades_lobby.operators.operating import Operating
from spades_lobby.problems import not_found
from spades_lobby.rest import bodies, cursors, event_pages, views
from spades_lobby.rest.bodies import Body, View
from spades_lobby.rest.gateway import Gateway
from spades_lobby.rest.guard import Guard
from spades_lobby.rest.public import ON_ERROR
from spades_lobby.rest.routes_people import Lobby
from spades_lobby.rest.routes_tables import Cursor, Key, Limit, NeededKey, TableId
from spades_runtime.operators import OperatorsOnly, actor_of

router = APIRouter()

GRANT_COINS_MAX: Final = 1_000_000_000
REPORTS_AT_ONCE: Final = "reports"

Reason = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]


def _operating(request: Request) -> Operating:
    operating: Operating = request.app.state.operating
    return operating


def _actor(request: Request) -> str:
    return actor_of(request.scope)


Acts = Annotated[Operating, Depends(_operating)]
Actor = Annotated[str, Depends(_actor)]
AccountId = Annotated[str, Query(pattern="^[A-Za-z0-9-]{1,80}$", max_length=80)]


class Cancellation(Body):
    reason: Reason


class Grant(Body):
    account_id: Annotated[str, Field(pattern="^[A-Za-z0-9-]{1,80}$", max_length=80)]
    amount_coins: Annotated[int, Field(ge=1, le=GRANT_COINS_MAX)]
    reason: Reason


class Granted(View):
    account_id: str
    amount_coins: int
    available_coins: int


class Drain(View):
    draining: bool
    sockets: int


class ReportView(View):
    report_id: int
    at_ms: int
    account_id: str
    """Who reported."""
    about_id: str
    table_id: str
    reason: str
    said: list[str]
    """What the reported person said last at that table."""


class ReportList(bodies.Page):
    reports: list[ReportView]


def application(gateway: Gateway) -> OperatorsOnly:
    """The ASGI application; its paths are below `/admin`."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False, exception_handlers=ON_ERROR)
    app.state.gateway = gateway
    app.state.operating = Operating(gateway)
    app.include_router(router)
    return OperatorsOnly(Guard(app, gateway.settings, gateway.rates), gateway.settings.operators_file)


@router.get("/drain")
async def is_draining(gateway: Lobby) -> Drain:
    return Drain(draining=gateway.sockets.draining, sockets=gateway.sockets.count)


@router.post("/drain", status_code=202)
async def drain(gateway: Lobby, acts: Acts, actor: Actor) -> Drain:
    """Send everybody to another gateway: not ready, no new sockets, the open ones close behind their answers."""
    await acts.drain(actor)
    return await is_draining(gateway)


@router.delete("/drain")
async def resume(gateway: Lobby, acts: Acts, actor: Actor) -> Drain:
    """Take people in again."""
    await acts.resume(actor)
    return await is_draining(gateway)


@router.get("/games/{table_id}")
async def one_game(gateway: Lobby, acts: Acts, actor: Actor, table_id: TableId) -> bodies.GameView:
    """A game as the read model has it, also a private one."""
    await acts.note(actor, table_id, OperatorActed(action="look_at_game"))
    game = await gateway.seats.game(table_id)
    if game is None:
        raise not_found()
    return views.game(game, gateway.desk.part_of(table_id), await gateway.names_of(game))


@router.get("/games/{table_id}/events")
async def game_events(
    request: Request,
    gateway: Lobby,
    acts: Acts,
    actor: Actor,
    table_id: TableId,
    after: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
    limit: Limit = 200,
) -> Response:
    """A game as its stream: the public events, no seat's own part."""
    await acts.note(actor, table_id, OperatorActed(action="look_at_game"))
    if await gateway.seats.game(table_id) is None:
        raise not_found()
    return await event_pages.answer(gateway.engine, table_id, after, limit, request.headers.get("accept", ""))


@router.post("/games/{table_id}/cancel")
async def cancel(acts: Acts, actor: Actor, table_id: TableId, body: Cancellation, key: Key = None) -> bodies.Done:
    """End a game or an open table; those who stayed get stake and deposit back."""
    answer = await acts.cancel(actor, table_id, body.reason, key)
    return bodies.Done(table_id=table_id, first_seq=answer.first_version, last_seq=answer.last_version)


@router.post("/grants", status_code=201)
async def grant(acts: Acts, actor: Actor, body: Grant, key: NeededKey) -> Granted:
    """Give coins, with a reason that stands in the ledger. The same key again, a ticket's number, gives none."""
    granted = await acts.grant(actor, body.account_id, body.amount_coins, body.reason, key)
    return Granted(
        account_id=body.account_id,
        amount_coins=granted.amount_coins,
        available_coins=next(line.available_coins for line in granted.accounts if line.account_id == body.account_id),
    )


@router.get("/reports")
async def reports(
    gateway: Lobby, acts: Acts, actor: Actor, about: AccountId | None = None, cursor: Cursor = None, limit: Limit = 50
) -> ReportList:
    """What players reported, the newest first; `about`: of one person."""
    await acts.note(actor, about or REPORTS_AT_ONCE, OperatorActed(action="read_reports"))
    async with gateway.engine.connect() as db:
        found = await talk.reports(db, about, cursors.number(cursor), limit)
    return ReportList(
        reports=[ReportView(**one._asdict()) for one in found],
        next=cursors.of_number(found[-1].report_id) if len(found) == limit else None,
    )
