"""Tables under whatever comes: any command of anybody at any time, timeouts, outages, late and repeated news."""

import contextlib
import random
from typing import Any

import pytest

import spades_rules as rules
from spades_events import commands, events, wallet
from spades_events.clock import TimedOut
from spades_events.values import BOT_ACCOUNT, TableKind
from spades_table.domain import Refused
from spades_table.phases import BetweenHands, Ended, Playing, Starting
from spades_table.seats import Person
from tests.table.driving import HOST, DrivenTable, event_of, wallet_answer

ACCOUNTS = (HOST, "bob", "cat", "dan", "eve", BOT_ACCOUNT)
SEEDS = {account: rules.chain_step(account.encode().ljust(32, b"-")) for account in ACCOUNTS}
STEPS = 700
SEEDS_TRIED = 24


class Chaos:
    """One table, and a generator that asks of it whatever it likes; the same seed does the same again."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.driven = DrivenTable(fold_check=seed % 4 == 0)
        self.heard: list[Any] = []
        self.answered = 0

    def open(self) -> None:
        kind = self.draw.choice(list(TableKind))
        name, options = self.draw.choice(
            [("deniro", {}), ("club", {}), ("jokers", {"blind_nil": True, "swap": True}), ("classic", {"target": 200})]
        )
        coins = kind in (TableKind.COINS, TableKind.ONLINE)
        self.driven.open(
            kind,
            ruleset=name,
            options=options,
            stake_coins=self.draw.choice((1, 10, 100)) if coins else 0,
            bots_welcome=self.draw.random() < 0.7,
        )

    def step(self) -> None:
        self.driven.now_ms += self.draw.choice((0, 1, 50, 400, 2_000))
        self._wallet_answers()
        act = self.draw.choices(
            (self._move, self._ask, self._time_out, self._outage, self._old_news), (60, 25, 12, 1, 3)
        )[0]
        act()

    def _wallet_answers(self) -> None:
        while self.answered < len(self.driven.stored) and self.draw.random() < 0.8:
            event = event_of(self.driven.stored[self.answered])
            self.answered += 1
            news: Any = wallet_answer(event)
            if isinstance(news, wallet.HoldPlaced) and self.draw.random() < 0.2:
                news = wallet.HoldRefused(
                    accounts=(),
                    reservation_id=news.reservation_id,
                    seat=news.seat,
                    account_id=news.account_id,
                    code="insufficient_balance",
                    needed_coins=2,
                    available_coins=1,
                )
            if news is not None:
                self.heard.append(news)
                self.driven.judge(news)

    def _move(self) -> None:
        table = self.driven.table
        if isinstance(table, Playing):
            self.driven.move()
        else:
            self._ask()

    def _ask(self) -> None:
        account = self.draw.choice(ACCOUNTS)
        with contextlib.suppress(Refused):
            self.driven.ask(account, self._command(account), self.draw.randbytes(8))

    def _command(self, account: str) -> Any:
        table = self.driven.table
        turn = table.turn if isinstance(table, Playing) else None
        turn_id = self.draw.choice((turn.turn_id if turn else "1:1", "1:1", "2:7"))
        hand_no = table.game.hand_no if isinstance(table, Playing | BetweenHands) else 1
        card = self.draw.choice(rules.CARD_NAMES)
        commit = rules.seed_commit(SEEDS[account]).hex()
        kinds: list[Any] = [
            commands.TakeSeat(seat=self.draw.choice((None, 0, 1, 2, 3)), seed_commit=self.draw.choice((None, commit))),
            commands.TakeSeat(),
            commands.ReadyForNextHand(),
            commands.LookAtCards(hand_no=hand_no),
            commands.PlayCard(turn_id=turn_id, card=card),
            commands.PlaceBid(turn_id=turn_id, bid=self.draw.choice((0, 1, 13, "nil", "blind_nil"))),
            commands.PassCards(turn_id=turn_id, cards=(card, self.draw.choice(rules.CARD_NAMES))),
            commands.StartGame(),
        ]
        if isinstance(table, Starting):
            kinds = [commands.OpenSeed(seed=SEEDS[account].hex()), commands.OpenSeed(seed="00" * 32)]
        elif self.draw.random() < 0.02:
            price = self.draw.choice((0, 2, 11, 110))
            kinds = [commands.LeaveGame(confirm_price_coins=price), commands.ReleaseSeat()]
        return self.draw.choice(kinds)

    def _time_out(self) -> None:
        deadline = self.driven.table.deadline
        if deadline is None:
            return
        if deadline.kind in ("closing", "idle") and self.draw.random() < 0.95:
            return
        self.heard.append(TimedOut(deadline_id=deadline.id, due_ms=deadline.due_ms))
        self.driven.time_out()

    def _outage(self) -> None:
        self.driven.outage(self.draw.choice((2_001, 60_000)))

    def _old_news(self) -> None:
        if self.heard:
            news = self.draw.choice(self.heard)
            if not isinstance(news, wallet.Settlement):
                before = self.driven.table.version
                self.driven.judge(news)
                # What was heard before has had its effect already.
                assert self.driven.table.version == before

    def check(self) -> None:
        table = self.driven.table
        assert (table.deadline is None) == isinstance(table, Ended)


@pytest.mark.parametrize("seed", range(SEEDS_TRIED))
def test_a_table_comes_through_anything(seed: int) -> None:
    chaos = Chaos(seed)
    chaos.open()
    for _ in range(STEPS):
        chaos.step()
        chaos.check()
        if isinstance(chaos.driven.table, Ended) and chaos.driven.table.settled:
            break
    told = chaos.driven.told()
    reserved = [event.reservation_id for event in told if isinstance(event, events.SeatReserved)]
    assert len(set(reserved)) == len(reserved)
    taken = [event.reservation_id for event in told if isinstance(event, events.SeatTaken) and event.reservation_id]
    assert len(set(taken)) == len(taken)
    assert set(taken) <= set(reserved)
    ends = [event for event in told if isinstance(event, events.GameEnded | events.TableCancelled)]
    assert len(ends) <= 1
    assert sum(isinstance(event, events.GameSettled) for event in told) <= len(ends)
    turns = [event.turn_id for event in told if isinstance(event, events.TurnStarted)]
    assert len(set(turns)) == len(turns)
    missed = [event.turn_id for event in told if isinstance(event, events.SeatAutoplayed)]
    assert len(set(missed)) == len(missed)
    moved = [
        event.turn_id for event in told if isinstance(event, events.BidMade | events.CardPlayed | events.CardsPassed)
    ]
    assert len(set(moved)) == len(moved)
    accounts = [holder for event in told if isinstance(event, events.GameStarted) for holder in event.seats]
    people = [holder.account_id for holder in accounts if holder.account_id != BOT_ACCOUNT]
    assert len(set(people)) == len(people)


def test_the_generator_reaches_every_phase_and_every_end() -> None:
    seen: set[str] = set()
    for seed in range(SEEDS_TRIED):
        chaos = Chaos(seed)
        chaos.open()
        for _ in range(STEPS):
            chaos.step()
            table = chaos.driven.table
            seen.add(type(table).__name__)
            if isinstance(table, Playing) and any(not isinstance(one, Person) for one in table.occupants):
                seen.add("bots")
            if isinstance(table, Ended):
                seen.add(table.reason)
                break
    assert {"Seating", "Starting", "Playing", "BetweenHands", "Ended", "bots", "abandoned", "not_full"} <= seen
