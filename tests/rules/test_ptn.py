"""PTN: the portable notation of a hand."""

import pytest

from spades_rules import (
    PRESETS,
    BadNotation,
    BidMade,
    CardPlayed,
    CardsPassed,
    GameEnded,
    HandDealt,
    HandScored,
    custom_ruleset,
    read_ptn,
    read_transcript,
    ruleset,
    write_ptn,
)
from tests.rules.games import random_game
from tests.rules.test_transcript import HAND

WRITTEN = """\
[Site "here \\"and\\" now"]
[Rules "deniro"]
[Options ""]
[Board "1"]
[Dealer "W"]
[Deal "N:J73.Q84.K95.AT62 Q84.K95.AT62.J73 K95.AT62.J73.Q84 AT62.J73.Q84.K95"]
[Auction "N"]
3 Nil 4 13
[Play "N"]
C2 C3 C4 C5
CT - - C9
"""


def test_a_hand_is_written_by_suits_and_its_tricks_by_columns():
    read = read_transcript(HAND)
    assert write_ptn(read.start, read.events, {"Site": 'here "and" now'}) == WRITTEN


def test_a_whole_game_has_a_block_for_each_hand_with_its_result():
    steps = list(random_game(ruleset("deniro"), seed=2, hands_max=3))
    text = write_ptn(steps[0][0], [event for _, _, caused in steps for event in caused])
    assert text.count("[Board ") == text.count("[Result ") == 3
    assert '[Board "3"]' in text
    rows = [row for row in text.splitlines() if row and row[0] in "CDHS" and len(row) == 11]
    assert len(rows) == 39


def test_jokers_and_passed_cards_are_written():
    rules = ruleset("jokers", {"blind_nil": True, "swap": True})
    steps = list(random_game(rules, seed=3, hands_max=12))
    text = write_ptn(steps[0][0], [event for _, _, caused in steps for event in caused])
    assert "SB" in text
    assert "SL" in text
    assert "[Passes " in text


ALL_OPTIONS = {"blind_nil": True, "swap": True}
RULESETS = [
    *(ruleset(name) for name in PRESETS),
    ruleset("classic", {**ALL_OPTIONS, "nil": 50, "target": 250}),
    ruleset("jokers", ALL_OPTIONS),
    custom_ruleset(floor=-150, hands_max=5, blind_nil_points=100),
]
TOLD = (HandDealt, BidMade, CardsPassed, CardPlayed, HandScored, GameEnded)


def game_of(rules, seed, hands_max=64):
    steps = list(random_game(rules, seed=seed, hands_max=hands_max))
    return steps[0][0], [event for _, _, caused in steps for event in caused]


@pytest.mark.parametrize("rules", RULESETS, ids=lambda rules: f"{rules.name}{len(rules.options)}")
@pytest.mark.parametrize("seed", range(3))
def test_what_was_written_is_read_back(rules, seed):
    start, events = game_of(rules, seed, hands_max=12)
    text = write_ptn(start, events, {"Site": 'a "\\" here', "Secret": "00"})
    read = read_ptn(text)
    assert read.start == start
    # When a seat looked is not told, so that this alone may stand elsewhere.
    assert [event for event in read.events if isinstance(event, TOLD)] == [
        event for event in events if isinstance(event, TOLD)
    ]
    assert write_ptn(read.start, read.events, {"Site": 'a "\\" here', "Secret": "00"}) == text


def test_a_game_may_be_read_from_a_later_hand_on():
    start, events = game_of(custom_ruleset(blind_nil_points=100), seed=5, hands_max=6)
    blocks = write_ptn(start, events).split("\n\n")
    read = read_ptn("\n\n".join(blocks[3:]))
    assert read.start.hand_no == 4
    assert read.game.scores == read_ptn("\n\n".join(blocks)).game.scores


def test_a_hand_that_broke_off_is_read_as_far_as_it_went():
    whole = read_transcript(HAND)
    read = read_ptn(WRITTEN)
    assert (read.start, read.commands, read.game) == (whole.start, whole.commands, whole.game)
    dealt_only = "\n".join(WRITTEN.splitlines()[:6])
    assert len(read_ptn(dealt_only).commands) == 1


FINISHED = write_ptn(*game_of(ruleset("deniro"), seed=2, hands_max=2))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('[Board "2"]', '[Board "3"]', "wrong_hand"),
        ('[Dealer "', '[Dealer "X', "is no seat"),
        ('[Deal "N:', '[Deal "E:', "begins with N"),
        ('[Rules "deniro"]', '[Rules "bridge"]', "preset"),
        ('[Rules "deniro"]', '[Rules "club"]', "the same rules"),
        ('[Options ""]', '[Options "target=300"]', "target"),
        ("[Result", "[Other", "should be"),
        ('[Result "', '[Result "1', "should be"),
        ('[ScoreEW "', '[ScoreEW "1', "should be"),
        ("[Play", "loose words\n[Play", "loose"),
        ("[Result", "C2 C3 C4 C5\n[Result", "when the hand is over"),
    ],
)
def test_what_is_no_game_by_the_rules_is_refused_with_its_place(old, new, says):
    start, _, rest = FINISHED.rpartition("\n\n")
    assert old in rest
    with pytest.raises(BadNotation, match="hand 2 of the text: .*" + says):
        read_ptn(start + "\n\n" + rest.replace(old, new, 1))


def test_a_later_hand_without_its_scores_has_no_start():
    rest = FINISHED.rpartition("\n\n")[2]
    with pytest.raises(BadNotation, match="there is no ScoreNS"):
        read_ptn(rest.replace("ScoreNS", "Note"))
    for text in ("", "no tag", '[Board "1"]\n[Board "1"]'):
        with pytest.raises(BadNotation):
            read_ptn(text)
