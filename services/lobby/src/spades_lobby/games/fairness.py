"""What revealed deals should look like, and how far they are from it: pure counting.

A hand is looked at by its spades, its longest suit and its aces; a deal by the seat of the ace of
spades. Each seat is counted on its own: the four hands of one deal are not independent, deals are.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from spades_rules import Mask, card_names

SEATS: Final = (0, 1, 2, 3)
HAND_CARDS: Final = 13
DECK_CARDS: Final = 52
SUITS: Final[Mapping[int, tuple[int, int, int, int]]] = {0: (13, 13, 13, 13), 1: (15, 13, 12, 12)}
"""Spades, hearts, diamonds, clubs by deck: jokers are spades, and 2♦ and 2♣ are left out."""
MEASURES: Final = ("spades", "longest_suit", "aces", "ace_of_spades")
EXPECTED_MIN: Final = 5.0
"""Cells that should hold fewer are joined with their neighbour: chi-square is no test of rare ones."""


class Seen(NamedTuple):
    """One count: in this deck, by this measure, this seat had this value."""

    deck_id: int
    measure: str
    seat: int
    value: int


class Test(NamedTuple):
    """Chi-square of one seat; `p` is how often a fair deal would be as far off, or further."""

    chi_square: float
    degrees: int
    p: float


def seen_in(deck_id: int, hands: Sequence[Mask]) -> list[Seen]:
    """What one deal adds to the counts."""
    found = []
    for seat in SEATS:
        names = card_names(hands[seat])
        suits = Counter("S" if name[1] == "J" else name[1] for name in names)
        found.append(Seen(deck_id, "spades", seat, suits["S"]))
        found.append(Seen(deck_id, "longest_suit", seat, max(suits.values())))
        found.append(Seen(deck_id, "aces", seat, sum(name[0] == "A" for name in names)))
        if "AS" in names:
            found.append(Seen(deck_id, "ace_of_spades", 0, seat))
    return found


@cache
def chances(deck_id: int, measure: str) -> Mapping[int, float]:
    """How likely each value is, exactly, for one seat of a fair deal."""
    suits = SUITS[deck_id]
    match measure:
        case "spades":
            return _of_kind(suits[0])
        case "aces":
            return _of_kind(4)
        case "longest_suit":
            return _longest(suits)
        case _:
            return dict.fromkeys(SEATS, 1 / len(SEATS))


def _of_kind(kind: int) -> dict[int, float]:
    """So many cards of a kind of so many: hypergeometric."""
    hands = math.comb(DECK_CARDS, HAND_CARDS)
    values = range(min(kind, HAND_CARDS) + 1)
    return {k: math.comb(kind, k) * math.comb(DECK_CARDS - kind, HAND_CARDS - k) / hands for k in values}


def _longest(suits: tuple[int, int, int, int]) -> dict[int, float]:
    found: Counter[int] = Counter()
    for first in range(HAND_CARDS + 1):
        for second in range(HAND_CARDS + 1 - first):
            for third in range(HAND_CARDS + 1 - first - second):
                pattern = (first, second, third, HAND_CARDS - first - second - third)
                found[max(pattern)] += math.prod(map(math.comb, suits, pattern))
    hands = math.comb(DECK_CARDS, HAND_CARDS)
    return {value: count / hands for value, count in sorted(found.items()) if count}


def tested(measured: Mapping[int, int], expected: Mapping[int, float]) -> Test | None:
    """Compare counts by value with what they should be; None where there are too few to say anything."""
    cells: list[tuple[float, float]] = []
    hands, wanted = 0.0, 0.0
    for value in sorted(expected):
        hands, wanted = hands + measured.get(value, 0), wanted + expected[value]
        if wanted >= EXPECTED_MIN:
            cells.append((hands, wanted))
            hands, wanted = 0.0, 0.0
    if not cells:
        return None
    cells[-1] = (cells[-1][0] + hands, cells[-1][1] + wanted)
    if len(cells) < 2:
        return None
    chi_square = sum((hands - wanted) ** 2 / wanted for hands, wanted in cells)
    return Test(chi_square, len(cells) - 1, chi_square_tail(chi_square, len(cells) - 1))


def chi_square_tail(chi_square: float, degrees: int) -> float:
    """The chance of a chi-square of at least this, in closed form for a whole number of degrees."""
    half = chi_square / 2
    odd = degrees % 2
    tail = math.erfc(math.sqrt(half)) if odd else 0.0
    term = math.exp(-half) * (math.sqrt(half) / math.gamma(1.5) if odd else 1.0)
    for step in range(degrees // 2):
        tail += term
        term *= half / (step + 1 + odd / 2)
    return min(1.0, tail)
