"""A card has a two-character name, and inside a suit the greater integer wins."""

import pytest

from spades_rules import (
    BIG_JOKER,
    DECKS,
    LITTLE_JOKER,
    SPADES,
    BadNotation,
    Deck,
    Suit,
    card_name,
    card_names,
    parse_card,
    parse_cards,
    suit_of,
)


def test_every_card_reads_back_as_it_was_written():
    assert [parse_card(card_name(card)) for card in range(54)] == list(range(54))


def test_aces_are_high_and_jokers_stand_above_the_ace_of_spades():
    ranks = [parse_card(rank + "H") for rank in "23456789TJQKA"]
    assert ranks == sorted(ranks)
    assert parse_card("AS") < LITTLE_JOKER < BIG_JOKER
    assert suit_of(LITTLE_JOKER) is suit_of(BIG_JOKER) is Suit.SPADES
    assert SPADES >> BIG_JOKER & 1
    assert SPADES >> LITTLE_JOKER & 1


def test_a_set_of_cards_reads_back_in_the_order_of_suits_and_ranks():
    assert card_names(parse_cards("BJ AS 2H TD 2C")) == ("2C", "TD", "2H", "AS", "BJ")


@pytest.mark.parametrize("text", ["1S", "AX", "", "as", "10S", "A S"])
def test_what_is_no_card_is_refused(text):
    with pytest.raises(BadNotation):
        parse_card(text)


def test_a_card_named_twice_is_refused():
    with pytest.raises(BadNotation):
        parse_cards("AS AS")


def test_the_jokers_deck_leaves_out_the_deuces_of_clubs_and_diamonds():
    plain, jokers = DECKS[Deck.STANDARD], DECKS[Deck.JOKERS]
    assert plain.bit_count() == jokers.bit_count() == 52
    assert card_names(plain & ~jokers) == ("2C", "2D")
    assert card_names(jokers & ~plain) == ("LJ", "BJ")
