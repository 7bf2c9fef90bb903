"""Which cards and bids the rules allow, and who wins a trick."""

from __future__ import annotations

from collections.abc import Sequence

from spades_rules.bids import BLIND_BIDS, BLIND_NIL, SEEN_BIDS, Bid
from spades_rules.cards import SPADES, SUIT_MASK_OF, Card, Mask
from spades_rules.ruleset import Ruleset
from spades_rules.seats import SEATS, Seat, Team


def legal_leads(hand: Mask, *, broken: bool) -> Mask:
    """What a leader may play: until spades are broken no spade, unless there is nothing else."""
    if broken:
        return hand
    return Mask(hand & ~SPADES or hand)


def legal_follows(hand: Mask, led: Card) -> Mask:
    """What a later player may play: the suit led if the hand has it, else anything."""
    return Mask(hand & SUIT_MASK_OF[led] or hand)


def breaks_spades(led: Card, card: Card) -> bool:
    """Whether `card` is a spade on a trick of another suit.

    A spade on a spade lead breaks nothing.
    """
    return card >= 39 > led


def winning_card(trick: Sequence[Card]) -> Card:
    """The highest spade of a trick, else the highest card of the suit led (the first card's)."""
    mask = 0
    for card in trick:
        mask |= 1 << card
    return Card((mask & SPADES or mask & SUIT_MASK_OF[trick[0]]).bit_length() - 1)


def blind_nil_team(ruleset: Ruleset, scores: tuple[int, int]) -> Team | None:
    """The team that may bid Blind Nil in a hand dealt at these scores; never both."""
    if not ruleset.blind_nil_points:
        return None
    if scores[1] - scores[0] >= ruleset.blind_nil_gap:
        return Team(0)
    if scores[0] - scores[1] >= ruleset.blind_nil_gap:
        return Team(1)
    return None


def bids_open(*, face_down: bool) -> tuple[Bid, ...]:
    """The bids of a seat on turn: Blind Nil alone while face down, all others once seen."""
    return BLIND_BIDS if face_down else SEEN_BIDS


def swap_bidder(ruleset: Ruleset, bids: Sequence[Bid]) -> Seat | None:
    """Who passes first after this auction: the Blind Nil bidder.

    None without a swap, or when both partners bid it.
    """
    blind = [seat for seat in SEATS if bids[seat] == BLIND_NIL]
    return blind[0] if ruleset.swap_cards and len(blind) == 1 else None
