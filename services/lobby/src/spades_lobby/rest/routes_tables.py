"""Tables: open, list, sit down, start, get up."""

from typing import Annotated, Final, Literal

import msgspec
from fastapi import APIRouter, Header, Path, Query, Request, Response

from spades_events import RulesetChoice, TableKind, commands
from spades_lobby.games import readmodel
from spades_lobby.live.frames import TABLE_ID_PATTERN
from spades_lobby.problems import Problem, not_found
from spades_lobby.rest import bodies, cursors, views
from spades_lobby.rest.gateway import address
from spades_lobby.rest.routes_people import Lobby, SignedIn
from spades_lobby.tables import invites
from spades_lobby.tables.seats import COIN_KINDS, command_id
from spades_rules import PRESETS

router = APIRouter(prefix="/v1", tags=["tables"])

KEY_HEADER: Final = "Idempotency-Key"

TableId = Annotated[str, Path(pattern=TABLE_ID_PATTERN, max_length=36)]
_KEY: Final = Header(
    alias=KEY_HEADER,
    min_length=1,
    max_length=200,
    pattern=r"^[\x21-\x7e]+$",
    description="The same key again is the same request, with the same answer.",
)
Key = Annotated[str | None, _KEY]
NeededKey = Annotated[str, _KEY]
"""Of requests that would do it twice without one: `idempotency_key_required` says so."""
Cursor = Annotated[str | None, Query(max_length=cursors.CURSOR_MAX)]
Limit = Annotated[int, Query(ge=1, le=cursors.LIMIT_MAX)]

_LISTED = tuple(kind.value for kind in TableKind if kind is not TableKind.PRIVATE)


@router.post("/tables", status_code=201)
async def open_table(
    response: Response, gateway: Lobby, person: SignedIn, body: bodies.NewTable, key: NeededKey
) -> bodies.TableView:
    """Open a table; you are its host. The stake is chosen here, before anybody joins."""
    gateway.rates.table(person.account_id)
    kind = TableKind(body.kind)
    if body.stake_coins and kind not in COIN_KINDS:
        raise Problem(422, "option_refused", "This kind of table has no stake.", field="stake_coins")
    if body.ruleset.name not in PRESETS:
        raise Problem(422, "option_refused", "There is no rule set of this name.", field="ruleset.name")
    command = commands.OpenTable(
        kind=kind,
        ruleset=RulesetChoice(name=body.ruleset.name, options=dict(body.ruleset.options)),
        stake_coins=body.stake_coins,
        clock_ms=body.clock_ms,
        bots_welcome=body.bots_welcome,
    )
    table_id, _ = await gateway.seats.open(person, key, command)
    game = await gateway.seats.game_now(table_id, person.account_id)
    if kind is TableKind.ONLINE:
        # A snapshot does not say what its host has just chosen.
        game = msgspec.structs.replace(game, bots_welcome=body.bots_welcome)
    response.headers["Location"] = f"/v1/tables/{table_id}"
    names = await gateway.names_of(game)
    return views.table(game, gateway.desk.part_of(table_id), names)


@router.get("/tables")
async def open_tables(
    gateway: Lobby,
    person: SignedIn,
    kind: Literal["practice", "coins", "online"] | None = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> bodies.TableList:
    """Tables that still seat people, the newest first. Private ones and the queue's are not listed."""
    async with gateway.engine.connect() as db:
        kinds = [kind] if kind else list(_LISTED)
        found = await readmodel.open_games(db, kinds, cursors.place(cursor), limit)
    names = await gateway.names_of(*(listed.game for listed in found))
    last = found[-1] if len(found) == limit else None
    return bodies.TableList(
        tables=[views.table(listed.game, gateway.desk.part_of(listed.game.table_id), names) for listed in found],
        next=last and cursors.of_place(last.at, last.game.table_id),
    )


@router.get("/tables/{table_id}")
async def one_table(gateway: Lobby, person: SignedIn, table_id: TableId) -> bodies.TableView:
    game = await gateway.seats.game_now(table_id, person.account_id)
    names = await gateway.names_of(game)
    return views.table(game, gateway.desk.part_of(table_id), names)


@router.put(
    "/tables/{table_id}/seats/{seat}",
    responses={202: {"model": bodies.Seated, "description": "Reserved; the wallet is slow."}},
)
async def sit_down(
    response: Response,
    gateway: Lobby,
    person: SignedIn,
    table_id: TableId,
    seat: Literal["0", "1", "2", "3", "any"],
    body: bodies.NewSeat | None = None,
    key: Key = None,
) -> bodies.Seated:
    """Take a seat. At a coin table stake and leaving deposit are held until the game ends."""
    outcome = await gateway.seats.take(
        person,
        table_id,
        command_id(person, key),
        commands.TakeSeat(
            seat=None if seat == "any" else int(seat), seed_commit=None if body is None else body.seed_commit
        ),
    )
    if outcome.state == "reserved":
        response.status_code = 202
    game = await gateway.seats.game_now(table_id, person.account_id)
    return bodies.Seated(
        table_id=table_id,
        seat=outcome.seat,
        state=outcome.state,
        needed_coins=game.stake_coins + game.fee_coins,
        leaving_price_coins=game.price_coins,
    )


@router.delete("/tables/{table_id}/seats/{seat}")
async def get_up(
    gateway: Lobby,
    person: SignedIn,
    table_id: TableId,
    seat: Literal["0", "1", "2", "3", "any"],
    confirm_price_coins: Annotated[int | None, Query(ge=0, le=bodies.MAX_COINS)] = None,
    key: Key = None,
) -> bodies.Done:
    """Give your seat up before the game, at no cost; leave the running one at its price.

    Without the confirmed price of a running game nothing happens: `price_changed` names it.
    """
    own = None if seat == "any" else int(seat)
    answer = await gateway.seats.get_up(person, table_id, command_id(person, key), own, confirm_price_coins)
    return bodies.Done(table_id=table_id, first_seq=answer.first_version, last_seq=answer.last_version)


@router.post("/tables/{table_id}/start")
async def start(gateway: Lobby, person: SignedIn, table_id: TableId, key: Key = None) -> bodies.Done:
    """The host starts the game; computers take the empty seats.

    A table for coins starts by itself, `coins` when its host sits down, `online` when the last seat is taken: a start
    is then refused as `starting` or `wrong_phase`.
    """
    answer = await gateway.seats.ask(person, table_id, command_id(person, key), commands.StartGame())
    return bodies.Done(table_id=table_id, first_seq=answer.first_version, last_seq=answer.last_version)


@router.post("/tables/{table_id}/invites", status_code=201)
async def invite(gateway: Lobby, person: SignedIn, table_id: TableId) -> bodies.Invite:
    """The code that lets friends in to a private table, for whoever is in."""
    async with gateway.engine.connect() as db:
        code = await invites.code_of(db, table_id, person.account_id)
    return bodies.Invite(table_id=table_id, code=code)


@router.post("/invites")
async def come_in(request: Request, gateway: Lobby, person: SignedIn, body: bodies.InviteCode) -> bodies.TableView:
    """Enter a private table by its code: from then on you may watch it and sit down."""
    gateway.rates.check_codes(person.account_id, address(request))
    async with gateway.engine.begin() as db:
        table_id = await invites.redeem(db, body.code.strip().upper(), person.account_id)
    if table_id is None:
        gateway.rates.wrong_code(person.account_id, address(request))
        raise not_found()
    return await one_table(gateway, person, table_id)


@router.post("/tables/{table_id}/rematch", status_code=201)
async def rematch(response: Response, gateway: Lobby, person: SignedIn, table_id: TableId) -> bodies.TableView:
    """A new table as the ended one was; whoever of its players asks gets the same."""
    again = await gateway.seats.rematch(person, table_id)
    response.headers["Location"] = f"/v1/tables/{again}"
    return await one_table(gateway, person, again)
