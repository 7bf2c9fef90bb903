"""The rules' events in the table's words, and back."""

from typing import assert_never, cast

import spades_rules as rules
from spades_events import events
from spades_rules import CARD_NAMES, Mask, Seat, parse_card
from spades_table.facts import CorruptStream, Fact
from spades_table.phases import Playing

MASK_BYTES = 8
"""A set of cards as stored: 54 bits, big-endian."""

_Cards = tuple[str, str, str, str]


def told(cause: rules.Event, table: Playing, turn_id: str) -> Fact:
    """Return the table's fact for an event of the rules in the running turn.

    The end of the game is the table's own event, with the seats as they are settled.
    """
    match cause:
        case rules.CardPlayed(seat, card):
            played = events.CardPlayed(turn_id=turn_id, seat=seat, card=CARD_NAMES[card])
            return Fact(played, None, cause)
        case rules.TrickTaken(winner, leader, cards):
            game = cast(rules.Play, table.game)
            taken = events.TrickTaken(
                trick_no=len(game.tricks) + 1,
                leader=leader,
                winner=winner,
                cards=cast(_Cards, tuple([CARD_NAMES[card] for card in cards])),
            )
            return Fact(taken, None, cause)
        case rules.SpadesBroken():
            return Fact(events.SpadesBroken(), None, cause)
        case rules.BidMade(seat, bid):
            return Fact(events.BidMade(turn_id=turn_id, seat=seat, bid=bid), None, cause)
        case rules.CardsSeen(seat):
            return Fact(events.CardsSeen(seat=seat), None, cause)
        case rules.CardsPassed(from_seat, to_seat, cards):
            passed = events.CardsPassed(turn_id=turn_id, from_seat=from_seat, to_seat=to_seat, count=cards.bit_count())
            return Fact(passed, cards.to_bytes(MASK_BYTES, "big"), cause)
        case rules.HandScored():
            return Fact(_hand_scored(cause), None, cause)
        case rules.HandDealt() | rules.GameEnded():
            raise CorruptStream(f"{type(cause).__name__} is no event of a turn")
        case never:
            assert_never(never)


def _hand_scored(cause: rules.HandScored) -> events.HandScored:
    first, second = cause.teams
    return events.HandScored(
        hand_no=cause.hand_no,
        bids=cause.bids,
        tricks=cause.tricks,
        teams=(_team_score(first), _team_score(second)),
    )


def _team_score(team: rules.TeamScore) -> events.TeamScore:
    return events.TeamScore(
        contract=team.contract,
        tricks=team.helping,
        lines=tuple(
            [
                events.ScoreLine(rule=line.rule.value, points=line.points, seat=line.seat, count=line.count)
                for line in team.lines
            ]
        ),
        delta=team.delta,
        score=team.score_after,
        bags=team.bags_after,
        bag_penalties=team.bag_penalties,
    )


def cause_of(fact: Fact, table: Playing) -> rules.Event:
    """Return the rules' form of a stored event of a hand."""
    if fact.cause is not None:
        return fact.cause
    event = fact.event
    match event:
        case events.CardPlayed():
            return rules.CardPlayed(Seat(event.seat), parse_card(event.card))
        case events.TrickTaken():
            cards = tuple([parse_card(name) for name in event.cards])
            return rules.TrickTaken(Seat(event.winner), Seat(event.leader), cards)
        case events.SpadesBroken():
            return rules.SpadesBroken()
        case events.BidMade():
            return rules.BidMade(Seat(event.seat), event.bid)
        case events.CardsSeen():
            return rules.CardsSeen(Seat(event.seat))
        case events.CardsPassed():
            cards_passed = Mask(int.from_bytes(fact.secret or b"", "big"))
            return rules.CardsPassed(Seat(event.from_seat), Seat(event.to_seat), cards_passed)
        case events.HandScored():
            return _scored_cause(event, table)
        case _:
            raise CorruptStream(f"{type(event).__name__} is no event of a hand")


def _scored_cause(event: events.HandScored, table: Playing) -> rules.HandScored:
    first, second = (
        rules.TeamScore(
            team=team,
            contract=told_score.contract,
            helping=told_score.tricks,
            score_before=told_score.score - told_score.delta,
            score_after=told_score.score,
            bags_before=table.game.bags[team],
            bags_after=told_score.bags,
            delta=told_score.delta,
            bag_penalties=told_score.bag_penalties,
            lines=(),
        )
        for team, told_score in zip(rules.TEAMS, event.teams, strict=True)
    )
    return rules.HandScored(
        hand_no=event.hand_no,
        bids=event.bids,
        tricks=event.tricks,
        teams=(first, second),
        # Only the score sheet says it, and no state keeps it.
        tie_plays_on=False,
    )
