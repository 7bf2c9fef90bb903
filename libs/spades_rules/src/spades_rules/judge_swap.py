"""Judging the Blind Nil swap: what the bidder passes, what the partner returns."""

from __future__ import annotations

from spades_rules.cards import SPADES, SUITS, Mask, cards_in
from spades_rules.worth import nil_danger


def cards_to_pass(hand: Mask, unseen: Mask, count: int) -> Mask:
    """The Blind Nil bidder's most dangerous cards, the second judged without the first."""
    passed = 0
    for _ in range(count):
        rest = Mask(hand & ~passed)
        worst = min(cards_in(rest), key=lambda card: (nil_danger(Mask(rest & ~(1 << card)), unseen), -card))
        passed |= 1 << worst
    return Mask(passed)


def cards_to_return(hand: Mask, count: int) -> Mask:
    """The partner's cards that help a Nil most: the lowest, from a short side suit first.

    Low cards of a side suit let the bidder play under every lead; a spade goes only when nothing
    else is left.
    """

    def worth_keeping(card: int) -> tuple[int, int, int]:
        if SPADES >> card & 1:
            return (1, card, 0)
        suit = card // 13
        return (0, card % 13, (hand & SUITS[suit]).bit_count())

    chosen = sorted(cards_in(hand), key=worth_keeping)[:count]
    return Mask(sum(1 << card for card in chosen))
