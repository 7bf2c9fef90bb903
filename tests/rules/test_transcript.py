"""A game is written as text and read back to the same events."""

import pytest

from spades_rules import (
    PRESETS,
    BadNotation,
    CardPlayed,
    Play,
    Seat,
    new_game,
    parse_card,
    read_transcript,
    ruleset,
    write_transcript,
)
from tests.rules.games import random_game
from tests.rules.notation import CLUB, DENIRO, at_deal

HAND = """\
spades 1 deniro
hand 1 dealer 3
deal 0 2C 6C TC AC 5D 9D KD 4H 8H QH 3S 7S JS
deal 1 3C 7C JC 2D 6D TD AD 5H 9H KH 4S 8S QS
deal 2 4C 8C QC 3D 7D JD 2H 6H TH AH 5S 9S KS
deal 3 5C 9C KC 4D 8D QD 3H 7H JH 2S 6S TS AS
bids 0 | 3 nil 4 13
trick 0 | 2C 3C 4C 5C -> 3
trick 3 | 9C TC
"""


def test_a_transcript_reads_as_the_game_it_tells():
    read = read_transcript(HAND)
    assert read.start == new_game(DENIRO)
    assert isinstance(read.game, Play)
    assert read.game.bids == (3, "nil", 4, 13)
    assert read.events[-1] == CardPlayed(Seat(0), parse_card("TC"))
    assert write_transcript(read.start, read.events) == HAND


def test_comments_and_blank_lines_are_for_the_reader():
    noted = HAND.replace("bids", "\n  # an overbid\nbids").replace("-> 3", "-> 3  # so be it")
    assert read_transcript(noted).events == read_transcript(HAND).events


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", PRESETS)
def test_every_game_survives_being_written(name, seed):
    steps = list(random_game(ruleset(name), seed=seed, hands_max=5))
    start, events = steps[0][0], tuple(event for _, _, caused in steps for event in caused)
    text = write_transcript(start, events)
    read = read_transcript(text)
    assert (read.start, read.events) == (start, events)
    assert read.commands == tuple(command for _, command, _ in steps)
    assert write_transcript(read.start, read.events) == text


def test_a_game_with_options_and_a_start_in_its_middle_says_so():
    rules = ruleset("classic", {"blind_nil": True, "nil": 50, "target": 250})
    start = at_deal(rules, scores=(120, -31), dealer=2, hand_no=5)
    text = write_transcript(start, ())
    assert text == ("spades 1 classic blind_nil=on nil=50 target=250\nfrom hand 5 dealer 2 scores 120 -31 bags 0 9\n")
    assert read_transcript(text).start == start


def test_a_blind_auction_is_told_in_order():
    rows = HAND.splitlines()[2:6]
    text = "\n".join(
        (
            "spades 1 club",
            "from hand 2 dealer 3 scores 0 100 bags 0 0",
            "hand 2 dealer 3",
            *rows,
            "bids 0 | blind_nil 3",
            "look 2",
            "bids 2 | 4 3",
            "pass 0 8H QH",
            "pass 2 3D 2H",
            "",
        )
    )
    read = read_transcript(text)
    assert read.start.ruleset == CLUB
    assert write_transcript(read.start, read.events) == text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("spades 1", "spades 2"),
        ("deniro", "dinero"),
        ("deniro", "deniro target=300"),
        ("dealer 3", "dealer 4"),
        ("hand 1", "hand 2"),
        ("deal 1", "deal 0"),
        ("deal 1 3C", "deal 1 2C"),
        ("bids 0 | 3", "bids 0 | 14"),
        ("bids 0", "bids 1"),
        ("nil 4", "none 4"),
        ("-> 3", "-> 2"),
        ("2C 3C", "2C 4S"),
        ("trick 3 | 9C", "trick 3 | 9X"),
        ("trick 3", "turn 3"),
        ("trick 3", "trick 0"),
    ],
)
def test_a_text_that_is_no_game_by_the_rules_is_refused_with_its_line(old, new):
    assert old in HAND
    with pytest.raises(BadNotation, match="line"):
        read_transcript(HAND.replace(old, new, 1))


def test_a_false_score_is_found():
    steps = list(random_game(DENIRO, seed=1, hands_max=1))
    text = write_transcript(steps[0][0], [event for _, _, caused in steps for event in caused])
    score = next(line for line in text.splitlines() if line.startswith("score"))
    with pytest.raises(BadNotation, match="the rules say"):
        read_transcript(text.replace(score, score.replace("score ", "score 1")))


def test_an_empty_text_is_no_game():
    with pytest.raises(BadNotation):
        read_transcript("# nothing\n")
