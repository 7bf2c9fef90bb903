"""A table in memory at the pace of a test: the real table's judgement, and the frames that the gateway makes of it.

What each seat alone may see stands beside every event, as the table publishes it.
"""

import asyncio
import dataclasses
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from spades_events import BOT_ACCOUNT, encode, frame_name
from spades_events.commands import OpenTable
from spades_events.events import TableEvent
from spades_events.private import Snapshot
from spades_rules import RULES_VERSION, AwaitingDeal, Ruleset, rules_for
from spades_table import private
from spades_table.domain import Cause, decide
from spades_table.house import House, Limits
from spades_table.phases import Dealing, Playing, Seating, Unopened
from spades_table.seats import Bot
from tests.table.driving import DrivenTable, wallet_answer

Frame = dict[str, Any]
Wallet = Callable[[TableEvent], Cause | None]
A_DAY_MS = 86_400_000


def now_ms() -> int:
    return int(time.time() * 1000)


@dataclass
class Pace:
    """How fast the table goes, in milliseconds; tests shorten what they wait for."""

    bot_ms: int = 20
    next_hand_ms: int = 60_000
    computer_speed_ms: int = 667
    bots_wait_at: str = ""
    """A kind of turn (bid, pass, play) at which bots wait until a test has looked."""


def _midway(scores: tuple[int, int], ruleset: Ruleset) -> AwaitingDeal:
    first, second = scores
    return AwaitingDeal(ruleset=ruleset, scores=scores, bags=(first % 10, second % 10), hand_no=1, dealer=None)


def _house(pace: Pace, scores: tuple[int, int]) -> House:
    rules = dataclasses.replace(rules_for(RULES_VERSION), new_game=partial(_midway, scores))
    limits = Limits(
        computer_speed_ms=pace.computer_speed_ms,
        next_hand_ms=pace.next_hand_ms,
        next_hand_practice_ms=pace.next_hand_ms,
        bot_guard_ms=A_DAY_MS,
    )
    return House(limits=limits, rules={RULES_VERSION: rules})


class FakeTable(DrivenTable):
    """A table whose bots and clock go by themselves in the running loop; without a pace nothing does.

    `scores` begin a game in its middle, for Blind Nil and for its end.
    """

    def __init__(
        self,
        table_id: str,
        host: str,
        opening: OpenTable,
        *,
        pace: Pace | None = None,
        wallet: Wallet = wallet_answer,
        scores: tuple[int, int] = (0, 0),
    ) -> None:
        house = _house(pace or Pace(), scores)
        super().__init__(house=house, table_id=table_id, root=secrets.token_bytes(32), fold_check=False)
        self.pace = pace
        self.host = host
        self.log: list[tuple[Frame, dict[int, Frame]]] = []
        self._wallet = wallet
        self._timer: asyncio.Task[None] | None = None
        self.ask(host, opening)

    def judge(self, cause: Cause) -> list[TableEvent]:
        self.now_ms = max(self.now_ms, now_ms())
        decision = decide(self.table, cause, self.now_ms)
        self.table = decision.table
        assert not isinstance(self.table, Unopened)
        for fact in decision.facts:
            parts = {one.seat: json.loads(encode(one)) for one in private.supplements(fact, self.table)}
            head = {"type": frame_name(type(fact.event)), "seq": len(self.log) + 1}
            self.log.append((head | json.loads(encode(fact.event)), parts))
        told = [fact.event for fact in decision.facts]
        for event in told:
            answer = self._wallet(event)
            if answer is not None:
                self.judge(answer)
        self._wait()
        return told

    # -- what goes by itself

    def _wait(self) -> None:
        self.stop()
        if self.pace is None:
            return
        turn = self.table.turn if isinstance(self.table, Playing) else None
        if turn is not None and isinstance(self.playing.occupants[turn.seat], Bot):
            self._later(self.pace.bot_ms, self.move, turn.kind.value)
        elif self.table.deadline is not None:
            self._later(self.table.deadline.due_ms - now_ms(), self.time_out)

    def _later(self, after_ms: int, call: Callable[[], object], kind: str = "none") -> None:
        async def wait() -> None:
            await asyncio.sleep(max(after_ms, 0) / 1000)
            while self.pace is not None and self.pace.bots_wait_at == kind:
                await asyncio.sleep(0.01)
            self._timer = None
            call()

        self._timer = asyncio.get_running_loop().create_task(wait())

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None

    def hurry(self, clock_ms: int) -> None:
        """From the next turn on, so long a move: shorter than any host may choose."""
        setup = self.playing.setup
        opened = msgspec.structs.replace(setup.opened, clock_ms=clock_ms)
        self.table = msgspec.structs.replace(self.playing, setup=msgspec.structs.replace(setup, opened=opened))

    # -- what one sees

    def seen(self, account: str | None = None) -> Snapshot:
        assert not isinstance(self.table, Unopened | Dealing)
        seat = None if account is None else self.seat_of(account)
        return private.snapshot(self.table, seat, account, now_ms(), None)

    def snapshot(self, account: str) -> Frame:
        frame: Frame = json.loads(encode(self.seen(account)))
        return frame | {"type": "snapshot", "seq": self.table.version}

    def frame(self, at: int, seat: int | None) -> Frame:
        public, parts = self.log[at]
        own = parts.get(seat) if seat is not None else None
        return public if own is None else public | {"you": own}

    def seat_of(self, account: str) -> int | None:
        return next((seat for seat, holder in self.people().items() if holder == account), None)

    def people(self) -> dict[int, str]:
        """Who sits where, computers left out."""
        holders = [holder for holder in private.snapshot(self.table, None, None, 0, None).seats if holder]  # type: ignore[arg-type]
        return {holder.seat: holder.account_id for holder in holders if holder.account_id != BOT_ACCOUNT}

    @property
    def game(self) -> Any:
        """The game as the rules have it, while it runs."""
        assert not isinstance(self.table, Unopened | Seating)
        return self.table.game  # type: ignore[union-attr]

    def told_of(self, name: str) -> list[Frame]:
        """The public events of this name, in order."""
        return [public for public, _ in self.log if public["type"] == name]
