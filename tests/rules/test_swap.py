"""A lone Blind Nil bidder passes two cards and gets two back, before the first lead."""

import pytest

from spades_rules import (
    CardsPassed,
    LookAtCards,
    PassCards,
    Play,
    Reject,
    Seat,
    Swap,
    decide,
    expected,
    legal_bids,
    legal_cards,
    parse_cards,
    ruleset,
    view,
)
from tests.rules.notation import (
    CLUB,
    bid_round,
    dealt,
    hands,
    names,
    play,
    refusal_code,
    refused,
    take,
)

FOUR = hands("AS 2C 3C", "KS", "2H 3H QS", "JS")


def opened(*round_: object, rules=CLUB, scores=(0, 100), looking=()):
    game = dealt(FOUR, rules, scores=scores)
    return bid_round(take(game, *(LookAtCards(Seat(seat)) for seat in looking)), *round_)


def passes(seat: int, cards: str) -> PassCards:
    return PassCards(Seat(seat), parse_cards(cards))


def swap() -> Swap:
    return opened("blind_nil", 3, 4, 3, looking=[2])


def test_the_bidder_passes_first_and_the_partner_then_returns_two_of_fifteen():
    game = swap()
    assert (expected(game).seat, expected(game).kind) == (0, "pass")
    assert not legal_cards(game)
    assert not legal_bids(game)
    passed = CardsPassed(Seat(0), Seat(2), parse_cards("AS 3C"))
    assert decide(game, passes(0, "AS 3C")) == (passed,)
    game = take(game, passes(0, "AS 3C"))
    assert expected(game).seat == 2
    assert [hand.bit_count() for hand in game.hands] == [11, 13, 15, 13]
    game = take(game, passes(2, "2H 3H"))
    assert isinstance(game, Play)
    assert [hand.bit_count() for hand in game.hands] == [13] * 4
    assert game.hands[0] == FOUR[0] & ~parse_cards("AS 3C") | parse_cards("2H 3H")
    assert game.hands[2] == FOUR[2] & ~parse_cards("2H 3H") | parse_cards("AS 3C")
    assert expected(game).seat == 0


def test_the_partner_may_return_a_card_it_has_just_received():
    game = take(swap(), passes(0, "AS 3C"), passes(2, "AS 2H"))
    assert names(game.hands[0] & parse_cards("AS 2H 3C")) == "2H AS"
    assert view(game, Seat(0)).new_cards == ("2H", "AS")
    assert view(game, Seat(2)).new_cards == ("3C",)


@pytest.mark.parametrize(
    ("cards", "code"),
    [
        ("AS", Reject.WRONG_PASS),
        ("", Reject.WRONG_PASS),
        ("AS 2C 3C", Reject.WRONG_PASS),
        ("AS KS", Reject.NOT_IN_HAND),
        ("KS 2H", Reject.NOT_IN_HAND),
    ],
)
def test_two_different_held_cards_are_passed(cards, code):
    rejected = refused(swap(), passes(0, cards))
    assert rejected.code is code
    assert rejected.legal == FOUR[0]


def test_passing_out_of_turn_or_twice_is_refused():
    game = swap()
    assert refusal_code(game, passes(2, "2H 3H")) is Reject.NOT_YOUR_TURN
    assert refusal_code(game, passes(1, "KS JS")) is Reject.NOT_YOUR_TURN
    once = take(game, passes(0, "AS 3C"))
    assert refusal_code(once, passes(0, "AS 3C")) is Reject.NOT_YOUR_TURN
    done = take(once, passes(2, "2H 3H"))
    assert refusal_code(done, passes(2, "2H 3H")) is Reject.WRONG_PHASE


def test_both_partners_blind_nil_means_no_swap():
    assert isinstance(opened("blind_nil", 3, "blind_nil", 3), Play)


def test_without_the_option_there_is_no_swap():
    rules = ruleset("classic", {"blind_nil": True})
    assert isinstance(opened("blind_nil", 3, 4, 3, rules=rules, looking=[2]), Play)


def test_with_the_option_there_is():
    rules = ruleset("classic", {"blind_nil": True, "swap": True})
    assert isinstance(opened("blind_nil", 3, 4, 3, rules=rules, looking=[2]), Swap)


def test_a_nil_that_was_bid_with_open_cards_swaps_nothing():
    assert isinstance(opened("nil", 3, 4, 3, looking=[0, 2]), Play)


def test_received_cards_are_new_until_the_first_lead():
    game = take(swap(), passes(0, "AS 3C"), passes(2, "2H 3H"))
    assert view(game, Seat(0)).new_cards == ("2H", "3H")
    assert view(game, Seat(2)).new_cards == ("3C", "AS")
    assert view(game, Seat(1)).new_cards == ()
    led = play(game, "2C")
    assert view(led, Seat(0)).new_cards == view(led, Seat(2)).new_cards == ()


def test_a_swap_is_seen_by_its_partners_alone():
    game = take(swap(), passes(0, "AS 3C"), passes(2, "2H 3H"))
    seen = [(view(game, seat).passed, view(game, seat).received) for seat in (0, 1, 2, 3, None)]
    gave, got = ("3C", "AS"), ("2H", "3H")
    assert seen == [(gave, got), ((), ()), (got, gave), ((), ()), ((), ())]
    assert [view(game, seat).swap_bidder for seat in (0, 1, None)] == [0, 0, 0]
