"""PTN: the portable notation of a hand."""

from spades_rules import read_transcript, ruleset, write_ptn
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
