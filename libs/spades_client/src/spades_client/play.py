"""A game by callback: sit down, bring a seed, say ready, and ask for every move of one's own."""

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable, Container
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable
from typing import Any, Final

from spades_client.errors import Rejected
from spades_client.seen import Frame, Seen
from spades_client.table import Table
from spades_rules import Command, LookAtCards, PassCards, PlaceBid, PlayCard, card_name, card_names, seed_commit

Choose = Callable[[Seen], Command | Awaitable[Command | None] | None]
"""The move of one's own turn; None: not now, ask again behind the next frame."""
Step = Callable[[], Awaitable[bool]]
"""Whether anything was done, so that it is worth while to look again at once."""

TOO_LATE: Final = frozenset({"stale_turn", "game_over", "not_seated", "wrong_phase", "already_seen"})
"""What a move is answered when time ran out meanwhile, or when it was made before the line was cut."""
TRY_AGAIN: Final = frozenset({"reservation_expired"})
"""Why a seat was refused that may be had by now: the wallet was slow."""


@dataclass(frozen=True, slots=True)
class Acked:
    """A move that is committed: it stands in the table's stream once, at these versions."""

    table_id: str
    turn_id: str
    kind: str
    what: Any
    first_seq: int
    last_seq: int


def _nothing(*_: object) -> None:
    """Nobody wants to know."""


class Play:
    """One person's way through one game; `run` returns when the table has ended and is settled."""

    def __init__(
        self,
        table: Table,
        choose: Choose,
        *,
        starts: bool = False,
        says_ready: bool = True,
        told: Callable[[Frame, Seen], None] = _nothing,
        acked: Callable[[Acked], None] = _nothing,
    ) -> None:
        """`told` sees every frame with the table behind it, `acked` every committed move."""
        self.table = table
        self._choose = choose
        self._starts = starts
        self._says_ready = says_ready
        self._told = told
        self._acked = acked
        self._seed = secrets.token_bytes(32)
        self._news = asyncio.Event()
        self._has_asked_for_seat = False
        self._has_started = False
        self._has_opened_seed = False
        self._ready_hand = 0
        self._looked_hand = 0
        self._answered_turn = ""

    async def run(self) -> Seen:
        """Play to the end.

        Raises Rejected where a seat or a move is refused, and whatever `Table.frames` raises.
        """
        reading, acting = asyncio.create_task(self._read()), asyncio.create_task(self._act())
        try:
            await asyncio.wait((reading, acting), return_when=asyncio.FIRST_COMPLETED)
            # Once the table has ended nobody needs the answer of a last command.
            (reading if reading.done() else acting).result()
        finally:
            acting.cancel()
            reading.cancel()
            await asyncio.gather(reading, acting, return_exceptions=True)
            await self.table.close()
        return self._seen

    async def _read(self) -> None:
        async with contextlib.aclosing(self.table.frames()) as frames:
            async for frame in frames:
                seen = self._seen
                self._told(frame, seen)
                if frame["type"] == "seat_refused" and frame["account_id"] == self.table.account.account_id:
                    if frame["code"] not in TRY_AGAIN:
                        raise Rejected("take_seat", frame)
                    self._has_asked_for_seat = False
                if seen.ended and seen.settled:
                    return
                self._news.set()

    async def _act(self) -> None:
        """One thing after the other, each when the table asks for it."""
        while True:
            self._news.clear()
            step = None if self.table.seen is None else self._next_step(self.table.seen)
            if step is None or not await step():
                await self._news.wait()

    @property
    def _seen(self) -> Seen:
        assert self.table.seen is not None
        return self.table.seen

    def _next_step(self, seen: Seen) -> Step | None:
        if seen.phase == "seating" and seen.seat is None:
            return None if self._has_asked_for_seat else self._sit_down
        if seen.phase == "seating":
            return self._start if self._starts and not self._has_started else None
        if seen.phase == "starting":
            return None if self._has_opened_seed else self._open_seed
        if seen.seat is None:
            return None
        if seen.phase == "between_hands":
            is_due = self._says_ready and seen.hand_no > self._ready_hand
            return partial(self._say_ready, seen.hand_no) if is_due else None
        return partial(self._take_turn, seen) if self._is_asked(seen) else None

    def _is_asked(self, seen: Seen) -> bool:
        if seen.turn is None or not seen.is_own_turn or seen.turn["turn_id"] == self._answered_turn:
            return False
        # Looked already: the cards are on their way.
        return not seen.view.may_look or self._looked_hand != seen.hand_no

    async def _sit_down(self) -> bool:
        self._has_asked_for_seat = True
        await self._command("take_seat", {"already_seated"}, seed_commit=seed_commit(self._seed).hex())
        return True

    async def _start(self) -> bool:
        self._has_started = True
        return await self._command("start", {"starting", "wrong_phase"})

    async def _open_seed(self) -> bool:
        self._has_opened_seed = True
        return await self._command("open_seed", {"wrong_phase", "game_over", "not_seated"}, seed=self._seed.hex())

    async def _say_ready(self, hand_no: int) -> bool:
        self._ready_hand = hand_no
        return await self._command("ready", TOO_LATE)

    async def _command(self, kind: str, as_good: Container[str], **fields: Any) -> bool:
        """Send it; some refusals only say that it is done, or that it is too late for it."""
        try:
            await self.table.command(kind, **fields)
        except Rejected as rejected:
            if rejected.code not in as_good:
                raise
        return True

    async def _take_turn(self, seen: Seen) -> bool:
        assert seen.turn is not None
        # The table goes on while somebody thinks.
        turn_id, hand_no = seen.turn["turn_id"], seen.hand_no
        chosen = self._choose(seen)
        move = await chosen if isawaitable(chosen) else chosen
        if move is None:
            return False
        kind, fields, what = in_words(move, turn_id)
        if isinstance(move, LookAtCards):
            self._looked_hand = hand_no
        else:
            self._answered_turn = turn_id
        try:
            ack = await self.table.command(kind, **fields)
        except Rejected as rejected:
            if rejected.code not in TOO_LATE:
                raise
        else:
            assert ack.first_seq is not None
            assert ack.last_seq is not None
            self._acked(Acked(self.table.table_id, turn_id, kind, what, ack.first_seq, ack.last_seq))
        return True


def in_words(move: Command, turn_id: str) -> tuple[str, dict[str, Any], Any]:
    """The move as its frame's type, its fields, and what the stream will say of it."""
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
            raise AssertionError(f"no player's move: {move}")
