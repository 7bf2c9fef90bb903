"""Guests, accounts, sessions, tickets."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from spades_lobby.people import names
from spades_lobby.people.accounts import Entered
from spades_lobby.people.store import Person
from spades_lobby.problems import Problem
from spades_lobby.rest import bodies
from spades_lobby.rest.gateway import (
    Gateway,
    address,
    cookie_name,
    gateway_of,
    owner,
    player,
    reader,
    signed_in,
    somebody,
    token_of,
)

router = APIRouter(prefix="/v1", tags=["people"])

Lobby = Annotated[Gateway, Depends(gateway_of)]
SignedIn = Annotated[Person, Depends(signed_in)]
Reader = Annotated[Person, Depends(reader)]
Player = Annotated[Person, Depends(player)]
Owner = Annotated[Person, Depends(owner)]
Somebody = Annotated[Person | None, Depends(somebody)]

_DAY_S = 86_400


def remember(response: Response, gateway: Gateway, entered: Entered) -> None:
    response.set_cookie(
        cookie_name(gateway.settings),
        entered.token,
        max_age=gateway.settings.lobby_session_days * _DAY_S,
        path="/",
        secure=gateway.settings.secure,
        httponly=True,
        samesite="lax",
    )


def _forget(response: Response, gateway: Gateway) -> None:
    response.delete_cookie(
        cookie_name(gateway.settings),
        path="/",
        secure=gateway.settings.secure,
        httponly=True,
        samesite="lax",
    )


@router.post("/sessions", status_code=201)
async def enter(request: Request, response: Response, gateway: Lobby, body: bodies.NewSession) -> bodies.Session:
    """Become a guest, or log in. The session comes as a cookie and, if asked for, as a token."""
    gateway.rates.session(address(request))
    if body.guest:
        if body.password is not None:
            raise Problem(422, "malformed", "A guest has no password.", field="password")
        entered = await gateway.accounts.guest(body.name)
    elif body.name is not None and body.password is not None:
        gateway.rates.password(names.skeleton(body.name))
        entered = await gateway.accounts.log_in(body.name, body.password)
    else:
        raise Problem(422, "malformed", "Send guest: true, or name and password.")
    remember(response, gateway, entered)
    person = entered.person
    return bodies.Session(
        account_id=person.account_id,
        name=person.name,
        guest=person.guest,
        token=entered.token if body.token else None,
    )


@router.delete("/sessions/current", status_code=204)
async def log_out(response: Response, gateway: Lobby, person: Reader) -> None:
    """End this session; its sockets close."""
    await gateway.accounts.log_out(person)
    _forget(response, gateway)


@router.delete("/sessions", status_code=204)
async def log_out_everywhere(response: Response, gateway: Lobby, person: Owner) -> None:
    """End all sessions of the account, and revoke all its tokens."""
    await gateway.accounts.log_out_everywhere(person)
    _forget(response, gateway)


@router.post(
    "/accounts",
    status_code=201,
    responses={202: {"model": bodies.Account, "description": "The wallet is still opening."}},
)
async def register(
    request: Request,
    response: Response,
    gateway: Lobby,
    person: Somebody,
    body: bodies.NewAccount,
) -> bodies.Account:
    """Make an account with its wallet; a guest who is signed in becomes it, with all their games."""
    gateway.rates.account(address(request))
    by_bearer = person is not None and token_of(request, gateway.settings) != request.cookies.get(
        cookie_name(gateway.settings)
    )
    entered = await gateway.accounts.register(person, body.name, body.password)
    remember(response, gateway, entered)
    opened = await gateway.purse.open(entered.person.account_id)
    if opened is None:
        response.status_code = 202
    mine = next(
        (
            line.available_coins
            for line in (opened.accounts if opened else ())
            if line.account_id == entered.person.account_id
        ),
        None,
    )
    return bodies.Account(
        account_id=entered.person.account_id,
        name=entered.person.name,
        guest=False,
        # A program's old token is void now.
        token=entered.token if body.token or by_bearer else None,
        wallet="opening" if opened is None else "open",
        available_coins=mine,
        recovery_code=entered.recovery_code or "",
    )


@router.get("/me")
async def me(person: SignedIn) -> bodies.Me:
    return bodies.Me(account_id=person.account_id, name=person.name, guest=person.guest)


@router.patch("/me")
async def rename(gateway: Lobby, person: Owner, body: bodies.Rename) -> bodies.Me:
    name = await gateway.accounts.rename(person, body.name)
    return bodies.Me(account_id=person.account_id, name=name, guest=person.guest)


@router.put("/me/password", status_code=204)
async def change_password(gateway: Lobby, person: Owner, body: bodies.NewPassword) -> None:
    """Change the password; all other sessions end, and all tokens."""
    if person.guest:
        raise Problem(403, "account_required", "A guest has no password.")
    gateway.rates.password(person.account_id)
    await gateway.accounts.check_password(person, body.password)
    await gateway.accounts.change_password(person, body.new_password)


@router.delete("/me", status_code=204)
async def delete_account(response: Response, gateway: Lobby, person: Owner, body: bodies.Deletion) -> None:
    """Delete the account for good: its coins go back to the house, its name is gone from everywhere."""
    gateway.rates.password(person.account_id)
    await gateway.accounts.check_password(person, body.password)
    if not person.guest:
        await gateway.purse.close(person.account_id)
    await gateway.accounts.delete(person)
    _forget(response, gateway)


@router.post("/ws-tickets", status_code=201)
async def ticket(gateway: Lobby, person: Reader) -> bodies.Ticket:
    """A ticket for one WebSocket: send it in `hello`, once, within half a minute."""
    token = await gateway.accounts.ticket(person)
    return bodies.Ticket(ticket=token, expires_ms=gateway.settings.lobby_ticket_ms)
