"""The parts of one running gateway, as the routes find them."""

from dataclasses import dataclass
from typing import Final, cast

from fastapi import Request
from sqlalchemy.ext.asyncio import AsyncEngine

from spades_lobby.domain import Game
from spades_lobby.live.desk import Desk
from spades_lobby.live.hub import Hub
from spades_lobby.people import scopes
from spades_lobby.people.accounts import Accounts
from spades_lobby.people.namebook import Names
from spades_lobby.people.scopes import Scope
from spades_lobby.people.store import Person
from spades_lobby.problems import Problem
from spades_lobby.rates import Rates
from spades_lobby.rest.guard import address_of
from spades_lobby.settings import LobbySettings
from spades_lobby.socket.sockets import Sockets
from spades_lobby.tables.matchmaker import Matchmaker
from spades_lobby.tables.purse import Purse
from spades_lobby.tables.seats import Seats
from spades_runtime import Clock


@dataclass(frozen=True, kw_only=True, slots=True)
class Gateway:
    settings: LobbySettings
    engine: AsyncEngine
    clock: Clock
    hub: Hub
    desk: Desk
    names: Names
    rates: Rates
    accounts: Accounts
    seats: Seats
    purse: Purse
    matchmaker: Matchmaker
    sockets: Sockets

    async def names_of(self, *games: Game) -> dict[str, str]:
        ids = frozenset[str]().union(*(game.account_ids for game in games))
        await self.names.load(ids)
        return self.names.of(ids)


def gateway_of(request: Request) -> Gateway:
    return cast(Gateway, request.app.state.gateway)


def cookie_name(settings: LobbySettings) -> str:
    # The prefix makes browsers refuse it from a sub-domain or a plain connection.
    return "__Host-spades_session" if settings.secure else "spades_session"


def token_of(request: Request, settings: LobbySettings) -> str | None:
    """The session's token: a program's bearer token, else the browser's cookie."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    return request.cookies.get(cookie_name(settings))


async def somebody(request: Request) -> Person | None:
    """Who asks, where they say so with a session that is alive."""
    gateway = gateway_of(request)
    token = token_of(request, gateway.settings)
    return None if token is None else await gateway.accounts.of_token(token)


async def signed_in(request: Request) -> Person:
    """Who asks; with a token that only reads, no more than a GET. Raises Problem `not_signed_in`, `scope_missing`."""
    return await _with(request, Scope.READ if request.method in ("GET", "HEAD") else Scope.BOT)


async def reader(request: Request) -> Person:
    """Who asks for what every token may do, whatever the method."""
    return await _with(request, Scope.READ)


async def player(request: Request) -> Person:
    """Who asks for what moves coins."""
    return await _with(request, Scope.PLAY)


async def owner(request: Request) -> Person:
    """Who asks for what takes a log-in: no token may do it."""
    return await _with(request, Scope.OWNER)


ASKS_WHO: Final = frozenset({signed_in, reader, player, owner})
"""What a route depends on that is not for everybody."""


async def _with(request: Request, needed: Scope) -> Person:
    person = await somebody(request)
    if person is None:
        raise Problem(
            401,
            "not_signed_in",
            "Sign in first, as a guest or with an account.",
            headers={"WWW-Authenticate": "Bearer"},
        )
    scopes.require(person.scope, needed)
    return person


def address(request: Request) -> str:
    return address_of(request.scope)
