"""One round of bids from the dealer's left; cards lie face down where Blind Nil is open."""

import pytest

from spades_rules import (
    BidMade,
    CardsSeen,
    DealHand,
    HandDealt,
    LookAtCards,
    Play,
    Reject,
    Rejected,
    Seat,
    Swap,
    decide,
    expected,
    legal_bids,
    new_game,
    parse_bid,
    parse_cards,
    ruleset,
)
from tests.rules.notation import (
    CLUB,
    DENIRO,
    at_deal,
    bid_round,
    bids,
    dealt,
    hands,
    refusal_code,
    refused,
    take,
)

ANY = hands("AS", "KS", "QS", "JS")
BEHIND = (0, 100)  # team 0 may bid Blind Nil
NUMBERS = tuple(range(1, 14))


@pytest.mark.parametrize("dealer", range(4))
def test_the_seat_left_of_the_dealer_bids_first_and_leads(dealer):
    game = dealt(ANY, dealer=dealer)
    order = []
    for _ in range(4):
        order.append(expected(game).seat)
        game = take(game, bids(order[-1], 3))
    assert order == [(dealer + step) % 4 for step in (1, 2, 3, 4)]
    assert isinstance(game, Play)
    assert expected(game).seat == order[0]


def test_a_first_hand_may_be_dealt_by_any_seat_and_later_ones_by_the_next_alone():
    first = new_game(DENIRO)
    for dealer in range(4):
        assert decide(first, DealHand(1, Seat(dealer), ANY)) == (HandDealt(1, Seat(dealer), ANY, ()),)
    later = at_deal(dealer=2)
    assert refusal_code(later, DealHand(2, Seat(3), ANY)) is Reject.WRONG_DEALER
    assert refusal_code(first, DealHand(1, Seat(4), ANY)) is Reject.WRONG_DEALER


def test_a_hand_is_dealt_once_and_in_its_turn():
    start = at_deal(hand_no=2)
    assert refusal_code(start, DealHand(1, Seat(3), ANY)) is Reject.WRONG_HAND
    assert refusal_code(start, DealHand(3, Seat(3), ANY)) is Reject.WRONG_HAND
    deal = DealHand(2, Seat(3), ANY)
    assert refusal_code(take(start, deal), deal) is Reject.WRONG_PHASE


def test_a_deal_is_the_whole_deck_thirteen_each():
    jokers = ruleset("jokers")
    one, two, three, four = ANY
    for wrong in (
        (one, two, three, one),
        (one, two, three, four & (four - 1)),
        (one | two, 0, three, four),
        hands("BJ", "", "", "", ruleset=jokers),
    ):
        assert refusal_code(at_deal(), DealHand(2, Seat(3), wrong)) is Reject.BAD_DEAL
    assert refusal_code(at_deal(jokers), DealHand(2, Seat(3), ANY)) is Reject.BAD_DEAL


def test_a_bid_out_of_turn_is_refused_and_says_whose_turn_it_is():
    game = dealt(ANY)
    rejected = refused(game, bids(1, 3))
    assert (rejected.code, rejected.turn) == (Reject.NOT_YOUR_TURN, 0)
    assert rejected.data() == {"code": "not_your_turn", "turn": 0}


def test_a_bid_cannot_be_changed_and_nobody_bids_twice():
    game = bid_round(dealt(ANY), 3)
    assert refusal_code(game, bids(0, 4)) is Reject.NOT_YOUR_TURN
    assert refusal_code(bid_round(game, 3, 3, 3), bids(0, 3)) is Reject.WRONG_PHASE


@pytest.mark.parametrize("value", ["3", "pass", "", "NIL", 2.5, 3.0, True, False, None, [3], b"nil"])
def test_a_wrong_type_is_a_malformed_bid_and_never_a_number(value):
    assert refusal_code(dealt(ANY), bids(0, value)) is Reject.MALFORMED_BID


@pytest.mark.parametrize("value", [14, -1, 100])
def test_a_number_out_of_range_is_refused(value):
    assert refusal_code(dealt(ANY), bids(0, value)) is Reject.BID_REFUSED


@pytest.mark.parametrize("name", ["deniro", "classic", "bicycle", "club", "jokers"])
def test_a_whole_number_zero_is_nil_in_every_preset(name):
    rules = ruleset(name)
    game = dealt(hands("AS", "KS", "QS", "JS", ruleset=rules), rules)
    assert decide(game, bids(0, 0)) == (BidMade(Seat(0), "nil"),)
    assert parse_bid(0) == "nil"


def test_every_number_and_nil_is_open_to_a_seat_that_sees_its_cards():
    game = dealt(ANY)
    assert legal_bids(game) == ("nil", *NUMBERS)
    for bid in legal_bids(game):
        assert decide(game, bids(0, bid)) == (BidMade(Seat(0), bid),)


def test_a_team_may_bid_more_than_thirteen():
    assert isinstance(bid_round(dealt(ANY), 13, 1, 13, 1), Play)


@pytest.mark.parametrize(
    ("rules", "scores", "face_down"),
    [
        (CLUB, (0, 99), ()),
        (CLUB, (0, 100), (0, 2)),
        (CLUB, (50, 150), (0, 2)),
        (CLUB, (51, 150), ()),
        (CLUB, (-40, 60), (0, 2)),
        (CLUB, (300, 100), (1, 3)),
        (CLUB, (200, 101), ()),
        (DENIRO, (0, 400), ()),
        (ruleset("classic"), (0, 400), ()),
        (ruleset("classic", {"blind_nil": True}), (0, 100), (0, 2)),
        (ruleset("bicycle", {"blind_nil": True, "nil": 50}), (0, 99), ()),
        (ruleset("bicycle", {"blind_nil": True, "nil": 50}), (0, 100), (0, 2)),
    ],
)
def test_cards_are_dealt_face_down_to_a_team_a_hundred_behind(rules, scores, face_down):
    assert dealt(ANY, rules, scores=scores).face_down == face_down


def test_a_seat_that_has_not_looked_may_bid_blind_nil_and_nothing_else():
    game = dealt(ANY, CLUB, scores=BEHIND)
    assert legal_bids(game) == ("blind_nil",)
    for bid in ("nil", 0, 1, 13):
        assert refusal_code(game, bids(0, bid)) is Reject.LOOK_FIRST
    assert decide(game, bids(0, "blind_nil")) == (BidMade(Seat(0), "blind_nil"),)


def test_having_looked_it_may_bid_anything_but_blind_nil():
    game = take(dealt(ANY, CLUB, scores=BEHIND), LookAtCards(Seat(0)))
    assert legal_bids(game) == ("nil", *NUMBERS)
    assert refusal_code(game, bids(0, "blind_nil")) is Reject.BLIND_NIL_CLOSED


def test_a_partner_may_look_before_its_turn_and_an_opponent_has_nothing_to_turn():
    game = dealt(ANY, CLUB, scores=BEHIND)
    assert decide(game, LookAtCards(Seat(2))) == (CardsSeen(Seat(2)),)
    assert refusal_code(game, LookAtCards(Seat(1))) is Reject.ALREADY_SEEN
    assert refusal_code(game, LookAtCards(Seat(7))) is Reject.NO_SUCH_SEAT
    looked = take(game, LookAtCards(Seat(2)))
    assert refusal_code(looked, LookAtCards(Seat(2))) is Reject.ALREADY_SEEN


def test_blind_nil_is_refused_to_a_seat_that_was_dealt_face_up():
    assert refusal_code(dealt(ANY, CLUB), bids(0, "blind_nil")) is Reject.BLIND_NIL_CLOSED
    assert refusal_code(dealt(ANY), bids(0, "blind_nil")) is Reject.BLIND_NIL_CLOSED


def test_a_blind_bidder_sees_its_cards_with_the_fourth_bid_and_not_before():
    game = bid_round(dealt(ANY, CLUB, scores=BEHIND), "blind_nil", 3)
    assert refusal_code(game, LookAtCards(Seat(0))) is Reject.BID_IS_BLIND
    game = bid_round(take(game, LookAtCards(Seat(2))), 4)
    assert decide(game, bids(3, 2)) == (BidMade(Seat(3), 2), CardsSeen(Seat(0)))
    assert isinstance(take(game, bids(3, 2)), Swap)


def test_looking_is_over_with_the_auction():
    game = bid_round(dealt(ANY), 3, 3, 3, 3)
    assert refusal_code(game, LookAtCards(Seat(0))) is Reject.WRONG_PHASE


def test_parsing_a_bid_keeps_what_is_one():
    assert [parse_bid(bid) for bid in (1, 13, "nil", "blind_nil")] == [1, 13, "nil", "blind_nil"]
    with pytest.raises(Rejected):
        parse_bid("blind nil")


def test_no_card_is_named_in_the_refusal_of_a_seat_that_is_not_on_turn():
    game = bid_round(dealt(ANY), 3, 3, 3, 3)
    rejected = refused(game, bids(0, 3))
    assert not rejected.legal
    assert parse_cards("AS") & game.hands[0]
