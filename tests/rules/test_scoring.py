"""A hand's score is a sheet of lines, each naming its rule; the higher score wins."""

import pytest

from spades_rules import (
    EndReason,
    GameEnded,
    HandScored,
    ScoreLine,
    ScoreRule,
    custom_ruleset,
    game_end,
    parse_bid,
    ruleset,
    score_hand,
    score_team,
)

DENIRO, CLASSIC, BICYCLE, CLUB, JOKERS = map(ruleset, ("deniro", "classic", "bicycle", "club", "jokers"))
MADE, MISSED = ScoreRule.CONTRACT_MADE, ScoreRule.CONTRACT_MISSED
NIL, NO_NIL = ScoreRule.NIL_MADE, ScoreRule.NIL_FAILED
BLIND, NO_BLIND = ScoreRule.BLIND_NIL_MADE, ScoreRule.BLIND_NIL_FAILED
BAGS, PENALTY = ScoreRule.BAGS, ScoreRule.BAG_PENALTY


def sheet(rules, bids, tricks, *, score=0, bags=0):
    """Team 0's side; `bids` and `tricks` are of seats 0 and 2."""
    return score_team(
        rules,
        0,
        bids=(parse_bid(bids[0]), 3, parse_bid(bids[1]), 3),
        tricks=(tricks[0], 3, tricks[1], 3),
        score=score,
        bags=bags,
    )


#   rules     bids               tricks  lines
LINES = [
    (DENIRO, (3, 4), (5, 4), [(MADE, 70, 7, None), (BAGS, 2, 2, None)]),
    (DENIRO, (3, 4), (2, 4), [(MISSED, -70, 7, None)]),
    (CLASSIC, (3, 4), (2, 4), [(MISSED, -70, 7, None)]),
    (BICYCLE, (3, 4), (2, 4), [(MISSED, 0, 7, None)]),
    (JOKERS, (3, 4), (2, 4), [(MISSED, 0, 7, None)]),
    (DENIRO, (3, 4), (7, 0), [(MADE, 70, 7, None)]),
    (DENIRO, (0, 4), (0, 4), [(MADE, 40, 4, None), (NIL, 100, 0, 0)]),
    (
        DENIRO,
        ("nil", 4),
        (1, 3),
        [(MISSED, -40, 4, None), (NO_NIL, -100, 1, 0), (BAGS, 1, 1, None)],
    ),
    (CLASSIC, ("nil", 4), (1, 3), [(MADE, 40, 4, None), (NO_NIL, -100, 1, 0)]),
    (CLASSIC, ("nil", 5), (1, 3), [(MISSED, -50, 5, None), (NO_NIL, -100, 1, 0)]),
    (
        CLUB,
        ("nil", 4),
        (1, 5),
        [(MADE, 40, 4, None), (NO_NIL, -100, 1, 0), (BAGS, 2, 2, None)],
    ),
    (CLUB, ("blind_nil", 4), (0, 4), [(MADE, 40, 4, None), (BLIND, 200, 0, 0)]),
    (
        CLUB,
        (4, "blind_nil"),
        (2, 2),
        [(MISSED, -40, 4, None), (NO_BLIND, -200, 2, 2), (BAGS, 2, 2, None)],
    ),
    (CLUB, ("nil", "nil"), (0, 0), [(NIL, 100, 0, 0), (NIL, 100, 0, 2)]),
    (
        CLASSIC,
        ("nil", "nil"),
        (2, 0),
        [(NO_NIL, -100, 2, 0), (NIL, 100, 0, 2), (BAGS, 2, 2, None)],
    ),
    (
        CLUB,
        ("blind_nil", "nil"),
        (0, 1),
        [(BLIND, 200, 0, 0), (NO_NIL, -100, 1, 2), (BAGS, 1, 1, None)],
    ),
]


@pytest.mark.parametrize(("rules", "bids", "tricks", "lines"), LINES)
def test_a_team_s_sheet_shows_its_parts(rules, bids, tricks, lines):
    scored = sheet(rules, bids, tricks)
    assert scored.lines == tuple(ScoreLine(*line) for line in lines)
    assert scored.delta == scored.score_after == sum(line.points for line in scored.lines)


@pytest.mark.parametrize(
    ("before", "extra", "penalties", "after"),
    [(0, 9, 0, 9), (9, 1, 1, 0), (9, 2, 1, 1), (7, 3, 1, 0), (9, 12, 2, 1), (0, 0, 0, 0)],
)
def test_every_tenth_bag_costs_a_hundred_and_the_rest_carries(before, extra, penalties, after):
    scored = sheet(DENIRO, (1, "nil"), (1 + extra, 0), score=before, bags=before)
    assert (scored.bag_penalties, scored.bags_after) == (penalties, after)
    assert scored.delta == 10 + 100 + extra - 100 * penalties
    costs = [line for line in scored.lines if line.rule is PENALTY]
    assert costs == [ScoreLine(PENALTY, -100 * penalties, penalties, None)][: bool(penalties)]


def test_a_blind_nil_is_worth_its_own_points():
    rules = ruleset("classic", {"blind_nil": True, "nil": 50})
    assert sheet(rules, ("nil", 4), (0, 4)).delta == 90
    assert sheet(rules, ("nil", 4), (1, 4)).delta == -9
    assert sheet(rules, ("blind_nil", 4), (0, 4)).delta == 140


def test_a_scored_hand_holds_both_teams_and_where_they_came_from():
    scored = score_hand(DENIRO, bids=(3, 2, 4, 3), tricks=(5, 1, 4, 3), scores=(9, 20), bags=(9, 0), hand_no=4)
    assert isinstance(scored, HandScored)
    assert (scored.bids, scored.tie_plays_on) == ((3, 2, 4, 3), False)
    first, second = scored.teams
    assert (first.team, second.team) == (0, 1)
    assert (first.score_before, first.score_after, first.bags_before, first.bags_after) == (
        9,
        -19,
        9,
        1,
    )
    assert (first.contract, first.helping, second.contract, second.helping) == (7, 9, 5, 4)
    assert (second.score_after, scored.hand_no, scored.tricks) == (-30, 4, (5, 1, 4, 3))


NO_END = None
TARGET, FLOOR, LIMIT = EndReason.TARGET, EndReason.FLOOR, EndReason.HAND_LIMIT


@pytest.mark.parametrize(
    ("rules", "scores", "hand_no", "end"),
    [
        (DENIRO, (499, 0), 9, NO_END),
        (DENIRO, (500, 0), 9, (0, TARGET)),
        (DENIRO, (500, 501), 9, (1, TARGET)),
        (DENIRO, (520, 520), 9, NO_END),
        (DENIRO, (-900, 499), 9, NO_END),
        (DENIRO, (-200, -300), 9, NO_END),
        (CLUB, (-199, 100), 9, NO_END),
        (CLUB, (-200, 100), 9, (1, FLOOR)),
        (CLUB, (100, -201), 9, (0, FLOOR)),
        (CLUB, (-250, -220), 9, (1, FLOOR)),
        (CLUB, (-210, -210), 9, NO_END),
        (CLUB, (-300, 500), 9, (1, TARGET)),
        (CLUB, (500, -300), 9, (0, TARGET)),
        (CLUB, (500, 500), 9, NO_END),
        (DENIRO, (10, 20), 63, NO_END),
        (DENIRO, (10, 20), 64, (1, LIMIT)),
        (DENIRO, (20, 10), 64, (0, LIMIT)),
        (DENIRO, (10, 10), 64, (None, LIMIT)),
        (DENIRO, (500, 500), 64, (None, LIMIT)),
        (CLUB, (-210, -210), 64, (None, LIMIT)),
        (DENIRO, (600, 500), 64, (0, TARGET)),
        (CLUB, (-200, 0), 64, (1, FLOOR)),
        (ruleset("club", {"target": 300}), (300, 299), 3, (0, TARGET)),
        (ruleset("classic", {"target": 200}), (199, 100), 3, NO_END),
        (ruleset("classic", {"target": 200}), (200, 100), 3, (0, TARGET)),
    ],
)
def test_the_higher_score_wins_and_a_tie_plays_another_hand(rules, scores, hand_no, end):
    expected = None if end is None else GameEnded(*end, scores)
    assert game_end(rules, scores, hand_no) == expected


def _tied(rules, score, hand_no):
    """A hand in which both teams bid and made six, from equal scores."""
    return score_hand(
        rules,
        bids=(3, 3, 3, 3),
        tricks=(3, 3, 3, 3),
        scores=(score, score),
        bags=(score % 10,) * 2,
        hand_no=hand_no,
    ).tie_plays_on


@pytest.mark.parametrize(
    ("rules", "score", "hand_no", "plays_on"),
    [
        (DENIRO, 440, 5, True),
        (DENIRO, 430, 5, False),
        (DENIRO, 440, 64, False),
        (CLUB, -260, 5, True),
        (CLUB, -250, 5, False),
        (DENIRO, -260, 5, False),
        (custom_ruleset(floor=-200, hands_max=5), -270, 5, False),
        (custom_ruleset(floor=-200, hands_max=6), -270, 5, True),
    ],
)
def test_a_tie_that_plays_on_is_said(rules, score, hand_no, plays_on):
    assert _tied(rules, score, hand_no) is plays_on
