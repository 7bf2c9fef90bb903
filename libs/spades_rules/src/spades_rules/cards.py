"""A card, and a set of cards as one integer.

A card is a small integer, `suit * 13 + rank`, suits in the order clubs, diamonds, hearts, spades
and ranks 2 up to the ace. The Little Joker (52) and the Big Joker (53) stand above the ace of
spades and are spades in full, so inside a suit the greater integer always wins. A set of cards
(`Mask`) has bit `1 << card` for every card in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Final, NewType

from spades_rules.errors import BadNotation

Card = NewType("Card", int)
Mask = NewType("Mask", int)
NO_CARDS: Final = Mask(0)


class Suit(IntEnum):
    CLUBS = 0
    DIAMONDS = 1
    HEARTS = 2
    SPADES = 3


class Deck(IntEnum):
    """Which 52 cards are dealt; the value is the deck id of the fair deal."""

    STANDARD = 0
    JOKERS = 1


SUIT_NAMES: Final = "CDHS"
RANK_NAMES: Final = "23456789TJQKA"
LITTLE_JOKER: Final = Card(52)
BIG_JOKER: Final = Card(53)
CARD_NAMES: Final = (*tuple(rank + suit for suit in SUIT_NAMES for rank in RANK_NAMES), "LJ", "BJ")
_CARDS: Final = {name: Card(number) for number, name in enumerate(CARD_NAMES)}

SPADES: Final = Mask(((1 << 15) - 1) << 39)
SUITS: Final = (Mask(0x1FFF), Mask(0x1FFF << 13), Mask(0x1FFF << 26), SPADES)
SUIT_OF: Final = (Suit.CLUBS,) * 13 + (Suit.DIAMONDS,) * 13 + (Suit.HEARTS,) * 13 + (Suit.SPADES,) * 15
# The whole suit of a card, by card: what a player must follow once that card is led.
SUIT_MASK_OF: Final = tuple(SUITS[suit] for suit in SUIT_OF)

# The jokers take the places of the two lowest cards that RULES names: the deuces of clubs and
# diamonds.
DECKS: Final = (
    Mask((1 << 52) - 1),
    Mask(((1 << 54) - 1) & ~(1 << _CARDS["2C"]) & ~(1 << _CARDS["2D"])),
)


def parse_card(name: str) -> Card:
    """Read a two-character name such as `TD`, `AS` or `BJ`. Raises BadNotation."""
    try:
        return _CARDS[name]
    except (KeyError, TypeError):
        raise BadNotation(f"{name!r} is no card") from None


def card_name(card: Card) -> str:
    return CARD_NAMES[card]


def parse_cards(names: str | Iterable[str]) -> Mask:
    """Read a set of cards, `"AS KS 2H"` or a list of names.

    Raises BadNotation, also for a card named twice.
    """
    mask = 0
    for name in names.split() if isinstance(names, str) else names:
        bit = 1 << parse_card(name)
        if mask & bit:
            raise BadNotation(f"{name} is named twice")
        mask |= bit
    return Mask(mask)


def cards_in(mask: Mask) -> Iterator[Card]:
    """The cards of a set, lowest integer first."""
    rest: int = mask
    while rest:
        low = rest & -rest
        yield Card(low.bit_length() - 1)
        rest ^= low


def card_names(mask: Mask) -> tuple[str, ...]:
    """The names of a set, clubs to spades and low to high."""
    return tuple([CARD_NAMES[card] for card in cards_in(mask)])


def mask_of(cards: Iterable[Card]) -> Mask:
    mask = 0
    for card in cards:
        mask |= 1 << card
    return Mask(mask)


def suit_of(card: Card) -> Suit:
    return SUIT_OF[card]


def top_card(mask: Mask) -> Card:
    """The greatest card of a set that is not empty."""
    return Card(mask.bit_length() - 1)


def low_card(mask: Mask) -> Card:
    """The smallest card of a set that is not empty."""
    return Card((mask & -mask).bit_length() - 1)
