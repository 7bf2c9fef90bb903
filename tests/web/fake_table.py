"""A table in memory that speaks the gateway's frames: the page's tests play at it.

The rules and the deal are the real ones; seats, clock and coins are as short as they can be.
Every event has one gapless `seq` and, beside it, what one seat alone may see.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from spades_rules import (
    Auction,
    AwaitingDeal,
    BidMade,
    CardPlayed,
    Command,
    DealHand,
    Ended,
    Event,
    Game,
    HandDealt,
    HandScored,
    LookAtCards,
    Mask,
    PassCards,
    PlaceBid,
    PlayCard,
    Rejected,
    Seat,
    SpadesBroken,
    TrickTaken,
    card_name,
    card_names,
    chain,
    deal_hands,
    decide,
    evolve,
    expected,
    fingerprint,
    first_dealer,
    judge,
    new_game,
    parse_card,
    parse_cards,
    ruleset,
    seed_commit,
    view,
)
from spades_rules import CardsPassed as RulesCardsPassed
from spades_rules import CardsSeen as RulesCardsSeen
from spades_rules import GameEnded as RulesGameEnded

BOT = "bot"
ZEROS = "00" * 32
MISSES_BEFORE_COMPUTER_SPEED = 3
Frame = dict[str, Any]


def now_ms() -> int:
    return int(time.time() * 1000)


class Refused(Exception):
    """A command that has no effect; `frame` is what its sender is told."""

    def __init__(self, code: str, message: str = "", **facts: object) -> None:
        super().__init__(code)
        self.frame: Frame = {"code": code, "message": message or code} | facts


@dataclass
class Pace:
    """How fast the table goes, in milliseconds; tests shorten what they wait for."""

    bot_ms: int = 20
    next_hand_ms: int = 60_000
    computer_speed_ms: int = 667
    seeds_ms: int = 3_000


@dataclass
class FakeTable:
    table_id: str
    host: str
    kind: str
    choice: dict[str, Any]
    stake_coins: int
    clock_ms: int | None
    bots_welcome: bool
    pace: Pace
    settle: Callable[[FakeTable], None] = lambda table: None
    start_scores: tuple[int, int] = (0, 0)
    """Tests begin a game in its middle, for Blind Nil and for its end."""
    seats: list[dict[str, Any] | None] = field(default_factory=lambda: [None] * 4)
    log: list[tuple[Frame, dict[int, Frame]]] = field(default_factory=list)
    phase: str = "seating"
    seeds: list[str] | None = None
    seed_missing: list[bool] = field(default_factory=lambda: [False] * 4)
    ready: set[int] = field(default_factory=set)
    leavers: dict[int, str] = field(default_factory=dict)
    payouts: list[dict[str, Any]] | None = None
    winner: int | None = None
    end_reason: str | None = None

    def __post_init__(self) -> None:
        self.rules = ruleset(self.choice["name"], self.choice.get("options") or {})
        self.links = chain(secrets.token_bytes(32))
        self.game: Game = new_game(self.rules)
        if self.start_scores != (0, 0):
            bags = tuple(score % 10 for score in self.start_scores)
            self.game = AwaitingDeal(
                ruleset=self.rules,
                scores=self.start_scores,
                bags=(bags[0], bags[1]),
                hand_no=1,
                dealer=None,
            )
        self.opened: dict[int, str] = {}
        self.turn: Frame | None = None
        self.turns = 0
        self.misses = [0] * 4
        self.swaps: list[Frame] = []
        self.dealer = 0
        self.next_due_ms: int | None = None
        self.changed = asyncio.Event()
        self.timer: asyncio.Task[None] | None = None
        self.say(
            "table_opened",
            kind=self.kind,
            ruleset=self.choice,
            rules_version=1,
            stake_coins=self.stake_coins,
            fee_coins=self.fee_coins,
            clock_ms=self.clock_ms,
            host=self.host,
            bots_welcome=self.bots_welcome,
            anchor=self.links[0].hex(),
        )

    @property
    def fee_coins(self) -> int:
        return (self.stake_coins + 9) // 10

    # -- the stream

    def say(self, name: str, you: dict[int, Frame] | None = None, /, **facts: Any) -> None:
        self.log.append(({"type": name, "seq": len(self.log) + 1} | facts, you or {}))
        self.changed.set()

    def frame(self, at: int, seat: int | None) -> Frame:
        public, private = self.log[at]
        own = private.get(seat) if seat is not None else None
        return public | ({"you": own} if own is not None else {})

    def seat_of(self, account: str) -> int | None:
        for holder in self.seats:
            if holder and holder["account_id"] == account:
                return int(holder["seat"])
        return None

    # -- seats

    def take_seat(self, account: str, seat: int | None, commit: str | None) -> None:
        if self.phase != "seating":
            raise Refused("table_full")
        if self.seat_of(account) is not None:
            raise Refused("already_seated")
        free = [number for number in range(4) if self.seats[number] is None]
        if seat is None:
            seat = free[0] if free else None
        if seat is None or seat not in free:
            raise Refused("seat_taken")
        self._sit(seat, account, commit)
        if self.kind == "coins":
            self.lock()

    def _sit(self, seat: int, account: str, commit: str | None, replaces: str | None = None) -> None:
        holder = {"seat": seat, "account_id": account, "seed_commit": commit}
        self.seats[seat] = holder
        self.say("seat_taken", holder=holder, reservation_id=None, replaces=replaces)

    def release(self, account: str) -> None:
        seat = self.seat_of(account)
        if seat is None or self.phase != "seating":
            raise Refused("not_seated")
        self.seats[seat] = None
        self.say("seat_released", seat=seat, account_id=account, reservation_id=None)

    def start(self, account: str) -> None:
        if account != self.host:
            raise Refused("not_host")
        if self.phase != "seating":
            raise Refused("starting")
        self.lock()

    def lock(self) -> None:
        for seat in range(4):
            if self.seats[seat] is None:
                self._sit(seat, BOT, None)
        self.phase = "starting"
        due = now_ms() + self.pace.seeds_ms
        self.say(
            "seats_locked",
            seats=list(self.seats),
            stake_coins=self.stake_coins,
            seeds_due_ms=due,
            start_due_ms=now_ms() + 30_000,
        )
        if self._seeds_wanted():
            self._later(self.pace.seeds_ms, self.fix_seeds)
        else:
            self.fix_seeds()

    def _seeds_wanted(self) -> list[int]:
        return [h["seat"] for h in self.seats if h and h["seed_commit"] and h["seat"] not in self.opened]

    def open_seed(self, account: str, seed: str) -> None:
        seat = self.seat_of(account)
        holder = self.seats[seat] if seat is not None else None
        if seat is None or holder is None or self.phase != "starting":
            raise Refused("wrong_phase")
        if seed_commit(bytes.fromhex(seed)).hex() != holder["seed_commit"]:
            raise Refused("seed_mismatch")
        self.opened[seat] = seed
        if not self._seeds_wanted():
            self.fix_seeds()

    def fix_seeds(self) -> None:
        self.seed_missing = [seat in self._seeds_wanted() for seat in range(4)]
        self.seeds = [self.opened.get(seat, ZEROS) for seat in range(4)]
        self.say("seeds_fixed", seeds=self.seeds, seed_missing=self.seed_missing)
        self.phase = "playing"
        self.say("game_started", seats=list(self.seats))
        self.deal()

    # -- a hand

    def deal(self) -> None:
        assert isinstance(self.game, AwaitingDeal)
        assert self.seeds is not None
        seeds = [bytes.fromhex(seed) for seed in self.seeds]
        number = self.game.hand_no
        self.dealer = (
            first_dealer(self.links[1], self.table_id, self.rules.deck_id, seeds)
            if self.game.dealer is None
            else self.game.dealer
        )
        self.phase, self.ready, self.swaps, self.turns = "playing", set(), [], 0
        self.misses, self.next_due_ms = [0] * 4, None
        self.say(
            "hand_committed",
            hand_no=number,
            fingerprint=fingerprint(self.links[number]).hex(),
            dealer=self.dealer,
            deck_id=self.rules.deck_id,
        )
        hands = deal_hands(self.links[number], self.table_id, number, self.dealer, self.rules.deck_id, seeds)
        self.decide(DealHand(number, Seat(self.dealer), hands))

    def decide(self, command: Command) -> None:
        turn, self.turn = self.turn, None
        try:
            events = decide(self.game, command)
        except Rejected:
            self.turn = turn
            raise
        for event in events:
            before = self.game
            self.game = evolve(self.game, event)
            self.tell(event, before, turn["turn_id"] if turn else "")
        self.next_turn(reissue=turn if isinstance(command, LookAtCards) else None)

    def tell(self, event: Event, before: Game, turn_id: str) -> None:
        match event:
            case HandDealt():
                you = {
                    seat: {
                        "cards": None if seat in event.face_down else card_names(event.hands[seat]),
                        "blind_nil_open": seat in event.face_down,
                    }
                    for seat in range(4)
                }
                facts = {"hand_no": event.hand_no, "dealer": event.dealer, "face_down": event.face_down}
                self.say("hand_dealt", you, **facts)
            case RulesCardsSeen():
                cards = card_names(self.hand(event.seat))
                self.say("cards_seen", {event.seat: {"cards": cards}}, seat=event.seat)
            case BidMade():
                self.say("bid_made", turn_id=turn_id, seat=event.seat, bid=event.bid)
            case RulesCardsPassed():
                own = {"cards": card_names(event.cards)}
                self.say(
                    "cards_passed",
                    {event.from_seat: own, event.to_seat: own},
                    turn_id=turn_id,
                    from_seat=event.from_seat,
                    to_seat=event.to_seat,
                    count=event.cards.bit_count(),
                )
                self._note_swap(event)
            case CardPlayed():
                self.say("card_played", turn_id=turn_id, seat=event.seat, card=card_name(event.card))
            case SpadesBroken():
                self.say("spades_broken")
            case TrickTaken():
                cards = tuple(card_name(card) for card in event.cards)
                trick_no = sum(before.taken) + 1 if hasattr(before, "taken") else 1
                facts = {"trick_no": trick_no, "leader": event.leader, "winner": event.winner}
                self.say("trick_taken", **facts, cards=cards)
            case HandScored():
                self._scored(event)
            case RulesGameEnded():
                self._end(event.winner, event.reason.value)

    def hand(self, seat: int) -> Mask:
        return self.game.hands[seat] if hasattr(self.game, "hands") else Mask(0)

    def _note_swap(self, event: RulesCardsPassed) -> None:
        if not self.swaps:
            self.swaps = [{"bidder": event.from_seat, "passed": card_names(event.cards), "returned": ()}]
        else:
            self.swaps[0]["returned"] = card_names(event.cards)

    def _scored(self, event: HandScored) -> None:
        teams = [
            {
                "contract": team.contract,
                "tricks": team.helping,
                "lines": [asdict(line) for line in team.lines],
                "delta": team.delta,
                "score": team.score_after,
                "bags": team.bags_after,
                "bag_penalties": team.bag_penalties,
            }
            for team in event.teams
        ]
        self.say("hand_scored", hand_no=event.hand_no, bids=event.bids, tricks=event.tricks, teams=teams)
        self._reveal(event.hand_no)
        self.phase = "between_hands"

    def _reveal(self, hand_no: int) -> None:
        self.say(
            "deal_revealed",
            hand_no=hand_no,
            secret=self.links[hand_no].hex(),
            dealer=self.dealer,
            deck_id=self.rules.deck_id,
            swaps=self.swaps,
        )

    def _end(self, winner: int | None, reason: str) -> None:
        self.phase, self.winner, self.end_reason = "ended", winner, reason
        results = [
            {
                "seat": h["seat"],
                "account_id": h["account_id"],
                "reservation_id": None,
                "leaver": self.leavers.get(h["seat"]),
            }
            for h in self.seats
            if h
        ]
        self.say(
            "game_over",
            winner=winner,
            reason=reason,
            scores=self.game.scores,
            hands=self.game.hand_no,
            stake_coins=self.stake_coins,
            seats=results,
        )
        if self.stake_coins:
            self.settle(self)
            self.say("game_settled", payouts=self.payouts or [])

    # -- turns

    def next_turn(self, reissue: Frame | None = None) -> None:
        turn = expected(self.game)
        if turn is None:
            if isinstance(self.game, AwaitingDeal):
                people = [h["seat"] for h in self.seats if h and h["account_id"] != BOT]
                for seat in range(4):
                    if seat not in people:
                        self.ready.add(seat)
                self.next_due_ms = now_ms() + self.pace.next_hand_ms
                self.say("deadline_set", deadline_id=0, due_ms=self.next_due_ms, kind="next_hand")
                self._later(self.pace.next_hand_ms, self.deal)
            return
        holder = self.seats[turn.seat]
        assert holder is not None
        bot = holder["account_id"] == BOT
        self.turns += 1
        slow = self.misses[turn.seat] >= MISSES_BEFORE_COMPUTER_SPEED
        limit = None if bot or self.clock_ms is None else self.clock_ms
        if slow and limit is not None:
            limit = self.pace.computer_speed_ms
        # Looking is part of the bid: it restarts no clock.
        deadline = now_ms() + limit if limit is not None else None
        if reissue is not None and reissue["seat"] == turn.seat:
            deadline = reissue["deadline_ms"]
        seen = view(self.game, turn.seat)
        own = {"legal_cards": seen.legal_cards} if turn.kind == "play" else {"legal_bids": seen.legal_bids}
        self.turn = {
            "turn_id": f"{self.game.hand_no}:{self.turns}",
            "seat": turn.seat,
            "kind": turn.kind,
            "deadline_ms": deadline,
            "computer_speed": slow,
        }
        self.say(
            "turn_started",
            {} if bot else {turn.seat: own},
            **self.turn,
            hand_no=self.game.hand_no,
            server_ms=now_ms(),
        )
        if bot:
            self._later(self.pace.bot_ms, self._judged)
        elif deadline is not None:
            self._later(deadline - now_ms(), self._timed_out)
        else:
            self._later(None, None)

    def _later(self, after_ms: int | None, call: Callable[[], None] | None) -> None:
        """Replace what runs next by itself."""
        if self.timer is not None and self.timer is not asyncio.current_task():
            self.timer.cancel()
        self.timer = None
        if after_ms is None or call is None:
            return

        async def wait() -> None:
            await asyncio.sleep(max(after_ms, 0) / 1000)
            call()

        self.timer = asyncio.get_running_loop().create_task(wait())

    def _judged(self) -> None:
        assert self.turn is not None
        self.decide(judge(view(self.game, Seat(self.turn["seat"]))))

    def _timed_out(self) -> None:
        assert self.turn is not None
        seat, turn_id = self.turn["seat"], self.turn["turn_id"]
        self.misses[seat] += 1
        self.say(
            "seat_autoplayed",
            turn_id=turn_id,
            seat=seat,
            misses=self.misses[seat],
            computer_speed=self.misses[seat] >= MISSES_BEFORE_COMPUTER_SPEED,
        )
        seen = view(self.game, Seat(seat))
        if seen.may_look:
            game = evolve(self.game, RulesCardsSeen(Seat(seat)))
            self.tell(RulesCardsSeen(Seat(seat)), self.game, turn_id)
            self.game = game
        self.decide(judge(view(self.game, Seat(seat)), by_clock=True))

    # -- what people do

    def move(self, account: str, frame: Frame) -> None:
        seat = self.seat_of(account)
        if seat is None:
            raise Refused("not_seated")
        if self.turn is None or frame.get("turn_id") != self.turn["turn_id"]:
            raise Refused("stale_turn")
        try:
            self.decide(self._command(Seat(seat), frame))
        except Rejected as rejected:
            facts = rejected.data()
            legal = {"legal_cards": facts.pop("legal")} if "legal" in facts else {}
            raise Refused(rejected.code.value, rejected.sentence, **facts, **legal) from rejected
        self.misses[seat] = 0

    def _command(self, seat: Seat, frame: Frame) -> Command:
        match frame["type"]:
            case "bid":
                return PlaceBid(seat, frame["bid"])
            case "pass_cards":
                return PassCards(seat, parse_cards(frame["cards"]))
            case _:
                return PlayCard(seat, parse_card(frame["card"]))

    def look(self, account: str) -> None:
        seat = self.seat_of(account)
        if seat is None or not isinstance(self.game, Auction):
            raise Refused("wrong_phase")
        if self.turn is not None and self.turn["seat"] == seat:
            self.decide(LookAtCards(Seat(seat)))
            return
        for event in decide(self.game, LookAtCards(Seat(seat))):
            before, self.game = self.game, evolve(self.game, event)
            self.tell(event, before, "")

    def hand_ready(self, account: str) -> None:
        seat = self.seat_of(account)
        if seat is None or not isinstance(self.game, AwaitingDeal) or self.phase != "between_hands":
            raise Refused("wrong_phase")
        if seat not in self.ready:
            self.ready.add(seat)
            self.say("seat_ready", seat=seat)
        if len(self.ready) == 4:
            self._later(None, None)
            self.deal()

    def leave(self, account: str, price: int) -> None:
        seat = self.seat_of(account)
        owed = self.stake_coins + self.fee_coins
        if seat is None or self.phase in ("seating", "ended"):
            raise Refused("not_seated")
        if self.phase == "starting":
            raise Refused("starting")
        if price != owed:
            raise Refused("price_changed", price_coins=owed)
        self.leavers[seat] = account
        self.say(
            "seat_left",
            seat=seat,
            account_id=account,
            stake_coins=self.stake_coins,
            fee_coins=self.fee_coins,
        )
        self._sit(seat, BOT, None, replaces=account)
        if all(h and h["account_id"] == BOT for h in self.seats):
            self._later(None, None)
            self._end(None, "abandoned")
        elif self.turn is not None and self.turn["seat"] == seat:
            self.next_turn()

    # -- what they see

    def snapshot(self, account: str) -> Frame:
        seat = self.seat_of(account)
        seen = None if self.phase in ("seating", "starting") else asdict(view(self.game, _seat(seat)))
        hand_no = self.game.hand_no - (1 if self.phase == "between_hands" else 0)
        dealt = self.phase == "playing"
        return {
            "type": "snapshot",
            "seq": len(self.log),
            "table_id": self.table_id,
            "version": len(self.log),
            "connection_id": None,
            "seat": seat,
            "account_id": account,
            "server_ms": now_ms(),
            "kind": self.kind,
            "ruleset": self.choice,
            "rules_version": 1,
            "stake_coins": self.stake_coins,
            "fee_coins": self.fee_coins,
            "clock_ms": self.clock_ms,
            "host": self.host,
            "anchor": self.links[0].hex(),
            "phase": self.phase,
            "seats": list(self.seats),
            "reserved": [],
            "seeds": self.seeds,
            "seed_missing": self.seed_missing if self.seeds else None,
            "hand_no": hand_no if seen else 0,
            "fingerprint": fingerprint(self.links[hand_no]).hex() if seen and dealt else None,
            "scores": self.game.scores,
            "bags": self.game.bags,
            "turn": self.turn,
            "view": seen,
            "ready": sorted(self.ready),
            "next_deadline_ms": self.next_due_ms if self.phase == "between_hands" else None,
            "winner": self.winner,
            "end_reason": self.end_reason,
            "settled": self.payouts is not None or (self.phase == "ended" and not self.stake_coins),
        }

    @property
    def over(self) -> bool:
        return self.phase == "ended" or isinstance(self.game, Ended)


def _seat(seat: int | None) -> Seat | None:
    return None if seat is None else Seat(seat)
