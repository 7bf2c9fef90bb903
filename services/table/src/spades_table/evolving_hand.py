"""evolve, within a hand: the deal, the turns, the moves, the score."""

from typing import cast

from msgspec.structs import replace

import spades_rules as rules
from spades_events import events
from spades_rules import AwaitingDeal, Seat
from spades_table.facts import Fact, corrupt
from spades_table.phases import (
    NO_MISSES,
    BetweenHands,
    Dealing,
    Misses,
    Playing,
    Table,
    Turn,
    Unreadable,
    one_version_on,
)
from spades_table.translation import cause_of


def hand_committed(table: Table, event: events.HandCommitted) -> Table:
    if isinstance(table, Unreadable):
        return replace(table, version=table.version + 1, hand_no=event.hand_no)
    if not isinstance(table, BetweenHands):
        raise corrupt(table, event)
    return Dealing(
        setup=table.setup,
        version=table.version + 1,
        deadline=table.deadline,
        occupants=table.occupants,
        seeds=table.seeds,
        game=table.game,
        dealer=event.dealer,
        fingerprint=event.fingerprint,
    )


def hand_dealt(table: Table, fact: Fact, event: events.HandDealt) -> Table:
    if isinstance(table, Unreadable):
        return one_version_on(table)
    if not isinstance(table, Dealing):
        raise corrupt(table, event)
    setup = table.setup
    if setup.root is None:
        return _unreadable(table, event.hand_no)
    cause = fact.cause
    if cause is None:
        hands = setup.rules.deal_hands(
            rules.secret(setup.root, event.hand_no),
            setup.table_id,
            event.hand_no,
            event.dealer,
            setup.ruleset.deck_id,
            table.seeds.as_bytes(),
        )
        face_down = tuple([Seat(seat) for seat in event.face_down])
        cause = rules.HandDealt(event.hand_no, Seat(event.dealer), hands, face_down)
    game = setup.rules.evolve(table.game, cause)
    assert isinstance(game, rules.Auction)
    return Playing(
        setup=setup,
        version=table.version + 1,
        deadline=table.deadline,
        occupants=table.occupants,
        seeds=table.seeds,
        game=game,
        fingerprint=table.fingerprint,
        turns=0,
        turn=None,
        misses=NO_MISSES,
    )


def _unreadable(table: Dealing | Playing, hand_no: int) -> Unreadable:
    return Unreadable(
        setup=table.setup,
        version=table.version + 1,
        deadline=table.deadline,
        occupants=table.occupants,
        seeds=table.seeds,
        scores=table.game.scores,
        bags=table.game.bags,
        hand_no=hand_no,
    )


def turn_started(table: Table, event: events.TurnStarted) -> Table:
    if isinstance(table, Unreadable):
        return one_version_on(table)
    if not isinstance(table, Playing):
        raise corrupt(table, event)
    turn = Turn(
        turn_id=event.turn_id,
        seat=event.seat,
        kind=event.kind,
        deadline_ms=event.deadline_ms,
        computer_speed=event.computer_speed,
    )
    return Playing(
        setup=table.setup,
        version=table.version + 1,
        deadline=table.deadline,
        occupants=table.occupants,
        seeds=table.seeds,
        game=table.game,
        fingerprint=table.fingerprint,
        turns=table.turns + 1,
        turn=turn,
        misses=table.misses,
    )


def hand_goes_on(table: Table, fact: Fact) -> Table:
    event = fact.event
    if isinstance(table, Unreadable):
        if isinstance(event, events.HandScored):
            first, second = event.teams
            scores, bags = (first.score, second.score), (first.bags, second.bags)
            return replace(table, version=table.version + 1, scores=scores, bags=bags)
        return one_version_on(table)
    if not isinstance(table, Playing):
        raise corrupt(table, event)
    if isinstance(event, events.CardsPassed) and fact.secret is None and fact.cause is None:
        return _unreadable(table, table.game.hand_no)
    game = table.setup.rules.evolve(table.game, cause_of(fact, table))
    if isinstance(game, AwaitingDeal):
        return BetweenHands(
            setup=table.setup,
            version=table.version + 1,
            deadline=table.deadline,
            occupants=table.occupants,
            seeds=table.seeds,
            game=game,
            ready=(),
        )
    assert not isinstance(game, rules.Ended)
    return Playing(
        setup=table.setup,
        version=table.version + 1,
        deadline=table.deadline,
        occupants=table.occupants,
        seeds=table.seeds,
        game=game,
        fingerprint=table.fingerprint,
        turns=table.turns,
        turn=table.turn,
        misses=_misses_after(table, event),
    )


def _misses_after(table: Playing, event: events.TableEvent) -> Misses:
    """One move of a player's own clears the count; a look is none, and an automatic one neither."""
    if not isinstance(event, events.CardPlayed | events.BidMade | events.CardsPassed):
        return table.misses
    turn = table.turn
    if turn is None or turn.autoplayed or not table.misses[turn.seat]:
        return table.misses
    return with_misses(table.misses, turn.seat, 0)


def with_misses(misses: Misses, seat: int, count: int) -> Misses:
    listed = list(misses)
    listed[seat] = count
    return cast(Misses, tuple(listed))


def seat_autoplayed(table: Table, event: events.SeatAutoplayed) -> Table:
    if isinstance(table, Unreadable):
        return one_version_on(table)
    if not isinstance(table, Playing) or table.turn is None:
        raise corrupt(table, event)
    return replace(
        table,
        version=table.version + 1,
        turn=replace(table.turn, autoplayed=True),
        misses=with_misses(table.misses, event.seat, event.misses),
    )


def seat_ready(table: Table, event: events.SeatReady) -> Table:
    if isinstance(table, Unreadable):
        return one_version_on(table)
    if not isinstance(table, BetweenHands):
        raise corrupt(table, event)
    return replace(table, version=table.version + 1, ready=(*table.ready, event.seat))
