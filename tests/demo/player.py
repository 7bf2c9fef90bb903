"""A person at a table: plays by judgement, and behaves well or less well."""

import asyncio
import hashlib
import random
import secrets
import time
from enum import StrEnum
from typing import NamedTuple

from spades_client import Acked, Frame, Gateway, Play, Rejected, Seen, SpadesError
from spades_client.play import TOO_LATE
from spades_rules import BLIND_NIL, Command, LookAtCards, PlaceBid, PlayCard, Seat, judge

COMPARE_SHARE = 0.05
DROP_SHARE = 0.03


class Manner(StrEnum):
    """How a person behaves in a game."""

    STEADY = "steady"
    LEAVES = "leaves"
    SILENT = "silent"
    DROPS = "drops"


class Moving(NamedTuple):
    """The card on its way, for the time it takes to come back as a frame on the same line."""

    turn_id: str
    sent_s: float
    reconnections: int


class Player:
    """One person in one game."""

    def __init__(self, gateway: Gateway, manner: Manner, chance: random.Random) -> None:
        self._gateway = gateway
        self.manner = manner
        self.left = False
        self.journal: list[Acked] = []
        self.move_s: list[float] = []
        self.faults: list[str] = []
        self.seated = asyncio.Event()
        self.hands = 0
        self.blind_offers = 0
        self._chance = chance
        self._offered = False
        self._moving = Moving("", 0.0, 0)
        self._leave_at = (2, chance.randrange(1, 9))

    async def enter(self, *, with_coins: bool) -> None:
        self.account = await self._gateway.guest()
        self.socket = self.account.table("")
        if with_coins:
            await self.account.register(f"Demo {secrets.token_hex(5)}", secrets.token_hex(12))

    async def play(self, table_id: str, leaving_price_coins: int) -> None:
        """Sit down and stay to the end of the table, as a watcher after leaving."""
        self._price_coins = leaving_price_coins
        self.socket = self.account.table(table_id)
        speaks = self.manner is not Manner.SILENT
        game = Play(self.socket, self._choose, says_ready=speaks, told=self._note, acked=self._keep)
        try:
            await game.run()
        except SpadesError as error:
            self.faults.append(str(error))
        # Nobody waits for one who was refused a seat.
        self.seated.set()
        self.faults += self.socket.faults

    def _note(self, frame: Frame, seen: Seen) -> None:
        if seen.seat is not None or self.left:
            self.seated.set()
        if frame["type"] == "hand_scored":
            self.hands = frame["hand_no"]
        came_back = frame["type"] == "card_played" and frame["turn_id"] == self._moving.turn_id
        if came_back and self.socket.reconnections == self._moving.reconnections:
            self.move_s.append(time.perf_counter() - self._moving.sent_s)

    def _keep(self, acked: Acked) -> None:
        self.blind_offers += self._offered
        self.journal.append(acked)

    async def _choose(self, seen: Seen) -> Command | None:
        assert seen.turn is not None
        if self.left or self.manner is Manner.SILENT:
            return None
        if self.manner is Manner.LEAVES and (seen.hand_no, len(seen.view.tricks)) >= self._leave_at:
            await self._leave()
            return None
        if self.manner is Manner.DROPS and self._chance.random() < DROP_SHARE:
            await self.socket.drop()
            return None
        if self._chance.random() < COMPARE_SHARE:
            await self.socket.compare()
            return None
        turn_id = seen.turn["turn_id"]
        move = self._judged(seen, turn_id)
        self._offered = seen.view.may_look
        if isinstance(move, PlayCard):
            self._moving = Moving(turn_id, time.perf_counter(), self.socket.reconnections)
        return move

    async def _leave(self) -> None:
        try:
            await self.socket.command("leave", confirm_price=self._price_coins)
            self.left = True
        except Rejected as rejected:
            if rejected.code not in TOO_LATE:
                raise

    def _judged(self, seen: Seen, turn_id: str) -> Command:
        """The judged move; but Blind Nil, which judgement keeps for lost games, far more often.

        A person's first offer is taken, unless the partner took it: a pair of them would swap nothing.
        Of the later ones every other is, by the turn's own name.
        """
        view = seen.view
        if not view.may_look:
            return judge(view)
        assert view.seat is not None
        if self.blind_offers:
            is_blind = hashlib.sha256(turn_id.encode()).digest()[0] % 2 == 0
        else:
            is_blind = view.bids[(view.seat + 2) % 4] != BLIND_NIL
        return PlaceBid(Seat(view.seat), BLIND_NIL) if is_blind else LookAtCards(Seat(view.seat))
