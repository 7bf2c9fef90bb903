"""A view is what one seat may see: plain values, of one size whatever the hands."""

import random

import msgspec
import pytest

from spades_rules import (
    NO_CARDS,
    PRESETS,
    Auction,
    AwaitingDeal,
    LookAtCards,
    PassCards,
    Play,
    Seat,
    Swap,
    TrickView,
    View,
    card_names,
    expected,
    judge,
    legal_bids,
    legal_cards,
    new_game,
    parse_cards,
    ruleset,
    view,
)
from tests.rules.games import random_game
from tests.rules.notation import CLUB, DENIRO, bid_round, dealt, hands, in_play, play, take

ANY = hands("2C AS", "3C KS", "4C QS", "5C JS")
WATCHER = None


def encoded(seen: View) -> bytes:
    return msgspec.json.encode(seen)


@pytest.mark.parametrize("name", PRESETS)
def test_a_view_survives_json_by_its_type_at_every_move(name):
    for game, _, _ in random_game(ruleset(name), seed=3, hands_max=3):
        for seat in (0, 1, 2, 3, WATCHER):
            seen = view(game, seat)
            assert msgspec.json.decode(encoded(seen), type=View) == seen


def test_a_view_before_the_first_deal_says_what_is_played():
    rules = ruleset("classic", {"nil": 50, "blind_nil": True})
    assert view(new_game(rules), Seat(1)) == View(
        preset="classic",
        options={"nil": 50, "blind_nil": True},
        phase="awaiting_deal",
        seat=1,
        scores=(0, 0),
        bags=(0, 0),
        hand_no=1,
        dealer=None,
    )


def test_a_seat_sees_its_own_hand_and_the_table():
    game = play(in_play(ANY, bids=(3, "nil", 4, 2)), "2C 3C")
    assert view(game, Seat(2)) == View(
        preset="deniro",
        options={},
        phase="play",
        seat=2,
        scores=(0, 0),
        bags=(0, 0),
        hand_no=2,
        dealer=3,
        hand=card_names(ANY[2]),
        card_counts=(12, 12, 13, 13),
        bids=(3, "nil", 4, 2),
        trick_leader=0,
        trick=("2C", "3C", None, None),
        turn_seat=2,
        turn_kind="play",
        legal_cards=card_names(legal_cards(game)),
        pad="." * 5 * (13 - legal_cards(game).bit_count()),
    )


def test_finished_tricks_are_shown_as_they_were_played():
    game = play(in_play(ANY), "2C 3C 4C 5C")
    first = TrickView(leader=0, cards=("2C", "3C", "4C", "5C"), winner=3)
    seen = view(game, Seat(1))
    assert (seen.tricks, seen.last_trick, seen.taken) == ((first,), first, (0, 0, 0, 1))
    assert (seen.trick, seen.trick_leader) == ((None,) * 4, 3)


@pytest.mark.parametrize("name", PRESETS)
def test_a_view_names_no_card_of_another_seat_s_hand(name):
    for game, _, _ in random_game(ruleset(name), seed=5, hands_max=4):
        if not isinstance(game, Auction | Swap | Play):
            continue
        for seat in (0, 1, 2, 3, WATCHER):
            seen = view(game, seat)
            named = encoded(seen).decode()
            for other in range(4):
                gave = parse_cards(seen.passed) if (other - (seat or 0)) % 4 == 2 else NO_CARDS
                if other != seat:
                    for card in card_names(game.hands[other] & ~gave):
                        assert f'"{card}"' not in named


def test_a_watcher_sees_no_hand_and_no_legal_cards():
    seen = view(in_play(ANY), WATCHER)
    assert (seen.hand, seen.legal_cards, seen.legal_bids) == ((), (), ())
    assert seen.card_counts == (13, 13, 13, 13)


def test_a_face_down_hand_contains_no_cards_until_it_is_looked_at():
    game = dealt(ANY, CLUB, scores=(0, 100))
    seen = view(game, Seat(0))
    assert (seen.hand, seen.may_look, seen.card_counts[0]) == ((), True, 13)
    assert seen.legal_bids == ("blind_nil",)
    assert seen.face_down == (True, False, True, False)
    assert view(game, Seat(2)).may_look
    assert not view(game, Seat(1)).may_look
    looked = view(take(game, LookAtCards(Seat(0))), Seat(0))
    assert (looked.hand, looked.may_look) == (card_names(ANY[0]), False)
    assert looked.face_down == (False, False, True, False)


def test_a_blind_bidder_s_cards_stay_down_until_the_fourth_bid():
    game = take(dealt(ANY, CLUB, scores=(0, 100)), LookAtCards(Seat(2)))
    game = bid_round(game, "blind_nil", 3, 4)
    seen = view(game, Seat(0))
    assert (seen.hand, seen.may_look) == ((), False)
    assert view(bid_round(game, 3), Seat(0)).hand == card_names(ANY[0])


def test_legal_moves_are_told_to_the_seat_on_turn_alone():
    auction = dealt(ANY)
    assert view(auction, Seat(0)).legal_bids == legal_bids(auction)
    assert view(auction, Seat(1)).legal_bids == ()
    playing = in_play(ANY)
    assert view(playing, Seat(0)).legal_cards == card_names(legal_cards(playing))
    assert view(playing, Seat(1)).legal_cards == ()


@pytest.mark.parametrize("seed", range(20))
def test_a_view_has_one_size_whatever_the_hand(seed):
    other = random.Random(seed)
    cards = [f"{rank}{suit}" for suit in "CDHS" for rank in "23456789TJQKA"]
    other.shuffle(cards)
    random_hands = hands(*(" ".join(cards[seat::4]) for seat in range(4)))
    for bids in ((3, "nil", 4, 2), (1, 1, 1, 1)):
        games = [in_play(four, bids=bids) for four in (ANY, random_hands)]
        for seat in (0, 1, 2, 3, WATCHER):
            one, two = (encoded(view(game, seat)) for game in games)
            assert len(one) == len(two)


@pytest.mark.parametrize("returned", ["6C 7C", "2C 6C", "2C AS"])
def test_a_swap_view_has_one_size_whatever_was_returned(returned):
    four = hands("2C AS", "3C", "6C 7C", "5C")
    game = take(dealt(four, CLUB, scores=(0, 100)), LookAtCards(Seat(2)))
    game = bid_round(game, "blind_nil", 3, 4, 3)
    game = take(game, PassCards(Seat(0), parse_cards("2C AS")))
    sizes = [len(encoded(view(game, seat))) for seat in (0, 2)]
    game = take(game, PassCards(Seat(2), parse_cards(returned)))
    plain = take(
        bid_round(take(dealt(four, CLUB, scores=(0, 100)), LookAtCards(Seat(2))), "blind_nil", 3, 4, 3),
        PassCards(Seat(0), parse_cards("2C AS")),
        PassCards(Seat(2), parse_cards("6C 7C")),
    )
    assert sizes[0] > 0
    for seat in (0, 1, 2, 3, WATCHER):
        assert len(encoded(view(game, seat))) == len(encoded(view(plain, seat)))


def test_the_computer_needs_nothing_but_the_view():
    for game, _, _ in random_game(DENIRO, seed=11, hands_max=1):
        turn = expected(game)
        if turn is not None:
            seen = view(game, turn.seat)
            copy = msgspec.json.decode(encoded(seen), type=View)
            assert judge(copy) == judge(seen)


def test_between_hands_there_is_nothing_but_the_score():
    last = None
    for game, _, _ in random_game(DENIRO, seed=11, hands_max=2):
        if isinstance(game, AwaitingDeal):
            last = view(game, Seat(0))
    assert last is not None
    assert (last.phase, last.hand, last.tricks, last.turn_seat) == ("awaiting_deal", (), (), None)
