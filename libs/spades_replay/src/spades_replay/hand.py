"""One hand, replayed: dealt again from its revealed secret, every move judged by the rules."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import spades_rules as rules
from spades_events import events
from spades_replay.faults import Illegal
from spades_rules import Mask, PassSeen, Seat, card_name, parse_card, parse_cards

TurnEvent = (
    events.TurnStarted
    | events.CardsSeen
    | events.BidMade
    | events.CardsPassed
    | events.CardPlayed
    | events.SpadesBroken
    | events.TrickTaken
    | events.HandScored
    | events.SeatAutoplayed
)


class HandFault(Illegal):
    """An illegal event inside a hand, with its version."""

    def __init__(self, version: int, text: str) -> None:
        super().__init__(text)
        self.version = version


@dataclass(kw_only=True, slots=True)
class DealtHand:
    """A hand as its public events tell it, until its secret is revealed."""

    hand_no: int
    dealer: int
    deck_id: int
    fingerprint: str
    version: int = 0
    """Of its `HandDealt`; 0 while it is only committed."""
    face_down: tuple[int, ...] = ()
    moves: list[tuple[int, TurnEvent]] = field(default_factory=list)
    """(version, event) in order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Replayed:
    """How a hand went: the game behind it, and the end of the game where this hand brought it."""

    game: rules.Game
    ended: rules.GameEnded | None
    is_scored: bool


class HandReplay:
    """The walk through one hand's events, on the rules' own game."""

    def __init__(self, book: rules.Rules, game: rules.Game, hand: DealtHand, revealed: events.DealRevealed) -> None:
        self._book = book
        self._hand = hand
        self._swaps = deque(_passes_of(revealed.swaps))
        self._promised: deque[rules.Event] = deque()
        self._turn: events.TurnStarted | None = None
        self._turns = 0
        self.game = game

    def deal(self, hands: rules.Hands) -> None:
        """Deal the hand again; the seats that got their cards face down must be those that the rules say."""
        promised = self._judged(self._hand.version, rules.DealHand(self._hand.hand_no, Seat(self._hand.dealer), hands))
        dealt = promised[0]
        if not isinstance(dealt, rules.HandDealt) or tuple(dealt.face_down) != tuple(self._hand.face_down):
            raise HandFault(self._hand.version, f"seats {self._hand.face_down} got their cards face down")
        self.game = self._book.evolve(self.game, dealt)

    def feed(self, version: int, event: TurnEvent) -> None:
        """Judge one event and fold it. Raises HandFault."""
        match event:
            case events.TurnStarted():
                self._start_turn(version, event)
            case events.SeatAutoplayed():
                self._check_turn(version, event.turn_id, event.seat)
            case events.CardsSeen() if not self._promised:
                self._make(version, rules.LookAtCards(Seat(event.seat)), event)
            case events.BidMade():
                self._check_turn(version, event.turn_id, event.seat)
                self._make(version, rules.PlaceBid(Seat(event.seat), event.bid), event)
            case events.CardPlayed():
                self._check_turn(version, event.turn_id, event.seat)
                self._make(version, rules.PlayCard(Seat(event.seat), _card(version, event.card)), event)
            case events.CardsPassed():
                self._check_turn(version, event.turn_id, event.from_seat)
                self._pass(version, event)
            case events.TrickTaken() if event.trick_no != self._tricks + 1:
                raise HandFault(version, f"trick {event.trick_no} after {self._tricks} tricks")
            case events.CardsSeen() | events.SpadesBroken() | events.TrickTaken() | events.HandScored():
                self._take_promised(version, event)

    @property
    def _tricks(self) -> int:
        return len(self.game.tricks) if isinstance(self.game, rules.Play) else 0

    def finish(self, version: int) -> Replayed:
        """Return how the hand went; where moves are missing it was called off."""
        last = self._promised.popleft() if self._promised else None
        ended = last if isinstance(last, rules.GameEnded) else None
        if last is not None and ended is None:
            raise HandFault(version, f"{type(last).__name__} is missing")
        if self._promised:
            raise HandFault(version, f"{type(self._promised[0]).__name__} is missing")
        scored = isinstance(self.game, rules.AwaitingDeal)
        return Replayed(game=self.game, ended=ended, is_scored=scored)

    def _start_turn(self, version: int, event: events.TurnStarted) -> None:
        if self._promised:
            raise HandFault(version, f"{type(self._promised[0]).__name__} is missing before the turn")
        turn = self._book.expected(self.game)
        if turn is None or (turn.seat, turn.kind) != (event.seat, event.kind.value):
            raise HandFault(version, f"a turn to {event.kind} for seat {event.seat}, whose turn it is not")
        self._turns += 1
        if event.turn_id != f"{self._hand.hand_no}:{self._turns}" or event.hand_no != self._hand.hand_no:
            raise HandFault(version, f"turn id {event.turn_id} for turn {self._turns}")
        self._turn = event

    def _check_turn(self, version: int, turn_id: str, seat: int) -> None:
        if self._turn is None or (self._turn.turn_id, self._turn.seat) != (turn_id, seat):
            raise HandFault(version, f"seat {seat} moved in turn {turn_id}, which is not running")

    def _make(self, version: int, command: rules.Command, event: TurnEvent) -> None:
        if self._promised:
            raise HandFault(version, f"{type(self._promised[0]).__name__} is missing")
        self._promised.extend(self._judged(version, command))
        if isinstance(event, events.BidMade | events.CardPlayed | events.CardsPassed):
            self._turn = None
        self._take_promised(version, event)

    def _pass(self, version: int, event: events.CardsPassed) -> None:
        if not self._swaps:
            raise HandFault(version, "cards were passed that no revealed swap names")
        seen = self._swaps.popleft()
        if (seen.from_seat, seen.to_seat, seen.cards.bit_count()) != (event.from_seat, event.to_seat, event.count):
            raise HandFault(version, "the revealed swap is another than the one seen")
        self._make(version, rules.PassCards(Seat(event.from_seat), seen.cards), event)

    def _judged(self, version: int, command: rules.Command) -> tuple[rules.Event, ...]:
        try:
            return self._book.decide(self.game, command)
        except rules.Rejected as refusal:
            raise HandFault(version, f"against the rules: {refusal.sentence}") from None

    def _take_promised(self, version: int, event: TurnEvent) -> None:
        if not self._promised:
            raise HandFault(version, f"{type(event).__name__} out of nothing")
        promised = self._promised.popleft()
        if not _tells(event, promised):
            raise HandFault(version, f"{event} where the rules say {promised}")
        self.game = self._book.evolve(self.game, promised)


def cards_played(moves: Sequence[tuple[int, TurnEvent]]) -> tuple[Mask, ...]:
    """What each seat was seen to play, by seat."""
    played = [0, 0, 0, 0]
    for _, event in moves:
        if isinstance(event, events.CardPlayed):
            played[event.seat] |= 1 << parse_card(event.card)
    return tuple(Mask(mask) for mask in played)


def passes_seen(swaps: Sequence[events.Swap]) -> tuple[PassSeen, ...]:
    """The revealed swaps as the deal's check takes them."""
    return tuple(_passes_of(swaps))


def _passes_of(swaps: Sequence[events.Swap]) -> list[PassSeen]:
    passes = []
    for swap in swaps:
        partner = rules.partner_of(Seat(swap.bidder))
        for from_seat, to_seat, cards in ((swap.bidder, partner, swap.passed), (partner, swap.bidder, swap.returned)):
            # A hand called off in the middle of a swap has only its first half.
            if cards:
                passes.append(PassSeen(from_seat, to_seat, parse_cards(cards)))
    return passes


def _card(version: int, name: str) -> rules.Card:
    try:
        return parse_card(name)
    except rules.BadNotation:
        raise HandFault(version, "no card has that name") from None


def _tells(event: TurnEvent, promised: rules.Event) -> bool:
    """Whether the public event says exactly what the rules' event says."""
    match event, promised:
        case events.BidMade(), rules.BidMade(seat, bid):
            return event.seat == seat and event.bid == bid
        case events.CardsSeen(), rules.CardsSeen(seat):
            return event.seat == seat
        case events.CardsPassed(), rules.CardsPassed(from_seat, to_seat, cards):
            return (event.from_seat, event.to_seat, event.count) == (from_seat, to_seat, cards.bit_count())
        case events.CardPlayed(), rules.CardPlayed(seat, card):
            return event.seat == seat and event.card == card_name(card)
        case events.SpadesBroken(), rules.SpadesBroken():
            return True
        case events.TrickTaken(), rules.TrickTaken(winner, leader, cards):
            told = (event.winner, event.leader, tuple(event.cards))
            return told == (winner, leader, tuple(card_name(card) for card in cards))
        case events.HandScored(), rules.HandScored():
            return event == _scored(promised)
        case _:
            return False


def _scored(promised: rules.HandScored) -> events.HandScored:
    first, second = (
        events.TeamScore(
            contract=team.contract,
            tricks=team.helping,
            lines=tuple(
                events.ScoreLine(rule=line.rule.value, points=line.points, seat=line.seat, count=line.count)
                for line in team.lines
            ),
            delta=team.delta,
            score=team.score_after,
            bags=team.bags_after,
            bag_penalties=team.bag_penalties,
        )
        for team in promised.teams
    )
    return events.HandScored(
        hand_no=promised.hand_no, bids=promised.bids, tricks=promised.tricks, teams=(first, second)
    )
