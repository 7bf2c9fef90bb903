"""evolve: fold one fact into a table. It never judges: `decide` already did."""

from msgspec.structs import replace

from spades_events import events
from spades_events.values import DeadlineKind
from spades_table.evolving_hand import (
    hand_committed,
    hand_dealt,
    hand_goes_on,
    seat_autoplayed,
    seat_ready,
    turn_started,
    with_misses,
)
from spades_table.evolving_seats import before_the_game
from spades_table.facts import CorruptStream, Fact, corrupt
from spades_table.phases import (
    BetweenHands,
    Deadline,
    Dealing,
    Ended,
    Playing,
    Seating,
    Seeds,
    Starting,
    Table,
    Unopened,
    Unreadable,
    one_version_on,
)
from spades_table.seats import (
    Bot,
    Person,
    Reserved,
    with_chair,
    with_occupant,
)


def evolve(table: Table, fact: Fact) -> Table:
    """Return the table after `fact`, one version on.

    Raises CorruptStream for a fact that cannot follow this table, which is never a player's fault.
    """
    event = fact.event
    match event:
        case events.DeadlineSet():
            return _deadline_set(table, event)
        case events.TurnStarted():
            return turn_started(table, event)
        case (
            events.CardPlayed()
            | events.TrickTaken()
            | events.BidMade()
            | events.SpadesBroken()
            | events.CardsPassed()
            | events.CardsSeen()
            | events.HandScored()
        ):
            return hand_goes_on(table, fact)
        case events.HandCommitted():
            return hand_committed(table, event)
        case events.HandDealt():
            return hand_dealt(table, fact, event)
        case events.SeatAutoplayed():
            return seat_autoplayed(table, event)
        case events.DealRevealed() | events.DealUnreadable():
            return one_version_on(table)
        case events.SeatReady():
            return seat_ready(table, event)
        case events.ClockExtended():
            return _clock_extended(table, event)
        case events.SeatForfeited():
            return _seat_forfeited(table, event)
        case events.TableCancelled():
            return _table_cancelled(table, event)
        case events.GameEnded():
            return _game_ended(table, event)
        case events.GameSettled():
            return _game_settled(table)
        case _:
            return before_the_game(table, fact)


def _seat_forfeited(table: Table, event: events.SeatForfeited) -> Table:
    if not isinstance(table, Playing | BetweenHands | Unreadable):
        raise corrupt(table, event)
    leaver = table.occupants[event.seat]
    if not isinstance(leaver, Person):
        raise CorruptStream("a bot cannot leave")
    occupants = with_occupant(table.occupants, event.seat, Bot(leaver=leaver))
    if isinstance(table, Playing):
        misses = with_misses(table.misses, event.seat, 0)
        return replace(table, version=table.version + 1, occupants=occupants, misses=misses)
    return replace(table, version=table.version + 1, occupants=occupants)


def _deadline_set(table: Table, event: events.DeadlineSet) -> Table:
    if isinstance(table, Unopened):
        raise corrupt(table, event)
    deadline = None
    if event.deadline_id is not None and event.due_ms is not None and event.kind is not None:
        deadline = Deadline(id=event.deadline_id, due_ms=event.due_ms, kind=event.kind)
    if isinstance(table, Playing):
        return Playing(
            setup=table.setup,
            version=table.version + 1,
            deadline=deadline,
            occupants=table.occupants,
            seeds=table.seeds,
            game=table.game,
            fingerprint=table.fingerprint,
            turns=table.turns,
            turn=table.turn,
            misses=table.misses,
        )
    if isinstance(table, Seating) and event.kind is DeadlineKind.CLOSING:
        return replace(table, version=table.version + 1, deadline=deadline, closing_ms=event.due_ms)
    return replace(table, version=table.version + 1, deadline=deadline)


def _clock_extended(table: Table, event: events.ClockExtended) -> Table:
    """The running deadline moves as the event says; every other one by the outage."""
    if isinstance(table, Unopened) or event.deadline_id is None or event.due_ms is None:
        raise corrupt(table, event)
    if table.deadline is None or event.kind is None:
        raise corrupt(table, event)
    version, outage_ms = table.version + 1, event.outage_ms
    kind, due_ms = event.kind, event.due_ms
    deadline = Deadline(id=event.deadline_id, due_ms=due_ms, kind=kind)
    match table:
        case Playing() if table.turn is not None and event.turn_deadline_ms is not None:
            turn = replace(table.turn, deadline_ms=event.turn_deadline_ms)
            return replace(table, version=version, deadline=deadline, turn=turn)
        case Seating(chairs=chairs, closing_ms=closing_ms) if closing_ms is not None:
            for seat, chair in enumerate(chairs):
                if isinstance(chair, Reserved):
                    later = replace(chair, due_ms=chair.due_ms + outage_ms)
                    chairs = with_chair(chairs, seat, later)
            closing = due_ms if kind is DeadlineKind.CLOSING else closing_ms + outage_ms
            return replace(table, version=version, deadline=deadline, chairs=chairs, closing_ms=closing)
        case Starting():
            seeds_due, start_due = table.seeds_due_ms + outage_ms, table.start_due_ms + outage_ms
            if kind is DeadlineKind.SEEDS:
                seeds_due = due_ms
            if kind is DeadlineKind.START:
                start_due = due_ms
            return replace(
                table,
                version=version,
                deadline=deadline,
                seeds_due_ms=seeds_due,
                start_due_ms=start_due,
            )
        case _:
            return replace(table, version=version, deadline=deadline)


def _table_cancelled(table: Table, event: events.TableCancelled) -> Ended:
    nothing_held = all(seat.reservation_id is None for seat in event.seats)
    return _ended(table, None, event.reason, settled=event.stake_coins == 0 or nothing_held)


def _game_ended(table: Table, event: events.GameEnded) -> Ended:
    return _ended(table, event.winner, event.reason, settled=event.stake_coins == 0)


def _ended(table: Table, winner: int | None, reason: str, *, settled: bool) -> Ended:
    """The last state of a table, with what a late viewer is shown."""
    match table:
        case Seating(chairs=chairs):
            seeds, scores, bags, hands = None, (0, 0), (0, 0), 0
        case Starting(occupants=chairs, seeding=seeding):
            seeds = seeding if isinstance(seeding, Seeds) else None
            scores, bags, hands = (0, 0), (0, 0), 0
        case Playing(occupants=chairs, seeds=seeds, game=game):
            scores, bags, hands = game.scores, game.bags, game.hand_no
        case BetweenHands(occupants=chairs, seeds=seeds, game=game):
            scores, bags, hands = game.scores, game.bags, game.hand_no - 1
        case Unreadable(occupants=chairs, seeds=seeds, scores=scores, bags=bags):
            hands = table.hand_no
        case Unopened() | Dealing() | Ended():
            raise CorruptStream(f"{type(table).__name__} cannot end")
    return Ended(
        setup=replace(table.setup, root=None),
        version=table.version + 1,
        # The end ends every wait: no `DeadlineSet` stands behind it.
        deadline=None,
        chairs=chairs,
        seeds=seeds,
        scores=scores,
        bags=bags,
        hands=hands,
        winner=winner,
        reason=reason,
        settled=settled,
    )


def _game_settled(table: Table) -> Ended:
    if not isinstance(table, Ended):
        raise CorruptStream(f"GameSettled cannot follow {type(table).__name__}")
    return replace(table, version=table.version + 1, settled=True)
