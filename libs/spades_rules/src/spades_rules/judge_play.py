"""Judging a card: what the trick is worth, how likely the card wins it, and its worth later.

One sum serves every situation: `value * (chance that the team wins the trick - worth of keeping the
card)`. A trick that the contract needs has a positive value, so the cheapest sufficient card is
best; a bag has a negative one, so the card to play is the most dangerous that does not win. Nils
add their own stakes.
"""

from __future__ import annotations

from spades_rules.cards import SPADES, SUIT_MASK_OF, SUIT_OF, Card, Mask, Suit, cards_in
from spades_rules.sight import Sight
from spades_rules.worth import hand_tricks, nil_danger

_NIL_STAKE = 40.0
_ATTACK_STAKE = 12.0
_BAG_COST = 6.0
# From the seventh bag on, each more brings the penalty for ten into reach of this hand.
_BAGS_SAFE, _BAG_COST_RISING = 6, 4.0
_TRICK_VALUE = 10.0
# A side suit's winner that is not led now may be ruffed later.
_KEPT_ON_LEAD = 0.6
_KEPT = 0.7


def judge_card(sight: Sight) -> Card:
    """The card to play; of equally good ones the lowest. Never looks beyond the seat's own view."""
    candidates = list(cards_in(sight.legal))
    if len(candidates) == 1:
        return candidates[0]
    if sight.nil_alive(sight.me):
        return max(candidates, key=lambda card: (_own_nil(sight, card), -card))
    mine = trick_value(sight, sight.me)
    partners = trick_value(sight, sight.partner)
    before = hand_tricks(sight.hand, sight.unseen, sight.left)
    return max(candidates, key=lambda card: (_worth(sight, card, mine, partners, before), -card))


def trick_value(sight: Sight, taker: int) -> float:
    """What one more trick is worth to the team, in points, when `taker` of it takes the trick.

    Positive to be taken, negative to be left: a trick helps the contract, sets the others, or is a
    bag.
    """
    team = sight.me & 1
    need, their_need = sight.need(team), sight.need(1 - team)
    their_contract = sight.contract(1 - team)
    to_set = sight.left - their_need + 1
    mine = hand_tricks(sight.hand, sight.unseen, sight.left)
    if their_need and 0 < to_set <= mine + 0.8:
        # Within reach: their contract lost is worth far more than the bags it costs.
        setting = (10.0 * their_contract + their_contract * sight.rules.missed_points) / (to_set + 1)
    else:
        setting = 0.0
    near_ten = max(0, sight.bags_now(team) % 10 - _BAGS_SAFE)
    bag = setting - _BAG_COST - _BAG_COST_RISING * near_ten
    if sight.makes_bags_only(taker):
        return bag
    if need > sight.left:
        # Already set: tricks make no bags now, but they may set the others too.
        return max(1.0, setting)
    if need:
        spare = sight.left - need
        return _TRICK_VALUE + setting * 0.3 + (8.0 if spare <= 1 else 0.0)
    return bag


def _worth(sight: Sight, card: Card, mine: float, partners: float, before: float) -> float:
    kept = before - hand_tricks(Mask(sight.hand & ~(1 << card)), sight.unseen, sight.left - 1)
    kept *= _KEPT if sight.trick or SPADES >> card & 1 else _KEPT_ON_LEAD
    chances = win_chances(sight, card)
    total = mine * (chances[sight.me] - kept) + partners * chances[sight.partner]
    if sight.nil_alive(sight.partner):
        total -= _NIL_STAKE * chances[sight.partner]
    for foe in ((sight.me + 1) & 3, (sight.me + 3) & 3):
        if sight.nil_alive(foe):
            # A Nil is attacked once the own contract is safe.
            stake = _ATTACK_STAKE if sight.need(sight.me & 1) == 0 else 2.0
            total += stake * chances[foe]
    return total


def _own_nil(sight: Sight, card: Card) -> float:
    risk_left = nil_danger(Mask(sight.hand & ~(1 << card)), sight.unseen)
    return -4.0 * win_chances(sight, card)[sight.me] - risk_left


def win_chances(sight: Sight, card: Card) -> list[float]:
    """The chance of each seat to win the running trick once `card` is played to it."""
    chances = [0.0, 0.0, 0.0, 0.0]
    trick = sight.trick
    led = SUIT_OF[trick[0]] if trick else SUIT_OF[card]
    holder, best = int(sight.me), card
    if trick:
        old = sight.best()
        if not _beats(card, old, led):
            holder, best = sight.winner(), old
    stays = 1.0
    for seat in sight.later():
        beaten = _beaten_by(sight, seat, led, best, holder)
        chances[seat] += stays * beaten
        stays *= 1.0 - beaten
    chances[holder] += stays
    return chances


def _beats(card: Card, best: Card, led: Suit) -> bool:
    if SPADES >> card & 1:
        return card > best or not SPADES >> best & 1
    return SUIT_OF[card] is led and SUIT_OF[best] is led and card > best


def _beaten_by(sight: Sight, seat: int, led: Suit, best: Card, holder: int) -> float:
    """How likely a later seat beats the best card so far; it would rather leave its partner's."""
    suit_out = sight.unseen & SUIT_MASK_OF[best] if SUIT_OF[best] is led else 0
    led_out = (sight.unseen & _SUIT_BITS[led]).bit_count()
    above = (suit_out >> best).bit_count()
    share = _share(sight, led)
    if sight.void[seat][led] or not led_out:
        void = 1.0
        over = 0.0
    else:
        void = (1.0 - share) ** led_out
        over = 1.0 - (1.0 - share) ** above if above else 0.0
    ruff = 0.0
    if led is not Suit.SPADES and not sight.void[seat][Suit.SPADES]:
        spades_out = sight.unseen & SPADES
        if SPADES >> best & 1:
            spades_out = spades_out >> best << best
        count = spades_out.bit_count()
        ruff = 1.0 - (1.0 - _share(sight, Suit.SPADES)) ** count if count else 0.0
    chance = min(1.0, over + void * ruff)
    if sight.nil_alive(seat):
        # It ducks whenever it can; it wins only with nothing lower.
        return chance * 0.25
    if (seat ^ holder) & 1 == 0:
        return chance * 0.35
    return chance * 0.9


_SUIT_BITS = tuple(SUIT_MASK_OF[card] for card in (0, 13, 26, 39))


def _share(sight: Sight, suit: Suit) -> float:
    """The part of a suit's unseen cards that one seat, not known to be out of it, holds."""
    holders = sum(1 for seat in range(4) if seat != sight.me and not sight.void[seat][suit])
    return 1.0 / max(1, holders)
