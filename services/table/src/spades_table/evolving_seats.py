"""evolve, before the game: from the opened table to the fixed seeds."""

from typing import cast

from msgspec.structs import replace

import spades_rules as rules
from spades_events import events
from spades_rules import OptionRefused
from spades_table.facts import CorruptStream, Fact, corrupt
from spades_table.phases import (
    BetweenHands,
    OpenedSeeds,
    OpeningSeeds,
    Playing,
    Seating,
    Seeds,
    Setup,
    Starting,
    Table,
    Unopened,
    Unreadable,
    one_version_on,
)
from spades_table.seats import (
    EMPTY_TABLE,
    OPEN,
    Occupants,
    Person,
    Reserved,
    occupant_of,
    with_chair,
)


def before_the_game(table: Table, fact: Fact) -> Table:
    event = fact.event
    match event:
        case events.TableOpened():
            return table_opened(table, event, fact.secret)
        case events.SeatReserved():
            return seat_reserved(table, event)
        case events.SeatTaken():
            return seat_taken(table, event)
        case events.SeatRefused():
            return seat_refused(table, event)
        case events.SeatReleased():
            return seat_released(table, event)
        case events.SeatsLocked():
            return seats_locked(table, event)
        case events.SeedOpened():
            return seed_opened(table, event, fact.secret)
        case events.StakesCaptured():
            return stakes_captured(table)
        case events.SeedsFixed():
            return seeds_fixed(table, event)
        case events.GameStarted():
            return game_started(table)
        case _:
            raise CorruptStream(f"{type(event).__name__} is unknown to the table")


def table_opened(table: Table, event: events.TableOpened, root: bytes | None) -> Seating:
    if not isinstance(table, Unopened):
        raise corrupt(table, event)
    try:
        ruleset = rules.ruleset_stamped(event.ruleset.name, event.ruleset.options)
    except OptionRefused as refusal:
        raise CorruptStream(f"the stream names rules that do not exist: {refusal.field}") from None
    setup = Setup(
        table_id=table.table_id,
        house=table.house,
        opened=event,
        rules=table.house.rules_of(event.rules_version),
        ruleset=ruleset,
        root=root,
    )
    return Seating(
        setup=setup,
        version=table.version + 1,
        deadline=None,
        chairs=EMPTY_TABLE,
        reservations=0,
        closing_ms=None,
    )


def seat_reserved(table: Table, event: events.SeatReserved) -> Seating:
    if not isinstance(table, Seating):
        raise corrupt(table, event)
    reserved = Reserved(
        account_id=event.account_id,
        reservation_id=event.reservation_id,
        seed_commit=event.seed_commit,
        due_ms=event.due_ms,
    )
    return replace(
        table,
        version=table.version + 1,
        chairs=with_chair(table.chairs, event.seat, reserved),
        reservations=table.reservations + 1,
    )


def seat_taken(table: Table, event: events.SeatTaken) -> Table:
    if isinstance(table, Seating):
        taken = occupant_of(event.holder, event.reservation_id)
        chairs = with_chair(table.chairs, event.holder.seat, taken)
        return replace(table, version=table.version + 1, chairs=chairs)
    if isinstance(table, Playing | BetweenHands | Unreadable) and event.replaces is not None:
        # `SeatForfeited` just before it has made the seat a bot's.
        return one_version_on(table)
    raise corrupt(table, event)


def seat_refused(table: Table, event: events.SeatRefused) -> Seating:
    if not isinstance(table, Seating):
        raise corrupt(table, event)
    chairs = with_chair(table.chairs, event.seat, OPEN)
    return replace(table, version=table.version + 1, chairs=chairs)


def seat_released(table: Table, event: events.SeatReleased) -> Seating:
    if not isinstance(table, Seating):
        raise corrupt(table, event)
    chair = table.chairs[event.seat]
    chairs = table.chairs
    # Behind an expired reservation the seat is open already; the event then only voids the hold.
    if isinstance(chair, Reserved | Person) and chair.account_id == event.account_id:
        chairs = with_chair(chairs, event.seat, OPEN)
    return replace(table, version=table.version + 1, chairs=chairs)


def seats_locked(table: Table, event: events.SeatsLocked) -> Starting:
    if not isinstance(table, Seating):
        raise corrupt(table, event)
    return Starting(
        setup=table.setup,
        version=table.version + 1,
        deadline=table.deadline,
        occupants=cast(Occupants, table.chairs),
        seeding=OpeningSeeds(opened=(None, None, None, None)),
        captured=event.stake_coins == 0,
        seeds_due_ms=event.seeds_due_ms,
        start_due_ms=event.start_due_ms,
    )


def seed_opened(table: Table, event: events.SeedOpened, seed: bytes | None) -> Starting:
    if not isinstance(table, Starting) or not isinstance(table.seeding, OpeningSeeds):
        raise corrupt(table, event)
    opened = list(table.seeding.opened)
    opened[event.seat] = None if seed is None else seed.hex()
    seeding = OpeningSeeds(opened=cast(OpenedSeeds, tuple(opened)))
    return replace(table, version=table.version + 1, seeding=seeding)


def stakes_captured(table: Table) -> Starting:
    if not isinstance(table, Starting):
        raise CorruptStream(f"StakesCaptured cannot follow {type(table).__name__}")
    return replace(table, version=table.version + 1, captured=True)


def seeds_fixed(table: Table, event: events.SeedsFixed) -> Starting:
    if not isinstance(table, Starting):
        raise corrupt(table, event)
    seeds = Seeds(seeds=event.seeds, missing=event.seed_missing)
    return replace(table, version=table.version + 1, seeding=seeds)


def game_started(table: Table) -> BetweenHands:
    if not isinstance(table, Starting) or not isinstance(table.seeding, Seeds):
        raise CorruptStream(f"GameStarted cannot follow {type(table).__name__}")
    return BetweenHands(
        setup=table.setup,
        version=table.version + 1,
        deadline=table.deadline,
        occupants=table.occupants,
        seeds=table.seeding,
        game=table.setup.rules.new_game(table.setup.ruleset),
        ready=(),
    )
