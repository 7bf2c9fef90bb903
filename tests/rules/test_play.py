"""Follow suit if you can; spades lead once one was played on another suit; highest wins."""

import pytest

from spades_rules import (
    CardPlayed,
    Play,
    PlayCard,
    Reject,
    Seat,
    SpadesBroken,
    Suit,
    TrickTaken,
    card_names,
    decide,
    legal_cards,
    parse_card,
    ruleset,
    winning_card,
)
from tests.rules.notation import dealt, hands, in_play, names, play, plays, refusal_code, refused

JOKERS = ruleset("jokers")


def trick(text: str) -> list[int]:
    return [parse_card(name) for name in text.split()]


@pytest.mark.parametrize(
    ("cards", "wins"),
    [
        ("JC KD 3C 2C", "JC"),
        ("9S TS 2H 3D", "TS"),
        ("2H 3H TH KH", "KH"),
        ("AH 2S KH QH", "2S"),
        ("AH 2S 3S QH", "3S"),
        ("2D AC AH KC", "2D"),
        ("AS KS QS JS", "AS"),
        ("AS LJ KS QS", "LJ"),
        ("LJ BJ AS KS", "BJ"),
        ("AH LJ AS BJ", "BJ"),
        ("2D AD LJ 3D", "LJ"),
    ],
)
def test_the_highest_spade_wins_else_the_highest_of_the_suit_led(cards, wins):
    assert winning_card(trick(cards)) == parse_card(wins)


def test_the_suit_led_is_followed_if_it_can_be():
    game = in_play(hands("5H 6H", "2H AS", "KH", "AH 3C"))
    game = play(game, "5H")
    held = game.hands[1]
    assert "2H" in names(legal_cards(game))
    assert legal_cards(game) == held & ((1 << 39) - (1 << 26))
    rejected = refused(game, plays(1, "AS"))
    assert (rejected.code, rejected.suit_led) == (Reject.MUST_FOLLOW, Suit.HEARTS)
    assert rejected.legal == legal_cards(game)
    assert rejected.data() == {
        "code": "must_follow",
        "turn": 1,
        "suit_led": "H",
        "legal": list(card_names(rejected.legal)),
    }


def test_out_of_the_suit_led_any_card_may_be_played():
    clubs = "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC"
    diamonds = "2D 3D 4D 5D 6D 7D 8D 9D TD JD QD KD AS"
    game = play(in_play(hands(clubs, diamonds, "AD 2H", "KS 3H")), "2C")
    assert legal_cards(game) == game.hands[1]


def test_no_spade_is_led_before_one_was_played_on_another_suit():
    game = in_play(hands("AS KS 2H", "QS", "JS", "TS"))
    rejected = refused(game, plays(0, "AS"))
    assert (rejected.code, rejected.suit_led) == (Reject.SPADES_NOT_BROKEN, None)
    assert not set(card_names(rejected.legal)) & {"AS", "KS"}
    assert "2H" in card_names(rejected.legal)


def test_a_hand_of_nothing_but_spades_may_lead_one_and_breaks_nothing():
    spades = "2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AS"
    game = in_play(hands(spades, "2H", "2D", "2C"))
    assert legal_cards(game) == game.hands[0]
    assert decide(game, plays(0, "2S")) == (CardPlayed(Seat(0), parse_card("2S")),)
    after = play(game, "2S 2H 2D 2C")
    assert isinstance(after, Play)
    assert not after.broken


def test_a_spade_on_a_spade_lead_breaks_nothing():
    mine = "2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS 2H"
    game = play(in_play(hands(mine, "AS 3H AH", "4H 5H", "6H 7H")), "2H AH 4H 6H")
    game = play(game, "3H 5H 7H KS")
    assert game.broken, "the king of spades fell on a heart"
    solid = "2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AH"
    game = play(in_play(hands(solid, "AS 3H KH", "4H", "5H")), "AH 3H 4H 5H")
    game = play(game, "2S AS")
    assert not game.broken
    assert "AS" not in names(game.hands[1])
    third = decide(game, PlayCard(Seat(2), parse_card(names(legal_cards(game)).split()[0])))
    assert SpadesBroken() not in third


def test_the_first_spade_on_another_suit_breaks_spades_and_the_winner_may_lead_one():
    game = in_play(hands("2C AC", "2S 9S 3H 3D 4D 5D 6D 7D 8D 9D TD JD QD", "4C KS", "5C QS KC"))
    game = play(game, "AC")
    two = parse_card("2S")
    assert decide(game, plays(1, "2S")) == (CardPlayed(Seat(1), two), SpadesBroken())
    game = play(game, "2S 4C 5C")
    assert game.broken
    assert legal_cards(game) == game.hands[1]
    again = play(game, "9S")
    assert SpadesBroken() not in decide(again, plays(2, "KS"))


def test_the_winner_of_a_trick_leads_the_next():
    game = play(in_play(hands("2C", "3C", "AC", "4C")), "2C 3C AC")
    cards = tuple(parse_card(name) for name in ("2C", "3C", "AC", "4C"))
    assert decide(game, plays(3, "4C")) == (
        CardPlayed(Seat(3), cards[3]),
        TrickTaken(Seat(2), Seat(0), cards),
    )
    assert play(game, "4C").leader == 2


@pytest.mark.parametrize("joker", ["LJ", "BJ"])
def test_jokers_are_spades_in_full(joker):
    low = "3C 4C 5C 6C 7C 8C 9C TC JC QC KC"
    four = hands(f"{low} AS {joker}", "AC 3D", "4D 3S", "5D 4S", ruleset=JOKERS)
    game = in_play(four, JOKERS)
    assert refusal_code(game, plays(0, joker)) is Reject.SPADES_NOT_BROKEN
    only = hands("3D 4D 5D 6D 7D 8D 9D TD JD QD KD AD AC", f"3C {joker}", "4C", "5C", ruleset=JOKERS)
    game = play(in_play(only, JOKERS), "AC")
    assert refusal_code(game, plays(1, joker)) is Reject.MUST_FOLLOW
    clubs = "3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC 2S"
    broken = play(in_play(hands(clubs, f"3D {joker}", "4D", "5D", ruleset=JOKERS), JOKERS), "3C")
    assert SpadesBroken() in decide(broken, plays(1, joker))


def test_a_spade_lead_is_followed_by_a_joker():
    spades = "2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AS"
    game = play(in_play(hands(spades, "BJ 3C", "LJ", "4C", ruleset=JOKERS), JOKERS), "2S")
    assert "BJ" in names(legal_cards(game))
    assert refusal_code(game, plays(1, "3C")) is Reject.MUST_FOLLOW


def test_a_card_that_is_not_held_is_refused_before_any_other_reason():
    game = play(in_play(hands("2C", "3C", "4C KD", "5C")), "2C")
    assert refusal_code(game, plays(1, "KD")) is Reject.NOT_IN_HAND
    for number in (-1, 54, 99):
        assert refusal_code(game, PlayCard(Seat(1), number)) is Reject.NOT_IN_HAND


def test_a_card_out_of_turn_is_refused_whoever_holds_it():
    game = play(in_play(hands("2C", "3C", "4C", "5C")), "2C")
    for seat, card in ((0, "3C"), (2, "4C"), (3, "AS")):
        rejected = refused(game, plays(seat, card))
        assert (rejected.code, rejected.turn) == (Reject.NOT_YOUR_TURN, 1)
        assert not rejected.legal


def test_no_card_is_played_before_the_auction_is_over():
    rejected = refused(dealt(hands("2C", "3C", "4C", "5C")), plays(0, "2C"))
    assert (rejected.code, rejected.phase) == (Reject.WRONG_PHASE, "auction")


@pytest.mark.parametrize("dealer", range(4))
def test_seats_are_named_right_whoever_deals(dealer):
    four = ["", "", "", ""]
    for place, card in enumerate(("2C", "3C", "AC", "4C")):
        four[(dealer + 1 + place) % 4] = card
    game = play(in_play(hands(*four), dealer=dealer), "2C 3C AC 4C")
    assert game.tricks[0].leader == (dealer + 1) % 4
    assert game.tricks[0].winner == (dealer + 3) % 4
    assert game.taken[(dealer + 3) % 4] == 1
