"""Judging a bid: look or Blind Nil, Nil or a number."""

from __future__ import annotations

from spades_rules.bids import BID_MAX, BLIND_NIL, NIL, Bid, bid_tricks, is_nil
from spades_rules.cards import DECKS, SPADES, Deck, Mask
from spades_rules.ruleset import Ruleset
from spades_rules.view import View
from spades_rules.worth import hand_tricks, nil_danger, quick_tricks, sure_tricks

# Blind Nil is kept about one time in five: only a game that is as good as lost is worth it.
_BLIND_NIL_BEHIND = 200
_BLIND_NIL_OPPONENTS_LACK = 110
# What a hand really takes, fitted to hands that four such players played out: the estimate counts
# every card's chance, but a strong hand shares its chances with a strong partner.
_TRICKS_BASE, _TRICKS_RATE = 0.55, 0.75
# The part of a trick that is bid as a whole one.
_ROUND_UP = 0.05
# Where a missed contract costs nothing, a bid may be bolder.
_ROUND_UP_FREE_MISS = 0.25
# With fifteen spades about, side winners are ruffed sooner.
_JOKERS_SHIFT = -0.25
_ROUND_UP_BESIDE_NIL = 0.25
_ROUND_UP_OVERBID = -0.10
# The danger at which a Nil of 100 is about as good as the number bid instead.
_NIL_DANGER_MAX = 0.75
_NIL_DANGER_COVERED = 0.90


def would_bid_blind(view: View, rules: Ruleset) -> bool:
    """Whether the game is so nearly lost that a seat which has not looked should bid Blind Nil."""
    assert view.seat is not None
    team = view.seat & 1
    mine, theirs = view.scores[team], view.scores[1 - team]
    partner_bid = view.bids[(view.seat + 2) & 3]
    if is_nil(partner_bid):
        # Two Nils have nobody to cover them.
        return False
    return theirs - mine >= _BLIND_NIL_BEHIND and rules.target - theirs <= _BLIND_NIL_OPPONENTS_LACK


def judge_bid(view: View, rules: Ruleset, hand: Mask) -> Bid:
    """The bid of a seat that has seen its cards. It never brings its team's bids over 13."""
    assert view.seat is not None
    unseen = Mask(DECKS[rules.deck] & ~hand)
    worth = hand_tricks(hand, unseen)
    partner_bid = view.bids[(view.seat + 2) & 3]
    if _nil_is_worth_it(rules, hand, unseen, worth, partner_bid):
        return NIL
    number = max(
        _number(view, rules, worth, partner_bid),
        sure_tricks(hand, unseen),
        int(quick_tricks(hand, unseen)),
    )
    room = BID_MAX - (bid_tricks(partner_bid) if partner_bid is not None else 0)
    if room <= 0:
        # The partner bid all thirteen: only a Nil adds nothing.
        return NIL
    return max(1, min(number, room))


def _nil_is_worth_it(rules: Ruleset, hand: Mask, unseen: Mask, worth: float, partner_bid: Bid | None) -> bool:
    if partner_bid in (NIL, BLIND_NIL):
        return False
    if hand & SPADES and not unseen & SPADES & ~((1 << (hand & SPADES).bit_length()) - 1):
        # The highest spade of all takes a trick, come what may.
        return False
    danger = nil_danger(hand, unseen)
    limit = _NIL_DANGER_COVERED if partner_bid is not None and bid_tricks(partner_bid) >= 4 else _NIL_DANGER_MAX
    if rules.nil_points < 100:
        limit *= 0.85
    return danger + 0.06 * max(0.0, worth - 1.5) < limit


def _number(view: View, rules: Ruleset, worth: float, partner_bid: Bid | None) -> int:
    made = [bid for bid in view.bids if bid is not None]
    tricks = _TRICKS_BASE + _TRICKS_RATE * worth
    if not rules.missed_points:
        tricks += _ROUND_UP_FREE_MISS
    if rules.deck is Deck.JOKERS:
        tricks += _JOKERS_SHIFT
    if partner_bid in (NIL, BLIND_NIL):
        # A Nil's partner bids what it takes anyway while it covers: about its real tricks.
        return max(1, int(tricks + _ROUND_UP_BESIDE_NIL))
    number = int(tricks + _ROUND_UP)
    if len(made) == 3 and sum(bid_tricks(bid) for bid in made) + number >= 13:
        # As much is bid as there are tricks: somebody will be set, so it should not be us.
        number = int(tricks + _ROUND_UP_OVERBID)
    return max(1, number)
