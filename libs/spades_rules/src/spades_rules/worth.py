"""What a hand is worth: the tricks it may take, and how safely it may take none.

All figures are estimates by the seat's own knowledge: its cards and the cards it has not seen.
"""

from __future__ import annotations

from spades_rules.cards import SPADES, SUITS, Mask

# The chance that a card wins one day, by the unseen cards above it and the own cards of its suit
# that guard it.
_SIDE_WINS = (
    (0.97, 0.97, 0.97, 0.97, 0.97),
    (0.22, 0.66, 0.66, 0.60, 0.55),
    (0.04, 0.13, 0.30, 0.30, 0.25),
    (0.00, 0.02, 0.08, 0.12, 0.10),
)
_SPADE_WINS = (
    (1.00, 1.00, 1.00, 1.00, 1.00, 1.00),
    (0.35, 0.80, 0.92, 0.95, 0.97, 1.00),
    (0.20, 0.42, 0.72, 0.85, 0.92, 0.96),
    (0.15, 0.28, 0.45, 0.70, 0.85, 0.92),
)
_SMALL_SPADE = (0.12, 0.20, 0.30, 0.55, 0.80, 0.90)
# How many tricks a small spade more may take by ruffing, by the length of a side suit.
_RUFFS_BY_LENGTH = (1.1, 0.62, 0.20, 0.03)
# How likely the round in which a Nil must play its j-th lowest card of a suit comes, unless it is
# thrown away before.
_SIDE_ROUNDS = (0.80, 0.62, 0.34, 0.12, 0.04, 0.02)
_SPADE_ROUNDS = (1.00, 0.92, 0.75, 0.55, 0.40, 0.30)


def side_tricks(own: int, unseen: int) -> float:
    """Tricks that the high cards of one side suit may take; both sets are of that suit."""
    out = unseen.bit_count()
    count = own.bit_count()
    # With few cards out, or many of them here, the third round is ruffed.
    alive = (0.0, 0.12, 0.25, 0.40, 0.55, 0.68, 0.80, 0.90, 0.96, 0.99, 1.0, 1.0, 1.0, 1.0)[out]
    total = 0.0
    rest = own
    turn = 0
    while rest and turn < 4:
        top = rest.bit_length() - 1
        rest ^= 1 << top
        above = (unseen >> top).bit_count()
        if above > 3:
            break
        total += _SIDE_WINS[above][min(count - 1 - turn if above == 0 else count - 1, 4)] * alive
        # Each further winner comes a round later, when somebody is more likely to be out of the
        # suit.
        alive *= 0.84 if out >= 8 else 0.62
        turn += 1
    return total


def spade_tricks(own: int, unseen: int) -> float:
    """Tricks that spades take by rank and by length, apart from ruffing with small ones."""
    total = 0.0
    count = own.bit_count()
    rest = own
    turn = 0
    while rest:
        top = rest.bit_length() - 1
        rest ^= 1 << top
        above = (unseen >> top).bit_count()
        by_length = _SMALL_SPADE[min(turn, 5)]
        by_rank = _SPADE_WINS[above][min(count - 1, 5)] if above < 4 else 0.0
        total += max(by_length, by_rank)
        turn += 1
    return total


def hand_tricks(hand: Mask, unseen: Mask, rounds: int = 13) -> float:
    """The tricks that a hand may take when it tries to."""
    spades = hand & SPADES
    total = spade_tricks(spades, unseen & SPADES)
    ruffs = 0.0
    for suit in (0, 1, 2):
        own = hand & SUITS[suit]
        out = unseen & SUITS[suit]
        if own:
            total += side_tricks(own, out)
        length = own.bit_count()
        if length < 4 and out:
            ruffs += _RUFFS_BY_LENGTH[length] * min(1.0, out.bit_count() / 8)
    small = min(spades.bit_count(), 4)
    if small:
        # A spade that wins by rank or length anyway does not win twice.
        total += min(ruffs, (0.0, 0.55, 0.95, 1.15, 1.0)[small])
    return min(total, float(min(rounds, hand.bit_count())))


def suit_danger(own: int, unseen: int, rounds: tuple[float, ...]) -> float:
    """How much one suit endangers a Nil: 0 for a void, about 1 for a bare ace."""
    out = unseen.bit_count()
    if not out:
        return 0.0
    total = 0.0
    turn = 0
    rest = own
    while rest:
        low = rest & -rest
        rest ^= low
        below = (unseen & (low - 1)).bit_count() / out
        total += below * below * below * rounds[min(turn, 5)]
        turn += 1
    return total


def nil_danger(hand: Mask, unseen: Mask) -> float:
    """How much a whole hand endangers a Nil, in expected forced tricks."""
    total = suit_danger(hand & SPADES, unseen & SPADES, _SPADE_ROUNDS)
    for suit in (0, 1, 2):
        total += suit_danger(hand & SUITS[suit], unseen & SUITS[suit], _SIDE_ROUNDS)
    return total


def sure_tricks(hand: Mask, unseen: Mask) -> int:
    """The tricks that nobody can keep from a hand on lead: spades from the top, then side winners.

    Once the top spades have drawn all others, every spade left and every unbroken run of side
    cards from the top is a trick.
    """
    spades, out = hand & SPADES, unseen & SPADES
    tops = _tops(hand, unseen, 53, 39)
    if tops < out.bit_count():
        return tops
    sides = sum(_tops(hand, unseen, suit * 13 + 12, suit * 13) for suit in (0, 1, 2))
    return spades.bit_count() + sides


# The chance that the first, second and third of a side suit's top cards is not ruffed.
_QUICK = (0.95, 0.85, 0.45)
_QUICK_LENGTH_MAX = 4


def quick_tricks(hand: Mask, unseen: Mask) -> float:
    """Tricks from the top of each suit, which a cautious bid may count on."""
    total = float(_tops(hand, unseen, 53, 39))
    for suit in (0, 1, 2):
        if (hand & SUITS[suit]).bit_count() <= _QUICK_LENGTH_MAX:
            run = _tops(hand, unseen, suit * 13 + 12, suit * 13)
            total += sum(_QUICK[:run])
    return total


def _tops(hand: int, unseen: int, high: int, low: int) -> int:
    """How many cards a hand holds from the top of a suit down, none missing in between."""
    tops = 0
    for card in range(high, low - 1, -1):
        if unseen >> card & 1:
            break
        tops += hand >> card & 1
    return tops
