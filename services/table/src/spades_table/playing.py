"""Playing: looks, bids, passes and plays, and what each brings."""

from typing import assert_never

import spades_rules as rules
from spades_events import events
from spades_events.commands import LookAtCards, PassCards, PlaceBid, PlayCard, ReadyForNextHand
from spades_events.values import BOT_ACCOUNT, DeadlineKind
from spades_rules import Rejected, Seat, parse_card
from spades_table.dealing import deal_next, revealed, start_turn, wait_idly
from spades_table.draft import Draft
from spades_table.phases import (
    BetweenHands,
    Dealing,
    Ended,
    Playing,
    Seating,
    Starting,
    Table,
    Turn,
    Unopened,
    Unreadable,
)
from spades_table.refusals import Refused, readable_cards, refused, refused_by_rules
from spades_table.seats import Bot, people, seat_of
from spades_table.settlement import end_game
from spades_table.translation import told

Move = PlaceBid | PassCards | PlayCard


def make_move(draft: Draft, account_id: str, command: Move) -> None:
    """Take a move for the running turn, if the sender holds its seat and the rules allow it."""
    table = _while_playing(draft.table)
    turn = _own_turn(table, account_id, command.turn_id)
    apply_move(draft, turn, _in_the_rules(command, Seat(turn.seat)))


def _in_the_rules(command: Move, seat: Seat) -> rules.Command:
    match command:
        case PlayCard():
            try:
                return rules.PlayCard(seat, parse_card(command.card))
            except rules.BadNotation:
                raise refused("malformed", "That is no card.", field="card") from None
        case PlaceBid():
            return rules.PlaceBid(seat, command.bid)
        case PassCards():
            return rules.PassCards(seat, readable_cards(command.cards))
        case never:
            assert_never(never)


def _while_playing(table: Table) -> Playing:
    if isinstance(table, Playing):
        return table
    raise not_playing(table)


def not_playing(table: Table) -> Refused:
    """Why no move can be made at a table that plays no hand."""
    match table:
        case Unopened():
            return refused("not_found")
        case Seating():
            return refused("not_started")
        case Starting():
            return refused("starting")
        case BetweenHands() | Dealing():
            return refused("stale_turn")
        case Unreadable() | Ended():
            return refused("game_over")
        case Playing():
            return refused("wrong_phase")
        case never:
            assert_never(never)


def _own_turn(table: Playing, account_id: str, turn_id: str) -> Turn:
    turn = table.turn
    assert turn is not None
    if account_id == BOT_ACCOUNT:
        if turn_id != turn.turn_id:
            raise refused("stale_turn")
        if not isinstance(table.occupants[turn.seat], Bot):
            raise refused("not_your_turn")
        return turn
    seat = seat_of(table.occupants, account_id)
    if seat is None:
        raise refused("not_seated")
    if turn_id != turn.turn_id:
        raise refused("stale_turn")
    if turn.seat != seat:
        raise refused("not_your_turn")
    return turn


def apply_move(draft: Draft, turn: Turn, move: rules.Command) -> None:
    """Tell what a move brings by the rules, then start the next turn or end the hand."""
    table = draft.at(Playing)
    try:
        causes = table.setup.rules.decide(table.game, move)
    except Rejected as rejected:
        raise refused_by_rules(rejected) from None
    ended: rules.GameEnded | None = None
    for cause in causes:
        if isinstance(cause, rules.GameEnded):
            ended = cause
        elif isinstance(cause, rules.HandScored):
            reveal = revealed(draft.at(Playing))
            draft.tell_fact(told(cause, draft.at(Playing), turn.turn_id))
            draft.tell(reveal)
        else:
            draft.tell_fact(told(cause, draft.at(Playing), turn.turn_id))
    if ended is not None:
        end_game(draft, ended)
    elif isinstance(draft.table, Playing):
        start_turn(draft)
    else:
        after_the_hand(draft)


def look_at_cards(draft: Draft, account_id: str, command: LookAtCards) -> None:
    """Turn a seat's cards up. It restarts no clock; an untimed table only waits longer."""
    table = _while_playing(draft.table)
    if account_id == BOT_ACCOUNT:
        turn = table.turn
        if turn is None or not isinstance(table.occupants[turn.seat], Bot):
            raise refused("not_your_turn")
        seat = turn.seat
    else:
        own = seat_of(table.occupants, account_id)
        if own is None:
            raise refused("not_seated")
        seat = own
    if command.hand_no != table.game.hand_no:
        raise refused("stale_turn")
    look(draft, seat)
    running = table.deadline
    if running is not None and running.kind is DeadlineKind.IDLE:
        wait_idly(draft)


def look(draft: Draft, seat: int) -> None:
    table = draft.at(Playing)
    try:
        causes = table.setup.rules.decide(table.game, rules.LookAtCards(Seat(seat)))
    except Rejected as rejected:
        raise refused_by_rules(rejected) from None
    for cause in causes:
        draft.tell_fact(told(cause, table, ""))


def after_the_hand(draft: Draft) -> None:
    """Show the score sheet; where no person looks at it, the next hand is dealt at once."""
    table = draft.at(BetweenHands)
    if not people(table.occupants):
        deal_next(draft)
        return
    wait_ms = table.setup.house.limits.next_hand_of(table.setup.opened.kind)
    draft.set_deadline(draft.now_ms + wait_ms, DeadlineKind.NEXT_HAND)


def ready(draft: Draft, account_id: str, _command: ReadyForNextHand) -> None:
    """A person has seen the score sheet; when all have, the next hand is dealt."""
    table = draft.table
    if isinstance(table, Playing):
        raise refused("wrong_phase", "The hand is being played.")
    if not isinstance(table, BetweenHands):
        raise not_playing(table)
    seat = seat_of(table.occupants, account_id)
    if seat is None:
        raise refused("not_seated")
    if seat in table.ready:
        raise refused("wrong_phase", "You are ready already.")
    draft.tell(events.SeatReady(seat=seat))
    deal_when_ready(draft)


def deal_when_ready(draft: Draft) -> None:
    table = draft.at(BetweenHands)
    if all(seat in table.ready for seat in people(table.occupants)):
        deal_next(draft)
