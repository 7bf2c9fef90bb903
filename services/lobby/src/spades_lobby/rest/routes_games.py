"""Games, running and finished: results, events, proofs; and the rule sets there are."""

import dataclasses
from typing import Annotated, Any, Final

import msgspec
from fastapi import APIRouter, Path, Query, Request, Response

from spades_events import CE_TYPES, decode, events
from spades_lobby.domain import Game
from spades_lobby.games import readmodel, record
from spades_lobby.people.store import Person
from spades_lobby.problems import Problem, not_found
from spades_lobby.rest import bodies, cursors, event_pages, views
from spades_lobby.rest.gateway import Gateway
from spades_lobby.rest.routes_people import Lobby, SignedIn
from spades_lobby.rest.routes_tables import Cursor, Limit, TableId
from spades_rules import PRESETS, Ruleset

router = APIRouter(prefix="/v1", tags=["games"])

HandNo = Annotated[int, Path(ge=1, le=64)]

PTN: Final = "text/plain"

_COMMITTED: Final = CE_TYPES[events.HandCommitted]
_RECORDED: Final = tuple(CE_TYPES[kind] for kind in record.KINDS)
_REVEALED: Final = CE_TYPES[events.DealRevealed]


@router.get("/rulesets")
async def rulesets() -> dict[str, Any]:
    """The rule sets by name: their numbers, and the choices a host has, the default first."""
    return {
        "rulesets": [
            {
                "name": name,
                "rules": _rules(preset.ruleset),
                "options": {field: list(choices) for field, choices in preset.menu.items()},
            }
            for name, preset in PRESETS.items()
        ]
    }


def _rules(ruleset: Ruleset) -> dict[str, Any]:
    return {
        field.name: getattr(ruleset, field.name)
        for field in dataclasses.fields(ruleset)
        if field.name not in ("name", "options")
    }


@router.get("/me/games")
async def my_games(gateway: Lobby, person: SignedIn, cursor: Cursor = None, limit: Limit = 50) -> bodies.GameList:
    """The games you sat at, the newest first."""
    async with gateway.engine.connect() as db:
        found = await readmodel.games_of(db, person.account_id, cursors.place(cursor), limit)
    names = await gateway.names_of(*(listed.game for listed in found))
    last = found[-1] if len(found) == limit else None
    return bodies.GameList(
        games=[views.game(listed.game, gateway.desk.part_of(listed.game.table_id), names) for listed in found],
        next=last and cursors.of_place(last.at, last.game.table_id),
    )


async def _game(gateway: Gateway, table_id: str, person: Person) -> Game:
    game = await gateway.seats.game_for(table_id, person.account_id)
    if game is None:
        raise not_found()
    return game


@router.get("/games/{table_id}")
async def one_game(gateway: Lobby, person: SignedIn, table_id: TableId) -> bodies.GameView:
    game = await _game(gateway, table_id, person)
    names = await gateway.names_of(game)
    return views.game(game, gateway.desk.part_of(table_id), names)


@router.get(
    "/games/{table_id}/events",
    responses={200: {"content": {"application/json": {}, event_pages.NDJSON: {}}}},
    response_class=Response,
)
async def game_events(
    request: Request,
    gateway: Lobby,
    person: SignedIn,
    table_id: TableId,
    after: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
    limit: Limit = 200,
) -> Response:
    """The public events after a sequence number: a page of JSON, or all of them as NDJSON."""
    await _game(gateway, table_id, person)
    return await event_pages.answer(gateway.engine, table_id, after, limit, request.headers.get("accept", ""))


async def _hands(gateway: Gateway, table_id: str) -> list[record.Hand]:
    async with gateway.engine.connect() as db:
        rows = await readmodel.events_of_types(db, table_id, _RECORDED)
    return record.hands_of(decode(row.type, row.body) for row in rows)


@router.get("/games/{table_id}/hands/{hand_no}")
async def one_hand(gateway: Lobby, person: SignedIn, table_id: TableId, hand_no: HandNo) -> bodies.HandView:
    """One hand: bids, tricks, score; the four hands as they were dealt once it is over."""
    game = await _game(gateway, table_id, person)
    hand = next((one for one in await _hands(gateway, table_id) if one.hand_no == hand_no), None)
    if hand is None:
        raise not_found()
    return views.hand(game, hand)


@router.get(
    "/games/{table_id}/record",
    responses={200: {"content": {PTN: {}}}},
    response_class=Response,
)
async def game_record(gateway: Lobby, person: SignedIn, table_id: TableId) -> Response:
    """The finished hands in PTN, for other programs."""
    game = await _game(gateway, table_id, person)
    return Response(record.ptn_of(game, await _hands(gateway, table_id)), media_type=PTN)


@router.get("/games/{table_id}/hands/{hand_no}/proof")
async def proof(
    gateway: Lobby,
    person: SignedIn,
    table_id: TableId,
    hand_no: HandNo,
) -> bodies.Proof:
    """What it takes to check a hand's deal, once the hand is over."""
    game = await _game(gateway, table_id, person)
    async with gateway.engine.connect() as db:
        rows = await readmodel.events_of_types(db, table_id, (_COMMITTED, _REVEALED))
    found = {row.type: body for row in rows if (body := msgspec.json.decode(row.body)).get("hand_no") == hand_no}
    committed, revealed = found.get(_COMMITTED), found.get(_REVEALED)
    if committed is None or game.seeds is None or game.seed_missing is None:
        raise not_found()
    if revealed is None:
        raise Problem(409, "not_revealed", "The hand's secret is revealed when the hand is over.")
    return bodies.Proof(
        table_id=table_id,
        hand_no=hand_no,
        anchor=game.anchor,
        seeds=list(game.seeds),
        seed_missing=list(game.seed_missing),
        fingerprint=committed["fingerprint"],
        secret=revealed["secret"],
        dealer=revealed["dealer"],
        deck_id=revealed["deck_id"],
        swaps=revealed["swaps"],
    )
