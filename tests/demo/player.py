"""A person at a table: sits down, plays by judgement, and behaves well or less well."""

import asyncio
import hashlib
import random
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple

from spades_rules import (
    BLIND_NIL,
    Command,
    LookAtCards,
    PassCards,
    PlaceBid,
    PlayCard,
    Seat,
    card_name,
    card_names,
    judge,
)
from tests.demo.gateway import Account
from tests.demo.seen import Frame, Seen
from tests.demo.socket import TableSocket

PASSING_REFUSALS = frozenset({"stale_turn", "game_over", "not_seated", "wrong_phase", "already_seen"})
"""What a move may be answered when time ran out meanwhile, or when it was made before the line was cut."""
Step = Callable[[], Awaitable[None]]
COMPARE_SHARE = 0.05
DROP_SHARE = 0.03


class Manner(StrEnum):
    """How a person behaves in a game."""

    STEADY = "steady"
    LEAVES = "leaves"
    SILENT = "silent"
    DROPS = "drops"


@dataclass(frozen=True, slots=True)
class Acked:
    """A move whose acknowledgement came: it must stand in the stream once, at these versions."""

    table_id: str
    turn_id: str
    kind: str
    what: Any
    first_seq: int
    last_seq: int


class Moving(NamedTuple):
    """The card on its way, for the time it takes to come back as a frame on the same line."""

    turn_id: str
    sent_s: float
    reconnections: int


class Player:
    """One person in one game."""

    def __init__(self, account: Account, manner: Manner, chance: random.Random) -> None:
        self.account = account
        self.manner = manner
        self.left = False
        self.journal: list[Acked] = []
        self.move_s: list[float] = []
        self.faults: list[str] = []
        self.seated = asyncio.Event()
        self.seat_refused: Frame | None = None
        self.hands = 0
        self.blind_offers = 0
        self._chance = chance
        self._seed = secrets.token_bytes(32)
        self._table_id = ""
        self._busy: asyncio.Task[None] | None = None
        self._answered_turn = ""
        self._has_opened_seed = False
        self._ready_hand = 0
        self._moving = Moving("", 0.0, 0)
        self._leave_at = (2, chance.randrange(1, 9))
        self.socket = TableSocket("", account, "")

    async def play(self, address: str, table_id: str, leaving_price_coins: int) -> None:
        """Sit down and stay to the end of the table, as a watcher after leaving."""
        self._table_id = table_id
        self._price_coins = leaving_price_coins
        self.socket = TableSocket(address, self.account, table_id)
        async for frame in self.socket.frames():
            seen = self.socket.seen
            assert seen is not None
            self._note(frame, seen)
            if seen.ended and seen.settled:
                break
            self._do(self._next_step(seen))
        if self._busy is not None:
            self._busy.cancel()
            await asyncio.gather(self._busy, return_exceptions=True)
        await self.socket.close()
        self.faults += self.socket.faults

    async def start_game(self) -> Frame:
        return await self.socket.command("start")

    def _note(self, frame: Frame, seen: Seen) -> None:
        if seen.seat is not None or self.left:
            self.seated.set()
        if frame["type"] == "seat_refused" and frame["account_id"] == self.account.account_id:
            self.seat_refused = frame
        if frame["type"] == "hand_scored":
            self.hands = frame["hand_no"]
        came_back = frame["type"] == "card_played" and frame["turn_id"] == self._moving.turn_id
        if came_back and self.socket.reconnections == self._moving.reconnections:
            self.move_s.append(time.perf_counter() - self._moving.sent_s)

    def _next_step(self, seen: Seen) -> Step | None:
        """What the person does now; None where there is nothing to do, or something is being done."""
        if self._busy is not None and not self._busy.done():
            return None
        if seen.phase == "seating" and seen.seat is None:
            return self._sit_down
        if seen.phase == "starting" and not self._has_opened_seed:
            return self._open_seed
        if self.left or seen.seat is None or self.manner is Manner.SILENT:
            return None
        if seen.phase == "between_hands" and seen.hand_no > self._ready_hand:
            return partial(self._say_ready, seen.hand_no)
        if seen.is_own_turn:
            assert seen.turn is not None
            if seen.turn["turn_id"] != self._answered_turn:
                return partial(self._take_turn, seen)
        return None

    def _do(self, step: Step | None) -> None:
        if step is not None:
            self._busy = asyncio.create_task(self._carefully(step))

    async def _carefully(self, step: Step) -> None:
        await step()
        # What came while this was being done may ask for more.
        seen = self.socket.seen
        self._busy = None
        if seen is not None and not seen.ended:
            self._do(self._next_step(seen))

    async def _sit_down(self) -> None:
        commit = hashlib.sha256(b"spades-cseed/1\0" + self._seed).hexdigest()
        answer = await self.socket.command("take_seat", seed_commit=commit)
        if answer["type"] == "command_rejected" and answer["code"] != "already_seated":
            self.faults.append(f"take_seat: {answer['code']}")
        # The frame that seats us, or refuses the seat, comes behind the answer.
        while not self.seated.is_set() and self.seat_refused is None:
            await asyncio.sleep(0.02)
            if self.socket.seen is not None and self.socket.seen.phase != "seating":
                return
        self.seat_refused = None

    async def _open_seed(self) -> None:
        self._has_opened_seed = True
        answer = await self.socket.command("open_seed", seed=self._seed.hex())
        if answer["type"] == "command_rejected" and answer["code"] not in ("wrong_phase", "game_over"):
            self.faults.append(f"open_seed: {answer['code']}")

    async def _say_ready(self, hand_no: int) -> None:
        self._ready_hand = hand_no
        answer = await self.socket.command("ready")
        if answer["type"] == "command_rejected" and answer["code"] not in PASSING_REFUSALS:
            self.faults.append(f"ready: {answer['code']}")

    async def _take_turn(self, seen: Seen) -> None:
        if not seen.is_own_turn:
            # The clock was faster than we.
            return
        if self.manner is Manner.LEAVES and (seen.hand_no, len(seen.view.tricks)) >= self._leave_at:
            await self._leave()
            return
        if self.manner is Manner.DROPS and self._chance.random() < DROP_SHARE:
            await self.socket.drop()
            return
        if self._chance.random() < COMPARE_SHARE:
            await self.socket.compare()
            return
        await self._move(seen)

    async def _leave(self) -> None:
        answer = await self.socket.command("leave", confirm_price=self._price_coins)
        if answer["type"] == "ack":
            self.left = True
        elif answer["code"] not in PASSING_REFUSALS:
            self.faults.append(f"leave: {answer['code']} {answer.get('price_coins')}")

    async def _move(self, seen: Seen) -> None:
        assert seen.turn is not None
        turn_id = seen.turn["turn_id"]
        offered = seen.view.may_look
        kind, fields, what = _in_words(self._chosen(seen, turn_id), turn_id)
        if kind != "look_at_cards":
            self._answered_turn = turn_id
        if kind == "play_card":
            self._moving = Moving(turn_id, time.perf_counter(), self.socket.reconnections)
        answer = await self.socket.command(kind, **fields)
        if answer["type"] == "ack":
            self.blind_offers += offered
            self.journal.append(Acked(self._table_id, turn_id, kind, what, answer["first_seq"], answer["last_seq"]))
        elif answer["code"] not in PASSING_REFUSALS:
            self.faults.append(f"{kind} {what}: {answer['code']} in {turn_id}")

    def _chosen(self, seen: Seen, turn_id: str) -> Command:
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


def _in_words(move: Any, turn_id: str) -> tuple[str, dict[str, Any], Any]:
    """The judged move as the frame's type, its fields, and what the stream must say of it."""
    match move:
        case LookAtCards():
            hand_no = int(turn_id.split(":")[0])
            return "look_at_cards", {"hand_no": hand_no}, hand_no
        case PlaceBid(bid=bid):
            return "bid", {"turn_id": turn_id, "bid": bid}, bid
        case PassCards(cards=cards):
            return "pass_cards", {"turn_id": turn_id, "cards": list(card_names(cards))}, 2
        case PlayCard(card=card):
            return "play_card", {"turn_id": turn_id, "card": card_name(card)}, card_name(card)
        case _:
            raise AssertionError(move)
