"""Notation for tests of the rules: hands, deals and games as text.

play(in_play(hands("2C", "3C", "AC", "4C")), "2C 3C AC 4C")
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from spades_rules import (
    DECKS,
    AwaitingDeal,
    Bid,
    Command,
    DealHand,
    Game,
    Hands,
    Mask,
    PlaceBid,
    PlayCard,
    Reject,
    Rejected,
    Ruleset,
    Seat,
    card_names,
    cards_in,
    decide,
    expected,
    mask_of,
    parse_card,
    parse_cards,
    replay,
    ruleset,
)

DENIRO = ruleset("deniro")
CLUB = ruleset("club")


def hands(*rows: str, ruleset: Ruleset = DENIRO) -> Hands:
    """Four hands of 13; a shorter row is filled up with the deck's other cards, low first."""
    masks = [parse_cards(row.replace("*", "")) for row in rows]
    used = 0
    for mask in masks:
        assert not used & mask, "a card is in two hands"
        used |= mask
    spare = cards_in(Mask(DECKS[ruleset.deck] & ~used))
    filled = [Mask(mask | mask_of([next(spare) for _ in range(13 - mask.bit_count())])) for mask in masks]
    return (filled[0], filled[1], filled[2], filled[3])


def at_deal(
    ruleset: Ruleset = DENIRO,
    *,
    scores: tuple[int, int] = (0, 0),
    dealer: int = 3,
    hand_no: int = 2,
) -> AwaitingDeal:
    """Before a deal; the bags are the last digits of the scores."""
    bags = (scores[0] % 10, scores[1] % 10)
    return AwaitingDeal(ruleset=ruleset, scores=scores, bags=bags, hand_no=hand_no, dealer=Seat(dealer))


def take(game: Game, *commands: Command) -> Game:
    for command in commands:
        game = replay(game, decide(game, command))
    return game


def dealt(
    four: Hands,
    ruleset: Ruleset = DENIRO,
    *,
    scores: tuple[int, int] = (0, 0),
    dealer: int = 3,
    hand_no: int = 2,
) -> Game:
    """In the auction; with dealer 3, seat 0 bids first and leads."""
    start = at_deal(ruleset, scores=scores, dealer=dealer, hand_no=hand_no)
    return take(start, DealHand(hand_no, Seat(dealer), four))


def bid_round(game: Game, *bids: Bid) -> Game:
    """Bids in turn order."""
    for bid in bids:
        turn = expected(game)
        assert turn is not None
        game = take(game, PlaceBid(turn.seat, bid))
    return game


def in_play(
    four: Hands,
    ruleset: Ruleset = DENIRO,
    *,
    bids: Sequence[Bid] = (3, 3, 3, 3),
    scores: tuple[int, int] = (0, 0),
    dealer: int = 3,
    hand_no: int = 2,
) -> Game:
    game = dealt(four, ruleset, scores=scores, dealer=dealer, hand_no=hand_no)
    return bid_round(game, *bids)


def play(game: Game, cards: str) -> Game:
    """Play cards in turn order, whoever's turn it is."""
    for name in cards.split():
        turn = expected(game)
        assert turn is not None
        game = take(game, PlayCard(turn.seat, parse_card(name)))
    return game


def plays(seat: int, card: str) -> PlayCard:
    return PlayCard(Seat(seat), parse_card(card))


def bids(seat: int, bid: Any) -> PlaceBid:
    return PlaceBid(Seat(seat), bid)


def names(mask: Mask) -> str:
    return " ".join(card_names(mask))


def refused(game: Game, command: Command) -> Rejected:
    """The refusal of a command, which must leave the game as it was."""
    with pytest.raises(Rejected) as caught:
        decide(game, command)
    return caught.value


def refusal_code(game: Game, command: Command) -> Reject:
    return refused(game, command).code
