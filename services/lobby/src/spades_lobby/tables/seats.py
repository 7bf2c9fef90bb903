"""Tables by request and answer: open, sit, start, get up. Each waits for what its command got."""

import asyncio
from dataclasses import dataclass
from typing import Final, Literal
from uuid import NAMESPACE_URL, uuid4, uuid5

import msgspec
from sqlalchemy.ext.asyncio import AsyncEngine

from spades_events import CE_TYPES, TableKind, Topic, commands, decode, events
from spades_events.private import Answer, Rejection, Snapshot
from spades_lobby.domain import Game
from spades_lobby.games import readmodel
from spades_lobby.live.desk import AnswerKey, Answers, Desk
from spades_lobby.live.hub import Hub
from spades_lobby.people import scopes
from spades_lobby.people.scopes import Scope
from spades_lobby.people.store import Person
from spades_lobby.problems import Problem, not_found, outcome_unknown, refusal
from spades_lobby.settings import LobbySettings
from spades_lobby.tables import invites

COIN_KINDS: Final = frozenset({TableKind.COINS, TableKind.ONLINE})

READ_MODEL_LOOK_S: Final = 0.05
"""How often the read model is looked at by who knows that it is behind."""

_REFUSED_SEAT: Final = {
    "insufficient_balance": "The balance does not cover stake and leaving deposit.",
    "seated_elsewhere": "You sit at another coin table.",
    "no_account": "A coin table needs an account; a guest has none.",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class SeatOutcome:
    """Where a request for a seat ended: `reserved` where the wallet's word is still to come."""

    state: Literal["taken", "reserved"]
    seat: int | None


class Seats:
    """Commands to tables on behalf of one person. Raises Problem, with the table's own slugs."""

    def __init__(
        self,
        settings: LobbySettings,
        engine: AsyncEngine,
        hub: Hub,
        desk: Desk,
        answers: Answers,
    ) -> None:
        self._settings = settings
        self._engine = engine
        self._hub = hub
        self._desk = desk
        self._answers = answers

    async def open(self, person: Person, key: str, command: commands.OpenTable) -> tuple[str, Answer]:
        """Open a table; the same key gives the same table, another body under it is refused."""
        if person.guest and command.kind in COIN_KINDS:
            raise account_required()
        scopes.check_stake(person.scope, command.stake_coins)
        table_id = str(uuid5(NAMESPACE_URL, f"{person.account_id}:table:{key}"))
        return table_id, await self._open(person, table_id, command_id(person, key), command)

    async def rematch(self, person: Person, table_id: str) -> str:
        """The table at which those of an ended game meet again; the first who asks opens it and is its host."""
        ended = await self._ended(person, table_id)
        if person.account_id not in ended.players or person.account_id in ended.leavers:
            raise Problem(403, "not_seated", "A rematch is for those who played to the end.")
        if person.guest and ended.stake_coins:
            raise account_required()
        scopes.check_stake(person.scope, ended.stake_coins)
        again = str(uuid5(NAMESPACE_URL, f"{table_id}:rematch"))
        command = commands.OpenTable(
            kind=ended.kind,
            ruleset=ended.ruleset,
            stake_coins=ended.stake_coins,
            clock_ms=ended.clock_ms,
            bots_welcome=ended.bots_welcome,
        )
        try:
            await self._open(person, again, f"{again}:open", command)
        except Problem as problem:
            # Somebody else asked first.
            if problem.code != "idempotency_key_reused":
                raise
        if ended.kind is TableKind.PRIVATE:
            async with self._engine.begin() as db:
                await invites.admit(db, again, ended.players)
        return again

    async def _ended(self, person: Person, table_id: str) -> Game:
        """The game at its end. Raises Problem `not_found`, `wrong_phase`.

        A player hears of the end by the fan-out, before the read model has it: the table itself says whether it
        is over, and then the read model is waited for.
        """
        game = await self.game_for(table_id, person.account_id)
        if game is None:
            raise not_found()
        if game.phase == "ended":
            return game
        try:
            seen = await self._hub.glance(table_id, person.account_id)
            # A table that lets go of a game has ended it.
            if isinstance(seen, Snapshot) and seen.phase != "ended":
                raise Problem(409, "wrong_phase", "The game is not over.")
            async with asyncio.timeout(self._settings.lobby_answer_ms / 1_000):
                while True:
                    await asyncio.sleep(READ_MODEL_LOOK_S)
                    read = await self.game(table_id)
                    if read is not None and read.phase == "ended":
                        return read
        except TimeoutError:
            raise outcome_unknown() from None

    async def _open(self, person: Person, table_id: str, command_id: str, command: commands.OpenTable) -> Answer:
        closed = False
        if command.kind is TableKind.PRIVATE:
            # Closed before it is open: there is no moment in which a stranger could come in.
            async with self._engine.begin() as db:
                closed = await invites.close(db, table_id, person.account_id, invites.new_code())
        try:
            return await self.ask(person, table_id, command_id, command)
        except Problem as problem:
            if closed and problem.code != "outcome_unknown":
                async with self._engine.begin() as db:
                    await invites.forget(db, table_id)
            if problem.code == "conflict":
                raise Problem(
                    422,
                    "idempotency_key_reused",
                    "This Idempotency-Key came before, with another body.",
                ) from None
            raise

    async def ask(self, person: Person, table_id: str, command: str, body: commands.TableCommand) -> Answer:
        """Send a command and wait for its answer; `outcome_unknown` where none comes in time."""
        if person.scope < Scope.PLAY and not isinstance(body, commands.OpenTable):
            # Whatever the command: with such a token nobody acts where coins are at stake.
            game = await self.game_now(table_id, person.account_id)
            scopes.check_stake(person.scope, game.stake_coins)
        return await self.ask_as(person.account_id, table_id, command, body)

    async def ask_as(self, actor: str, table_id: str, command: str, body: commands.TableCommand) -> Answer:
        """The same for whoever is no person: an operator."""
        part = self._desk.part_of(table_id)
        parts = self._hub.reader.parts(part, Topic.TABLE_PRIVATE)
        async with self._hub.reader.joined(*parts):
            with self._answers.expecting(AnswerKey(table_id, actor, command)) as future:
                await self._desk.send(Topic.TABLE_COMMANDS, table_id, actor, command, body)
                try:
                    async with asyncio.timeout(self._settings.lobby_answer_ms / 1_000):
                        answer = await future
                except TimeoutError:
                    raise outcome_unknown() from None
        if answer.rejection is not None:
            raise refusal(answer.rejection)
        return answer

    async def take(self, person: Person, table_id: str, command: str, body: commands.TakeSeat) -> SeatOutcome:
        """Ask for a seat and wait until it is the person's, also for the wallet at a coin table."""
        async with self._engine.connect() as db:
            await invites.check_sit(db, table_id, person.account_id)
            game = await readmodel.one_game(db, table_id)
        if person.guest and game is not None and game.stake_coins:
            raise account_required()
        heard = _SeatHeard(person.account_id)
        async with self._hub.listening(table_id, heard.on_fact):
            await self.ask(person, table_id, command, body)
            if not heard.said_anything:
                # The same request as before: its events went by long ago.
                await self._look(person, table_id, heard)
            try:
                async with asyncio.timeout(self._settings.lobby_seat_ms / 1_000):
                    return await heard.outcome
            except TimeoutError:
                await self._check_refused(person, table_id)
                return SeatOutcome(state="reserved", seat=None)

    async def _check_refused(self, person: Person, table_id: str) -> None:
        """Nothing more is said of this request: it may have been refused before it came again."""
        async with self._engine.connect() as db:
            refusals = await readmodel.events_of_types(db, table_id, [CE_TYPES[events.SeatRefused]])
        for row in reversed(refusals):
            fact = decode(row.type, row.body)
            if isinstance(fact, events.SeatRefused) and fact.account_id == person.account_id:
                raise _seat_refused(fact)

    async def glance(self, person: Person, table_id: str) -> Snapshot:
        """The table as this person sees it now. Raises Problem where it does not answer or refuses."""
        try:
            seen = await self._hub.glance(table_id, person.account_id)
        except TimeoutError:
            raise outcome_unknown() from None
        if isinstance(seen, Rejection):
            raise refusal(seen)
        return seen

    async def _look(self, person: Person, table_id: str, heard: "_SeatHeard") -> None:
        seen = await self.glance(person, table_id)
        # A seat that is only reserved waits for the wallet's word, as the first request does.
        if seen.seat is not None and seen.seat not in seen.reserved:
            heard.take(seen.seat)

    async def get_up(
        self, person: Person, table_id: str, command: str, seat: int | None, confirm_price_coins: int | None
    ) -> Answer:
        """Give the seat up before the game; leave the running one at its confirmed price.

        `seat` None = whichever it is. Raises Problem `not_seated` where it is not this person's.
        """
        if seat is not None:
            seen = await self.glance(person, table_id)
            if seen.seat != seat:
                raise Problem(409, "not_seated", "That seat is not yours.")
        if confirm_price_coins is not None:
            leave = commands.LeaveGame(confirm_price_coins=confirm_price_coins)
            return await self.ask(person, table_id, command, leave)
        game = await self.game(table_id)
        if game is not None and game.phase == "playing":
            raise _leaving_costs(game.price_coins)
        try:
            return await self.ask(person, table_id, command, commands.ReleaseSeat())
        except Problem as problem:
            if problem.code != "wrong_phase" or game is None:
                raise
            # It began in between.
            raise _leaving_costs(game.price_coins) from None

    async def game(self, table_id: str) -> Game | None:
        async with self._engine.connect() as db:
            return await readmodel.one_game(db, table_id)

    async def game_for(self, table_id: str, account_id: str) -> Game | None:
        """The game as this account may see it. Raises Problem `not_found` where it is private to others."""
        async with self._engine.connect() as db:
            await invites.check_watch(db, table_id, account_id)
            return await readmodel.one_game(db, table_id)

    async def game_now(self, table_id: str, account_id: str) -> Game:
        """The table as the read model has it; one it has not read yet is asked itself."""
        known = await self.game_for(table_id, account_id)
        if known is not None:
            return known
        try:
            seen = await self._hub.glance(table_id, account_id)
        except TimeoutError:
            # It may well be there: a table that is busy is not a table that is missing.
            raise outcome_unknown() from None
        if isinstance(seen, Rejection):
            raise not_found()
        return Game(
            table_id=table_id,
            version=seen.version,
            opened_ms=seen.server_ms,
            kind=seen.kind,
            ruleset=seen.ruleset,
            rules_version=seen.rules_version,
            stake_coins=seen.stake_coins,
            fee_coins=seen.fee_coins,
            clock_ms=seen.clock_ms,
            host=seen.host,
            # Only an online table's host is asked; the read model will say.
            bots_welcome=seen.kind is not TableKind.ONLINE,
            anchor=seen.anchor,
            phase="seating" if seen.phase == "seating" else "playing",
            seats=seen.seats,
        )


class _SeatHeard:
    """What the table's events say of one person's request for a seat."""

    def __init__(self, account_id: str) -> None:
        self._account_id = account_id
        self.said_anything = False
        self.outcome: asyncio.Future[SeatOutcome] = asyncio.get_running_loop().create_future()
        # An outcome that nobody awaits any more is no fault.
        self.outcome.add_done_callback(lambda done: done.cancelled() or done.exception())

    def take(self, seat: int) -> None:
        if not self.outcome.done():
            self.outcome.set_result(SeatOutcome(state="taken", seat=seat))

    def on_fact(self, fact: msgspec.Struct) -> None:
        match fact:
            case events.SeatReserved() if fact.account_id == self._account_id:
                self.said_anything = True
            case events.SeatTaken() if fact.holder.account_id == self._account_id:
                self.said_anything = True
                self.take(fact.holder.seat)
            case events.SeatRefused() if fact.account_id == self._account_id:
                self._refuse(_seat_refused(fact))
            case events.SeatReleased() if fact.account_id == self._account_id:
                self._refuse(Problem(409, "seat_released", "The seat was given up again."))
            case events.TableCancelled():
                self._refuse(Problem(409, "game_over", "The table was cancelled."))
            case _:
                pass

    def _refuse(self, problem: Problem) -> None:
        self.said_anything = True
        if not self.outcome.done():
            self.outcome.set_exception(problem)


def _seat_refused(fact: events.SeatRefused) -> Problem:
    if fact.code == "no_account":
        return account_required()
    return Problem(
        409,
        fact.code,
        _REFUSED_SEAT.get(fact.code, "The seat was refused."),
        needed_coins=fact.needed_coins,
        available_coins=fact.available_coins,
    )


def _leaving_costs(price_coins: int) -> Problem:
    return Problem(
        409,
        "price_changed",
        "Leaving the running game has this price; confirm it to leave.",
        price_coins=price_coins,
    )


def account_required() -> Problem:
    return Problem(403, "account_required", "A coin table needs an account; a guest has none.")


def command_id(person: Person, key: str | None) -> str:
    """The command of one request: the same key of the same person is the same command."""
    if key is None:
        return str(uuid4())
    return str(uuid5(NAMESPACE_URL, f"{person.account_id}:{key}"))
