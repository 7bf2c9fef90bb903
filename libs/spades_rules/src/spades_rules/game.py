"""A game, as the union of its phases: awaiting a deal, auction, swap, play, ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from spades_rules.bids import Bid
from spades_rules.cards import Card, Mask
from spades_rules.commands import Hands
from spades_rules.events import CardsPassed, EndReason, TrickTaken
from spades_rules.ruleset import Ruleset
from spades_rules.seats import Seat, Team

Scores = tuple[int, int]
Bids = tuple[Bid, Bid, Bid, Bid]
Counts = tuple[int, int, int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class AwaitingDeal:
    """Between hands: all that a game carries over. `hand_no` is the hand to be dealt next.

    `dealer` is that hand's dealer; None before hand 1, whose dealer the deal itself brings.
    """

    ruleset: Ruleset
    scores: Scores
    bags: Scores
    hand_no: int
    dealer: Seat | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Deal:
    """One hand as it was dealt: what stays the same through its phases.

    `scores` and `bags` are those at the deal.
    """

    ruleset: Ruleset
    scores: Scores
    bags: Scores
    hand_no: int
    dealer: Seat
    hands: Hands


class _InHand:
    """Reading a hand's deal through its phase, so that `game.scores` means the same in each."""

    __slots__ = ()
    deal: Deal

    @property
    def ruleset(self) -> Ruleset:
        return self.deal.ruleset

    @property
    def scores(self) -> Scores:
        return self.deal.scores

    @property
    def bags(self) -> Scores:
        return self.deal.bags

    @property
    def hand_no(self) -> int:
        return self.deal.hand_no

    @property
    def dealer(self) -> Seat:
        return self.deal.dealer


@dataclass(frozen=True, kw_only=True, slots=True)
class Auction(_InHand):
    """One round of bids.

    `bids` is by seat, None for those still to come; `face_down` has not seen its cards.
    """

    deal: Deal
    face_down: tuple[Seat, ...]
    bids: tuple[Bid | None, Bid | None, Bid | None, Bid | None]
    turn: Seat

    @property
    def hands(self) -> Hands:
        return self.deal.hands


@dataclass(frozen=True, kw_only=True, slots=True)
class Swap(_InHand):
    """The exchange after a Blind Nil; `passes` is empty until the bidder has passed."""

    deal: Deal
    bids: Bids
    hands: Hands
    bidder: Seat
    passes: tuple[CardsPassed, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Play(_InHand):
    """Tricks. `trick` holds the cards of the running trick in playing order, `leader` led it."""

    deal: Deal
    bids: Bids
    passes: tuple[CardsPassed, ...]
    hands: Hands
    leader: Seat
    trick: tuple[Card, ...]
    broken: bool
    taken: Counts
    tricks: tuple[TrickTaken, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """`hand_no` is the last hand that was played; `winner` is None for a draw."""

    ruleset: Ruleset
    scores: Scores
    bags: Scores
    hand_no: int
    winner: Team | None
    reason: EndReason


Game = AwaitingDeal | Auction | Swap | Play | Ended
Phase = Literal["awaiting_deal", "auction", "swap", "play", "ended"]
TurnKind = Literal["bid", "pass", "play"]


@dataclass(frozen=True, slots=True)
class Expected:
    """The one move the game waits for. Looking at one's cards is part of the bid."""

    seat: Seat
    kind: TurnKind


def new_game(ruleset: Ruleset) -> AwaitingDeal:
    return AwaitingDeal(ruleset=ruleset, scores=(0, 0), bags=(0, 0), hand_no=1, dealer=None)


def phase_of(game: Game) -> Phase:
    match game:
        case AwaitingDeal():
            return "awaiting_deal"
        case Auction():
            return "auction"
        case Swap():
            return "swap"
        case Play():
            return "play"
        case Ended():
            return "ended"


def hand_of(game: Game, seat: Seat) -> Mask:
    """The cards a seat holds; none between hands. Whether it has seen them is `view`'s business."""
    return game.hands[seat] if isinstance(game, Auction | Swap | Play) else Mask(0)
