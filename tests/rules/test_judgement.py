"""The computer player: legal, deterministic, blind to what its seat may not see, and no fool."""

import random

import pytest

from spades_rules import (
    BLIND_NIL,
    PRESETS,
    AwaitingDeal,
    Ended,
    HandScored,
    LookAtCards,
    PassCards,
    PlaceBid,
    Play,
    PlayCard,
    Seat,
    View,
    bid_tricks,
    card_names,
    custom_ruleset,
    decide,
    expected,
    judge,
    new_game,
    parse_cards,
    replay,
    ruleset,
    view,
)
from tests.rules.games import random_deal, random_game
from tests.rules.notation import CLUB, DENIRO, bid_round, dealt, hands, take

OPTIONS = {
    "classic": {"blind_nil": True, "swap": True},
    "jokers": {"blind_nil": True, "swap": True},
}
RULESETS = [ruleset(name, OPTIONS.get(name)) for name in PRESETS]


def bid_of(hand: str, *before: object, rules=DENIRO, scores=(0, 0)):
    """What a hand bids after these bids, its seat being the next in turn."""
    seat = len(before)
    rows = ["", "", "", ""]
    rows[seat] = hand
    game = bid_round(dealt(hands(*rows, ruleset=rules), rules, scores=scores), *before)
    command = judge(view(game, Seat(seat)))
    assert isinstance(command, PlaceBid)
    return command.bid


@pytest.mark.parametrize("rules", RULESETS, ids=lambda rules: rules.name)
@pytest.mark.parametrize("seed", range(2))
def test_it_plays_whole_games_under_every_preset_and_never_illegally(rules, seed):
    chance = random.Random(seed)
    game = new_game(rules)
    while not isinstance(game, Ended):
        if isinstance(game, AwaitingDeal):
            command = random_deal(game, chance)
        else:
            seat = expected(game).seat
            command = judge(view(game, seat))
            assert command == judge(view(game, seat))
            assert command.seat == seat
        game = replay(game, decide(game, command))


@pytest.mark.parametrize("rules", RULESETS, ids=lambda rules: rules.name)
def test_it_has_a_legal_answer_to_anything_that_others_do(rules):
    for seed in range(4):
        for game, _, _ in random_game(rules, seed=seed, hands_max=4):
            turn = expected(game)
            if turn is not None:
                for by_clock in (False, True):
                    decide(game, judge(view(game, turn.seat), by_clock=by_clock))


def test_it_plays_under_rules_of_no_preset_too():
    rules = custom_ruleset(blind_nil_points=200, swap_cards=2, missed_points=0, blind_nil_gap=50)
    for game, _, _ in random_game(rules, seed=8, hands_max=3):
        turn = expected(game)
        if turn is not None:
            decide(game, judge(view(game, turn.seat)))


def test_it_has_no_move_out_of_turn_and_none_for_a_watcher():
    game = dealt(hands("AS", "KS", "QS", "JS"))
    for seat in (Seat(1), None):
        with pytest.raises(ValueError, match="turn"):
            judge(view(game, seat))


@pytest.mark.parametrize("seed", range(10))
def test_swapping_two_unseen_hands_changes_no_choice(seed):
    for game, _, _ in random_game(DENIRO, seed=seed, hands_max=1):
        if isinstance(game, Play):
            seat = expected(game).seat
            one, two = [other for other in range(4) if other != seat][:2]
            four = list(game.hands)
            if four[one].bit_count() == four[two].bit_count():
                four[one], four[two] = four[two], four[one]
            other = Play(
                deal=game.deal,
                bids=game.bids,
                passes=game.passes,
                hands=tuple(four),
                leader=game.leader,
                trick=game.trick,
                broken=game.broken,
                taken=game.taken,
                tricks=game.tricks,
            )
            assert judge(view(other, seat)) == judge(view(game, seat))


# --- bids ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", RULESETS, ids=lambda rules: rules.name)
@pytest.mark.parametrize("partner", [9, 12, 13])
def test_a_team_s_bids_are_never_brought_over_thirteen(rules, partner):
    chance = random.Random(partner)
    for _ in range(30):
        start = new_game(rules)
        game = replay(start, decide(start, random_deal(start, chance)))
        first = expected(game).seat
        game = bid_round(game, partner, 1)
        bid = judge(view(game, Seat((first + 2) % 4))).bid
        assert partner + bid_tricks(bid) <= 13


def test_a_partner_who_bid_all_thirteen_leaves_a_nil():
    assert bid_of("AS AH AD AC KS KH KD KC QS QH QD QC JS", 13, 1) == "nil"


def test_a_hand_of_winners_is_bid_for_what_it_is_worth():
    assert bid_of("AS KS QS JS TS 9S 8S 7S 6S 5S AH AD AC") >= 11
    assert bid_of("AS KS QS AH KH AD KD 2C 3C 4C 5C 6C 7C") in (6, 7, 8)


def test_a_hand_of_nothing_is_a_nil():
    assert bid_of("2S 3S 2H 4H 6H 3D 5D 7D 2C 4C 5C 7C 9C") == "nil"


@pytest.mark.parametrize("hand", ["AS 2H 4H 6H 3D 5D 7D 2C 4C 5C 7C 9C 3H", "KS QS JS TS 2H 3H 4H 2D 3D 4D 2C 3C 4C"])
def test_a_hand_that_must_take_a_trick_is_no_nil(hand):
    assert bid_of(hand) != "nil"


@pytest.mark.parametrize("nil", ["nil"])
def test_beside_a_nil_it_bids_about_its_real_tricks(nil):
    assert bid_of("AS KS QS AH KH AD KD 2C 3C 4C 5C 6C 7C", nil, 3) in (6, 7, 8)


def test_it_does_not_bid_a_second_nil_beside_its_partner_s():
    assert bid_of("2S 3S 2H 4H 6H 3D 5D 7D 2C 4C 5C 7C 9C", "nil", 3) == 1


def behind(mine: int, theirs: int, *before: object, rules=CLUB) -> object:
    game = dealt(hands("AS", "KS", "QS", "JS", ruleset=rules), rules, scores=(mine, theirs))
    return judge(view(bid_round(game, *before), expected(bid_round(game, *before)).seat))


def test_a_game_that_is_not_yet_lost_is_looked_at():
    assert behind(0, 100) == LookAtCards(Seat(0))
    assert behind(150, 330) == LookAtCards(Seat(0))


def test_a_game_as_good_as_lost_is_worth_a_blind_nil():
    assert behind(150, 460) == PlaceBid(Seat(0), BLIND_NIL)


def test_by_the_clock_it_never_bids_blind():
    game = dealt(hands("AS", "KS", "QS", "JS"), CLUB, scores=(150, 460))
    assert judge(view(game, Seat(0)), by_clock=True) == LookAtCards(Seat(0))
    looked = take(game, LookAtCards(Seat(0)))
    bid = judge(view(looked, Seat(0)), by_clock=True)
    assert isinstance(bid, PlaceBid)
    assert bid.bid != BLIND_NIL


def test_two_partners_do_not_both_bid_blind():
    game = bid_round(dealt(hands("AS", "KS", "QS", "JS"), CLUB, scores=(150, 460)), BLIND_NIL, 3)
    assert judge(view(game, Seat(2))) == LookAtCards(Seat(2))


# --- the swap --------------------------------------------------------------------------------


def swapped(bidder: str, partner: str):
    game = dealt(hands(bidder, "", partner, ""), CLUB, scores=(0, 100))
    return bid_round(take(game, LookAtCards(Seat(2))), BLIND_NIL, 3, 5, 3)


def test_a_blind_bidder_passes_its_highest_spades():
    game = swapped("AS KS 2S 3H 4H 5H 2D 3D 4D 2C 3C 4C 5C", "")
    assert judge(view(game, Seat(0))) == PassCards(Seat(0), parse_cards("AS KS"))


def test_a_bare_ace_goes_before_a_well_guarded_one():
    game = swapped("AH 2D 3D 4D 5D AD 2C 3C 4C 5C 2S 3S KS", "")
    passed = judge(view(game, Seat(0))).cards
    assert set(card_names(passed)) == {"AH", "KS"}


def test_the_partner_returns_low_cards_and_neither_spades_nor_what_it_was_given():
    game = swapped("AS KS 2S 3H 4H 5H 3D 4D 5D 2C 3C 4C 5C", "QS JS TS 2H KH QH AH 2D KD AD AC KC QC")
    game = take(game, PassCards(Seat(0), parse_cards("AS KS")))
    assert judge(view(game, Seat(2))) == PassCards(Seat(2), parse_cards("2H 2D"))


# --- strength --------------------------------------------------------------------------------


def _net(scored: HandScored, team: int) -> int:
    return scored.teams[team].delta - 9 * sum(line.count for line in scored.teams[team].lines if line.rule == "bags")


def test_it_beats_a_player_of_random_cards_on_the_same_deals():
    chance = random.Random(1)
    gain = 0
    for _ in range(40):
        start = new_game(DENIRO)
        deal = random_deal(start, chance)
        for side in (0, 1):
            game = replay(start, decide(start, deal))
            while True:
                seat = expected(game).seat
                command = judge(view(game, seat))
                if seat % 2 != side and isinstance(command, PlayCard):
                    command = PlayCard(seat, parse_cards(_any(view(game, seat), chance)).bit_length() - 1)
                events = decide(game, command)
                scored = [event for event in events if isinstance(event, HandScored)]
                if scored:
                    gain += _net(scored[0], side) - _net(scored[0], 1 - side)
                    break
                game = replay(game, events)
    assert gain / 80 > 40


def _any(seen_: View, chance: random.Random) -> str:
    return chance.choice(seen_.legal_cards)


def test_most_of_its_nils_are_kept_and_most_of_its_contracts_made():
    chance = random.Random(2)
    lines: dict[str, int] = {}
    for _ in range(150):
        start = new_game(DENIRO)
        game = replay(start, decide(start, random_deal(start, chance)))
        while isinstance(game, Play) or not isinstance(game, AwaitingDeal):
            events = decide(game, judge(view(game, expected(game).seat)))
            game = replay(game, events)
            for event in events:
                if isinstance(event, HandScored):
                    for line in (line for team in event.teams for line in team.lines):
                        lines[line.rule.value] = lines.get(line.rule.value, 0) + 1
    nils = lines["nil_made"] + lines["nil_failed"]
    assert lines["nil_made"] / nils >= 0.7
    assert lines["contract_missed"] / (lines["contract_missed"] + lines["contract_made"]) <= 0.25
