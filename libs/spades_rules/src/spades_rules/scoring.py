"""The score of a hand, as line items that each name their rule, and the end of the game."""

from __future__ import annotations

from collections.abc import Sequence

from spades_rules.bids import BLIND_NIL, Bid, bid_tricks, is_nil
from spades_rules.events import EndReason, GameEnded, HandScored, ScoreLine, ScoreRule, TeamScore
from spades_rules.ruleset import FailedNil, Ruleset
from spades_rules.seats import TEAMS, Seat, Team, seats_of


def score_hand(
    ruleset: Ruleset,
    *,
    bids: tuple[Bid, Bid, Bid, Bid],
    tricks: tuple[int, int, int, int],
    scores: tuple[int, int],
    bags: tuple[int, int],
    hand_no: int,
) -> HandScored:
    """Score one finished hand.

    `bids` and `tricks` are by seat, `scores` and `bags` by team before the hand.
    """
    first, second = (
        score_team(ruleset, team, bids=bids, tricks=tricks, score=scores[team], bags=bags[team]) for team in TEAMS
    )
    after = (first.score_after, second.score_after)
    tie = after[0] == after[1] and hand_no < ruleset.hands_max and _end_reason(ruleset, after) is not None
    return HandScored(hand_no, bids, tricks, (first, second), tie)


def score_team(
    ruleset: Ruleset,
    team: Team,
    *,
    bids: Sequence[Bid],
    tricks: Sequence[int],
    score: int,
    bags: int,
) -> TeamScore:
    """Score one team's side of a hand; each Nil is scored alone, the contract together."""
    contract = helping = new_bags = 0
    nil_lines: list[ScoreLine] = []
    for seat in seats_of(team):
        bid, took = bids[seat], tricks[seat]
        if is_nil(bid):
            nil_lines.append(_nil_line(ruleset, seat, bid, took))
            if ruleset.failed_nil is FailedNil.BAGS:
                # Made or missed, the contract has no use for them.
                new_bags += took
            else:
                helping += took
        else:
            contract += bid_tricks(bid)
            helping += took

    lines: list[ScoreLine] = []
    if helping >= contract:
        new_bags += helping - contract
        if contract:
            points = ruleset.contract_points * contract
            lines.append(ScoreLine(ScoreRule.CONTRACT_MADE, points, contract, None))
    else:
        lines.append(ScoreLine(ScoreRule.CONTRACT_MISSED, -ruleset.missed_points * contract, contract, None))
    lines += nil_lines
    if new_bags:
        lines.append(ScoreLine(ScoreRule.BAGS, ruleset.bag_points * new_bags, new_bags, None))
    penalties, bags_after = divmod(bags + new_bags, ruleset.bag_limit)
    if penalties:
        lines.append(ScoreLine(ScoreRule.BAG_PENALTY, -ruleset.bag_penalty * penalties, penalties, None))
    delta = sum(line.points for line in lines)
    return TeamScore(
        team,
        contract,
        helping,
        score,
        score + delta,
        bags,
        bags_after,
        delta,
        penalties,
        tuple(lines),
    )


def _nil_line(ruleset: Ruleset, seat: Seat, bid: Bid, took: int) -> ScoreLine:
    if bid == BLIND_NIL:
        made, failed, value = (
            ScoreRule.BLIND_NIL_MADE,
            ScoreRule.BLIND_NIL_FAILED,
            ruleset.blind_nil_points,
        )
    else:
        made, failed, value = ScoreRule.NIL_MADE, ScoreRule.NIL_FAILED, ruleset.nil_points
    return ScoreLine(failed, -value, took, seat) if took else ScoreLine(made, value, took, seat)


def _end_reason(ruleset: Ruleset, scores: tuple[int, int]) -> EndReason | None:
    if max(scores) >= ruleset.target:
        return EndReason.TARGET
    if ruleset.floor is not None and min(scores) <= ruleset.floor:
        return EndReason.FLOOR
    return None


def game_end(ruleset: Ruleset, scores: tuple[int, int], hand_no: int) -> GameEnded | None:
    """The end of the game, if hand `hand_no` brought it.

    The higher score wins; a tie plays another hand.

    A winner's score may be negative. At the limit on hands a tie is a draw.
    """
    reason = _end_reason(ruleset, scores)
    if reason is None or scores[0] == scores[1]:
        if hand_no < ruleset.hands_max:
            return None
        reason = EndReason.HAND_LIMIT
    if scores[0] == scores[1]:
        return GameEnded(None, reason, scores)
    return GameEnded(Team(0) if scores[0] > scores[1] else Team(1), reason, scores)
