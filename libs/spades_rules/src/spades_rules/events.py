"""An event: a fact of the game, past tense and complete."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from spades_rules.bids import Bid
from spades_rules.cards import Card, Mask
from spades_rules.commands import Hands
from spades_rules.seats import Seat, Team


class ScoreRule(StrEnum):
    """The rule that a line of the score sheet comes from."""

    CONTRACT_MADE = "contract_made"
    CONTRACT_MISSED = "contract_missed"
    NIL_MADE = "nil_made"
    NIL_FAILED = "nil_failed"
    BLIND_NIL_MADE = "blind_nil_made"
    BLIND_NIL_FAILED = "blind_nil_failed"
    BAGS = "bags"
    BAG_PENALTY = "bag_penalty"


class EndReason(StrEnum):
    TARGET = "target"
    FLOOR = "floor"
    HAND_LIMIT = "hand_limit"


@dataclass(frozen=True, slots=True)
class HandDealt:
    """`face_down` lists the seats that have not seen their cards: Blind Nil is open to them."""

    hand_no: int
    dealer: Seat
    hands: Hands
    face_down: tuple[Seat, ...]


@dataclass(frozen=True, slots=True)
class CardsSeen:
    seat: Seat


@dataclass(frozen=True, slots=True)
class BidMade:
    seat: Seat
    bid: Bid


@dataclass(frozen=True, slots=True)
class CardsPassed:
    from_seat: Seat
    to_seat: Seat
    cards: Mask


@dataclass(frozen=True, slots=True)
class CardPlayed:
    seat: Seat
    card: Card


@dataclass(frozen=True, slots=True)
class SpadesBroken:
    """A spade was just played on a trick of another suit; said once a hand."""


@dataclass(frozen=True, slots=True)
class TrickTaken:
    """`cards` are in the order they were played, the leader's first."""

    winner: Seat
    leader: Seat
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """One line of the score sheet: `count` is the tricks, bags or penalties that `points` are for.

    `seat` is the Nil bidder for a Nil's line and None for a line of the whole team.
    """

    rule: ScoreRule
    points: int
    count: int
    seat: Seat | None


@dataclass(frozen=True, slots=True)
class TeamScore:
    """One team's hand.

    `helping` tricks count toward `contract`; `delta` is the sum of the lines' points.
    """

    team: Team
    contract: int
    helping: int
    score_before: int
    score_after: int
    bags_before: int
    bags_after: int
    delta: int
    bag_penalties: int
    lines: tuple[ScoreLine, ...]


@dataclass(frozen=True, slots=True)
class HandScored:
    """`tie_plays_on`: the game would have ended, had the scores not been equal."""

    hand_no: int
    bids: tuple[Bid, Bid, Bid, Bid]
    tricks: tuple[int, int, int, int]
    teams: tuple[TeamScore, TeamScore]
    tie_plays_on: bool


@dataclass(frozen=True, slots=True)
class GameEnded:
    """`winner` is None for a draw, which only the limit on hands can bring."""

    winner: Team | None
    reason: EndReason
    scores: tuple[int, int]


Event = HandDealt | CardsSeen | BidMade | CardsPassed | CardPlayed | SpadesBroken | TrickTaken | HandScored | GameEnded
