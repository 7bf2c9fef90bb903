"""The queue's turn: four who wait for the same game get a table of their own, and sit down at it.

Every gateway takes turns; one at a time has the lock. Matches are committed first and acted on in
the next turn, always with the same command ids: a gateway that dies in between, or two that act on
one match, change nothing.

    waiting ──4 of a kind──▶ matched ──all sit──▶ seated
       ▲    ──bots, after 15 s──▶ │ ──the wallet says no──▶ refused, the next who waits comes in
       └──────not seated in 15 s──┘
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final
from uuid import uuid4

import msgspec
import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from spades_events import RulesetChoice, TableKind, Topic, commands
from spades_lobby.domain import Game
from spades_lobby.games import readmodel
from spades_lobby.live.desk import Desk, SendFailed
from spades_lobby.settings import LobbySettings
from spades_lobby.tables import invites, queueing
from spades_lobby.tables.queueing import Match, Waiting

log = structlog.get_logger()

SEATS: Final = 4
AFTER_A_FAULT_S: Final = 2.0
RESEND_S: Final = 2.0
"""What a match was told may have been lost with the gateway that told it."""

_Game = tuple[str, int]
"""What one waits for: ruleset and stake."""


class Matchmaker:
    """Matches the queue and seats who was matched."""

    def __init__(self, settings: LobbySettings, engine: AsyncEngine, desk: Desk, now: Callable[[], float]) -> None:
        self._settings = settings
        self._engine = engine
        self._desk = desk
        self._now = now
        self._told: dict[tuple[str, str], float] = {}

    async def run(self) -> None:
        """Take turns until cancelled."""
        while True:
            await asyncio.sleep(self._settings.lobby_queue_ms / 1_000)
            try:
                began_s = self._now()
                while await self.turn():
                    # As long as the turn took: a rush must not keep the gateway at its queue alone.
                    await asyncio.sleep(self._now() - began_s)
                    began_s = self._now()
            except (SQLAlchemyError, SendFailed, OSError) as error:
                log.warning("queue_not_matched", error=type(error).__name__)
            except Exception:
                # The edge: what the queue cannot do must not end the games that are played here.
                log.exception("queue_turn_failed")
                await asyncio.sleep(AFTER_A_FAULT_S)

    async def turn(self) -> bool:
        """One turn; whether anybody was matched, so that another is worth while at once."""
        async with self._engine.begin() as db:
            if not await queueing.try_lock(db):
                return False
            self._forget_told()
            matches: dict[str, list[Waiting]] = defaultdict(list)
            for one in await queueing.matched(db):
                matches[one.table_id or ""].append(one)
            open_places = await self._go_on(db, matches) if matches else {}
            return await self._match(db, await queueing.waiting(db), open_places)

    async def leave(self, account_id: str) -> None:
        """Leave the queue, and a seat that was taken from it."""
        async with self._engine.begin() as db:
            await queueing.lock(db)
            place = await queueing.place(db, account_id)
            await queueing.leave(db, [account_id])
            if place is not None and place.state == "matched" and place.table_id is not None:
                await self._send(place.table_id, account_id, commands.ReleaseSeat())

    # -- matches that are being seated ---------------------------------------------------

    async def _go_on(self, db: AsyncConnection, matches: dict[str, list[Waiting]]) -> dict[_Game, list[Waiting]]:
        """Bring every match a step further; return one of each match that lacks somebody, by its game."""
        games = await readmodel.games(db, matches)
        hosts = await queueing.hosts(db, matches)
        refusals = await queueing.refusals(db, matches)
        lacking: dict[_Game, list[Waiting]] = defaultdict(list)
        seated: set[str] = set()
        unseated: set[str] = set()
        for table_id, match in matches.items():
            game = games.get(table_id)
            if game is not None and game.phase != "seating":
                here = {one.account_id for one in match}
                seated |= here & set(game.players)
                unseated |= here - set(game.players)
                continue
            there = await self._without_the_gone(db, game, match, refusals)
            if not there:
                continue
            if there[0].matched_ms > self._settings.lobby_queue_patience_ms:
                await self._cancel(db, table_id, there)
                continue
            host = hosts.get(table_id) or (game.host if game is not None else None)
            if host is None:
                # Nobody could open it, now or ever: they wait again, and the others' matches go on.
                log.error("match_without_host", table=table_id, players=len(there))
                unseated |= {one.account_id for one in there}
                continue
            await self._seat(table_id, host, there, game)
            if game is not None and not there[0].with_bots:
                lacking[there[0].ruleset, there[0].stake_coins] += there[:1] * (SEATS - len(there))
        if seated:
            await queueing.seat(db, seated)
        if unseated:
            await queueing.wait_again(db, unseated)
        return lacking

    async def _without_the_gone(
        self,
        db: AsyncConnection,
        game: Game | None,
        match: Sequence[Waiting],
        refusals: dict[tuple[str, str], str],
    ) -> list[Waiting]:
        """Who of a match is still to be seated, or sits."""
        there = []
        for one in match:
            refusal = refusals.get((one.table_id or "", one.account_id))
            if refusal is not None:
                await queueing.refuse(db, one.account_id, refusal)
            elif game is not None and one.account_id in game.players and not _sits(game, one):
                # They got up by themselves.
                await queueing.leave(db, [one.account_id])
            else:
                there.append(one)
        return there

    async def _seat(self, table_id: str, host: str, match: Sequence[Waiting], game: Game | None) -> None:
        first = match[0]
        if game is None:
            opening = commands.OpenTable(
                kind=TableKind.ONLINE,
                ruleset=RulesetChoice(name=first.ruleset, options={}),
                stake_coins=first.stake_coins,
                bots_welcome=first.with_bots,
            )
            await self._send(table_id, host, opening)
        missing = [one for one in match if game is None or not _sits(game, one)]
        for one in missing:
            await self._send(table_id, one.account_id, commands.TakeSeat(seed_commit=one.seed_commit))
        if first.with_bots and not missing:
            await self._send(table_id, host, commands.StartGame())

    async def _cancel(self, db: AsyncConnection, table_id: str, match: Sequence[Waiting]) -> None:
        """Not everybody could be seated: all get up again, and stand where they stood."""
        for one in match:
            await self._send(table_id, one.account_id, commands.ReleaseSeat())
        await queueing.wait_again(db, [one.account_id for one in match])

    async def _send(self, table_id: str, account_id: str, command: msgspec.Struct) -> None:
        command_id = f"queue:{type(command).__name__}:{table_id}"
        now, told = self._now(), (account_id, command_id)
        if now - self._told.get(told, -RESEND_S) < RESEND_S:
            return
        self._told[told] = now
        await self._desk.send(Topic.TABLE_COMMANDS, table_id, account_id, command_id, command)

    def _forget_told(self) -> None:
        now = self._now()
        self._told = {each: at for each, at in self._told.items() if now - at < RESEND_S}

    # -- new matches ---------------------------------------------------------------------

    async def _match(
        self, db: AsyncConnection, waiting: Sequence[Waiting], lacking: dict[_Game, list[Waiting]]
    ) -> bool:
        by_game: dict[_Game, list[Waiting]] = defaultdict(list)
        for one in waiting:
            by_game[one.ruleset, one.stake_coins].append(one)
        chosen: list[tuple[list[Waiting], str | None, timedelta, bool]] = []
        for wanted, queue in by_game.items():
            for place in lacking.get(wanted, [])[: len(queue)]:
                ago = timedelta(milliseconds=place.matched_ms)
                chosen.append(([queue.pop(0)], place.table_id, ago, False))
            chosen += [(players, None, timedelta(0), with_bots) for players, with_bots in self._groups(queue)]
        if not chosen:
            return False
        held = await queueing.hold(db, [one for players, *_ in chosen for one in players])
        hosts: dict[str, str] = {}
        matches: list[Match] = []
        for players, at_table, ago, with_bots in chosen:
            if not all(one.account_id in held for one in players):
                # Somebody wants another game since: the others are chosen in the next turn.
                continue
            table_id = at_table or str(uuid4())
            if at_table is None:
                hosts[table_id] = players[0].account_id
            matches += [Match(table_id, one.account_id, ago, with_bots) for one in players]
        await invites.close_to_all_but(db, hosts, [(one.table_id, one.account_id) for one in matches])
        await queueing.match(db, matches)
        return bool(matches)

    def _groups(self, queue: list[Waiting]) -> list[tuple[list[Waiting], bool]]:
        """Fours, as they came; of those left over, who took the offer of bots plays with them."""
        whole = len(queue) // SEATS * SEATS
        groups = [(queue[at : at + SEATS], False) for at in range(0, whole, SEATS)]
        # Who came later and takes bots, too, makes a game with more people in it.
        willing = [one for one in queue[whole:] if one.bots_accepted]
        offered = any(one.waited_ms >= self._settings.lobby_queue_patience_ms for one in willing)
        return groups + ([(willing, True)] if offered else [])


def _sits(game: Game, one: Waiting) -> bool:
    return any(holder is not None and holder.account_id == one.account_id for holder in game.seats)
