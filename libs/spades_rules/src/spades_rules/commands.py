"""A command: what a player, or the table for the deal, asks the game to do."""

from __future__ import annotations

from dataclasses import dataclass

from spades_rules.bids import Bid
from spades_rules.cards import Card, Mask
from spades_rules.seats import Seat

Hands = tuple[Mask, Mask, Mask, Mask]


@dataclass(frozen=True, slots=True)
class DealHand:
    """Deal hand `hand_no` (1 is the first); `hands` are the 13 cards of seats 0 to 3."""

    hand_no: int
    dealer: Seat
    hands: Hands


@dataclass(frozen=True, slots=True)
class LookAtCards:
    """Turn one's face-down cards; the seat then gives up Blind Nil for this hand."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class PlaceBid:
    seat: Seat
    bid: Bid


@dataclass(frozen=True, slots=True)
class PassCards:
    """Hand two cards to the partner: the Blind Nil bidder first, then the partner back."""

    seat: Seat
    cards: Mask


@dataclass(frozen=True, slots=True)
class PlayCard:
    seat: Seat
    card: Card


Command = DealHand | LookAtCards | PlaceBid | PassCards | PlayCard
