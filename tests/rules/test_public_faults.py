"""Faults that other Spades programs were reported to have; none may be ours."""

import random

import pytest

from spades_rules import (
    PRESETS,
    AwaitingDeal,
    Ended,
    HandDealt,
    HandScored,
    Play,
    PlayCard,
    Reject,
    Seat,
    SpadesBroken,
    TrickTaken,
    card_name,
    decide,
    evolve,
    expected,
    game_end,
    judge,
    legal_cards,
    new_game,
    read_transcript,
    replay,
    ruleset,
    view,
    write_transcript,
)
from tests.rules.games import random_deal, random_game
from tests.rules.notation import (
    CLUB,
    DENIRO,
    at_deal,
    dealt,
    hands,
    in_play,
    names,
    play,
    plays,
    refusal_code,
    take,
)

JOKERS = ruleset("jokers")


def test_spades_broken_is_set_when_a_void_seat_throws_one_and_its_winner_may_lead_any_card():
    diamonds = "3D 4D 5D 6D 7D 8D 9D TD JD QD"
    game = in_play(hands("AC 2C", f"2S KS 2H {diamonds}", "3C 4C", "5C 6C"))
    game = play(game, "AC 2S 3C 5C")
    assert game.leader == 1
    assert legal_cards(game) == game.hands[1]
    assert {"KS", "2H"} <= set(names(legal_cards(game)).split())


def test_spades_are_closed_again_at_every_deal():
    """However a hand went, the next one opens with spades unbroken."""
    broken_in = []
    for game, _, events in random_game(DENIRO, seed=4, hands_max=4):
        if SpadesBroken() in events:
            broken_in.append(game.hand_no)
        if isinstance(game, Play) and not game.tricks and not game.trick:
            assert not game.broken
    assert len(broken_in) == 4, "once in each hand"


def test_a_spade_is_refused_from_a_hand_that_holds_the_suit_led():
    clubs = "3C 4C 5C 6C 7C 8C 9C TC JC QC KC"
    game = play(in_play(hands("5H AH", f"2H AS {clubs}", "6H", "7H")), "5H")
    assert names(legal_cards(game)) == "2H"
    assert refusal_code(game, plays(1, "AS")) is Reject.MUST_FOLLOW


def test_neither_a_discard_nor_a_lower_card_wins():
    diamonds = "KD QD JD TD 9D 8D 7D 6D 5D 4D 3D 2D KH"
    game = play(in_play(hands("JC", diamonds, "3C", "2C")), "JC KD 3C 2C")
    assert game.leader == 0
    closed = hands("2S 3S 4S 5S 6S 7S 8S 9S JS QS KS AS LJ", "TS BJ", "3C", "4C", ruleset=JOKERS)
    game = play(in_play(closed, JOKERS), "9S TS")
    for _ in range(2):
        game = play(game, names(legal_cards(game)).split()[0])
    assert game.leader == 1, "the ten beats the nine that was led"


def test_a_computer_player_keeps_to_the_rule_for_the_first_lead():
    spades = "2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS"
    game = in_play(hands(f"{spades} AC", "AS", "", ""), bids=(12, 1, 1, 1))
    assert names(legal_cards(game)) == "AC"
    assert card_name(judge(view(game, Seat(0))).card) == "AC"


@pytest.mark.parametrize("name", PRESETS)
def test_the_last_card_is_played_by_the_computer_and_by_the_clock(name):
    rules = ruleset(name)
    found = 0
    for game, command, _ in random_game(rules, seed=2, hands_max=2):
        if isinstance(game, Play) and len(game.tricks) == 12:
            seen = view(game, expected(game).seat)
            assert judge(seen) == judge(seen, by_clock=True) == command
            found += 1
    assert found == 8


def test_computer_players_are_told_their_table_s_rules():
    options = {"blind_nil": True, "nil": 50, "target": 250}
    game = dealt(hands("AS", "KS", "QS", "JS"), ruleset("classic", options))
    seen = view(game, Seat(0))
    assert (seen.preset, seen.options) == ("classic", options)


def test_a_rule_of_the_table_changes_what_the_computer_does():
    four = hands("AS", "KS", "QS", "JS")
    lost = (0, 460)
    with_blind = dealt(four, ruleset("classic", {"blind_nil": True}), scores=lost)
    without = dealt(four, ruleset("classic"), scores=lost)
    assert judge(view(with_blind, Seat(0))) != judge(view(without, Seat(0)))


def test_an_exact_tie_plays_another_hand_and_the_deal_moves_on():
    suits = {suit: " ".join(rank + suit for rank in "23456789TJQKA") for suit in "CDHS"}
    four = hands(suits["S"], suits["C"], suits["H"], suits["D"])
    # Seat 0 takes all: 130 and its partner's Nil 100, against a Nil 100 and a set of 10.
    for scores, tied in (((380, 520), True), ((380, 521), False)):
        game = in_play(four, bids=(13, "nil", "nil", 1), scores=scores)
        while not isinstance(game, AwaitingDeal | Ended):
            card = legal_cards(game).bit_length() - 1
            game = take(game, PlayCard(expected(game).seat, card))
        assert game.scores == (scores[0] + 230, scores[1] + 90)
        if tied:
            assert game == at_deal(scores=(610, 610), dealer=0, hand_no=3)
        else:
            assert (game.winner, game.reason) == (1, "target")


def test_the_higher_score_wins_and_the_reason_is_told():
    for name in PRESETS:
        rules = ruleset(name)
        ended = game_end(rules, (rules.target + 3, rules.target + 12), 9)
        assert (ended.winner, ended.reason) == (1, "target")


def test_every_target_is_its_own_preset_s_and_every_option_changes_the_result():
    targets = {name: ruleset(name).target for name in PRESETS}
    assert targets == dict.fromkeys(PRESETS, 500)
    for name, options, scores in (
        ("classic", {"target": 200}, (200, 0)),
        ("bicycle", {"target": 250, "nil": 50}, (250, 0)),
        ("club", {"target": 300}, (300, 0)),
        ("jokers", {"target": 200}, (200, 0)),
    ):
        assert game_end(ruleset(name), scores, 3) is None
        assert game_end(ruleset(name, options), scores, 3).winner == 0


@pytest.mark.parametrize("name", PRESETS)
def test_a_table_plays_the_game_it_is_named_after(name):
    for game, _, _ in random_game(ruleset(name), seed=1, hands_max=2):
        assert game.ruleset == PRESETS[name].ruleset
        assert view(game, None).preset == name


@pytest.mark.parametrize("dealer", range(4))
def test_log_and_replay_name_the_same_seats_for_every_dealer(dealer):
    start = at_deal(CLUB, dealer=dealer)
    game = start
    events = []
    for command in _a_hand(start):
        caused = decide(game, command)
        events += caused
        for event in caused:
            game = evolve(game, event)
    assert isinstance(events[0], HandDealt)
    assert events[0].dealer == dealer
    first = next(event for event in events if isinstance(event, TrickTaken))
    assert first.leader == (dealer + 1) % 4
    text = write_transcript(start, events)
    assert f"trick {(dealer + 1) % 4} |" in text
    assert read_transcript(text).events == tuple(events)


def _a_hand(start):
    """One hand from `start`, every seat judged."""
    game = start
    command = random_deal(start, random.Random(start.dealer))
    while True:
        yield command
        game = replay(game, decide(game, command))
        if expected(game) is None:
            return
        command = judge(view(game, expected(game).seat))


def test_a_score_sheet_shows_the_parts_of_a_hand_and_no_bonus_that_was_not_earned():
    for _, _, events in random_game(CLUB, seed=6, hands_max=6):
        for event in events:
            if not isinstance(event, HandScored):
                continue
            for team in event.teams:
                assert team.score_before + team.delta == team.score_after
                assert team.delta == sum(line.points for line in team.lines)
                for line in team.lines:
                    if line.seat is not None:
                        made = event.tricks[line.seat] == 0
                        assert (line.points > 0) is made


def test_two_cards_sent_back_to_back_by_one_seat_are_not_both_taken():
    game = in_play(hands("2C 3C", "4C", "5C", "6C"))
    game = take(game, plays(0, "2C"))
    assert refusal_code(game, plays(0, "3C")) is Reject.NOT_YOUR_TURN


def test_a_new_game_starts_without_the_bags_of_the_last():
    assert new_game(DENIRO).bags == (0, 0)
