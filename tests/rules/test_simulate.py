"""The simulation plays by the same rules: held beside `decide` on random hands."""

import random

import pytest

from spades_rules import (
    PRESETS,
    CardPlayed,
    HandScored,
    Play,
    PlayCard,
    decide,
    expected,
    legal_cards,
    replay,
    ruleset,
)
from spades_rules.simulate import DICE_SIDES, pick, play_out, table_of
from tests.rules.games import random_game


def plays_of(name, seed):
    for game, command, events in random_game(ruleset(name), seed=seed, hands_max=6):
        if isinstance(game, Play):
            yield game, command, events


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("seed", range(3))
def test_legal_cards_winners_and_broken_spades_are_the_same(name, seed):
    for game, command, events in plays_of(name, seed):
        table = table_of(game)
        assert table.legal() == legal_cards(game)
        assert table.turn == expected(game).seat
        table.play(command.card)
        after = replay(game, events)
        if isinstance(after, Play):
            copy = table_of(after)
            for field in ("hands", "leader", "trick", "broken", "taken"):
                assert getattr(table, field) == getattr(copy, field)
        else:
            scored = next(event for event in events if isinstance(event, HandScored))
            assert tuple(table.taken) == scored.tricks


@pytest.mark.parametrize("name", PRESETS)
def test_a_playout_takes_the_tricks_that_decide_gives_for_the_same_cards(name):
    chance = random.Random(name)
    for game, _, _ in list(plays_of(name, 9))[::3]:
        dice = [chance.randrange(DICE_SIDES) for _ in range(52)]
        rolls = iter(dice)
        state, tricks = game, None
        while tricks is None:
            turn = expected(state)
            card = pick(legal_cards(state), next(rolls)).bit_length() - 1
            events = decide(state, PlayCard(turn.seat, card))
            assert isinstance(events[0], CardPlayed)
            tricks = next((e.tricks for e in events if isinstance(e, HandScored)), None)
            state = replay(state, events)
        table = table_of(game)
        kept = table.copy()
        assert tuple(play_out(table, dice)) == tricks
        assert table.hands == [0, 0, 0, 0]
        assert kept.hands == list(game.hands), "a copy shares nothing"


def test_a_pick_is_a_card_of_the_set_and_reaches_all_of_them():
    legal = 0b1011_0010
    assert {pick(legal, roll) for roll in range(DICE_SIDES)} == {2, 16, 32, 128}
