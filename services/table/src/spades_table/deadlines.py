"""Deadlines: what happens when the earliest runs out, and time given back after an outage."""

from typing import NamedTuple

import spades_rules as rules
from spades_events import events
from spades_events.clock import TimedOut
from spades_events.values import DeadlineKind
from spades_rules import Seat
from spades_table.dealing import deal_next, turn_limit_ms
from spades_table.draft import Draft
from spades_table.house import MISSES_WITH_FULL_CLOCK
from spades_table.phases import BetweenHands, Playing, Seating, Starting, Turn
from spades_table.playing import apply_move, look
from spades_table.seating import expire_reservations
from spades_table.seats import Person
from spades_table.settlement import abandon, cancel
from spades_table.starting import seeds_overdue


class Outage(NamedTuple):
    """Nothing of the table was alive for `outage_ms` until now."""

    outage_ms: int


def timed_out(draft: Draft, timeout: TimedOut) -> None:
    """Act on the running deadline. A timeout of any other, or an early one: no effect."""
    table = draft.table
    if table.deadline is None or not table.deadline.counts(timeout, draft.now_ms):
        return
    match table:
        case Seating(closing_ms=closing_ms):
            if closing_ms is not None and closing_ms <= draft.now_ms:
                cancel(draft, "not_full")
            else:
                expire_reservations(draft)
        case Starting():
            if table.start_due_ms <= draft.now_ms:
                cancel(draft, "not_started")
            else:
                seeds_overdue(draft)
        case Playing(deadline=deadline) if deadline is not None:
            if deadline.kind is DeadlineKind.IDLE:
                abandon(draft)
            else:
                autoplay(draft)
        case BetweenHands():
            deal_next(draft)
        case _:
            raise AssertionError(f"{type(table).__name__} has no deadline")


def autoplay(draft: Draft) -> None:
    """Play the running turn on the merits, in one commit; a face-down seat looks, then bids."""
    table = draft.at(Playing)
    turn = table.turn
    assert turn is not None
    seat = Seat(turn.seat)
    misses = 0
    if isinstance(table.occupants[seat], Person):
        misses = table.misses[seat] + 1
    draft.tell(
        events.SeatAutoplayed(
            turn_id=turn.turn_id,
            seat=seat,
            misses=misses,
            computer_speed=misses >= MISSES_WITH_FULL_CLOCK,
        )
    )
    move = _judged(draft.at(Playing), seat)
    if isinstance(move, rules.LookAtCards):
        look(draft, seat)
        move = _judged(draft.at(Playing), seat)
    apply_move(draft, turn, move)


def _judged(table: Playing, seat: Seat) -> rules.Command:
    return rules.judge(table.setup.rules.view(table.game, seat), by_clock=True)


def extend(draft: Draft, outage: Outage) -> None:
    """Give the time of an outage back: later by all of it, and never beyond a full limit."""
    table = draft.table
    running = table.deadline
    if running is None:
        return
    due_ms = running.due_ms + outage.outage_ms
    turn: Turn | None = None
    if isinstance(table, Playing) and table.turn is not None:
        turn = table.turn
        limit_ms = _limit_ms(table, turn, running.kind)
        # Never less than it was: a limit cut by a setting takes nothing away.
        due_ms = max(running.due_ms, min(due_ms, draft.now_ms + limit_ms))
    timed = turn is not None and turn.deadline_ms is not None
    draft.tell(
        events.ClockExtended(
            outage_ms=outage.outage_ms,
            deadline_id=table.version + 1,
            due_ms=due_ms,
            kind=running.kind,
            turn_id=None if turn is None else turn.turn_id,
            turn_deadline_ms=due_ms if timed else None,
        )
    )


def _limit_ms(table: Playing, turn: Turn, kind: DeadlineKind) -> int:
    limits = table.setup.house.limits
    if kind is DeadlineKind.IDLE:
        return limits.idle_ms
    if kind is DeadlineKind.BOT_GUARD:
        return limits.bot_guard_ms
    limit_ms = turn_limit_ms(table, Seat(turn.seat))
    assert limit_ms is not None
    return limit_ms
