"""Seating: seats are asked for, paid, taken, given up; then locked."""

from typing import assert_never

from spades_events import events, wallet
from spades_events.commands import ReleaseSeat, TakeSeat
from spades_events.values import BOT_ACCOUNT, SeatHolder, TableKind
from spades_table.draft import Draft, waits
from spades_table.phases import (
    BetweenHands,
    Dealing,
    Ended,
    Playing,
    Seating,
    Starting,
    Table,
    Unopened,
    Unreadable,
)
from spades_table.refusals import Refused, refused
from spades_table.seats import (
    Occupants,
    Person,
    Reserved,
    all_taken,
    open_seats,
    people,
    seat_of,
)
from spades_table.settlement import cancel
from spades_table.starting import begin_starting

RANDOM_SEATS = (TableKind.COINS, TableKind.ONLINE)
CHANCE_BYTES = 8
"""Of the random number that a seat is drawn with: its remainder by 2 to 4 is even to 2^-62."""

_WALLET_CODES = {"no_account": "account_required"}


def take_seat(draft: Draft, account_id: str, command: TakeSeat, chance: bytes) -> None:
    """Sit down, or reserve the seat until the wallet has paid for it."""
    table = _while_seating(draft.table, account_id)
    opened = table.setup.opened
    if opened.kind is TableKind.COINS and account_id != opened.host:
        raise refused("not_host", "This table is its host's against the computer.")
    seat = _seat_asked(table, command, chance)
    if opened.stake_coins == 0:
        taken = SeatHolder(seat=seat, account_id=account_id, seed_commit=command.seed_commit)
        draft.tell(events.SeatTaken(holder=taken))
    else:
        _reserve(draft, table, account_id, seat, command.seed_commit)
    lock_if_full(draft)


def _while_seating(table: Table, account_id: str) -> Seating:
    match table:
        case Seating():
            if seat_of(table.chairs, account_id) is not None:
                raise refused("already_seated")
            return table
        case Starting(occupants=occupants) | Playing(occupants=occupants):
            raise _no_seat_left(occupants, account_id)
        case BetweenHands(occupants=occupants) | Unreadable(occupants=occupants):
            raise _no_seat_left(occupants, account_id)
        case Ended():
            raise refused("game_over")
        case Unopened() | Dealing():
            raise refused("not_found")
        case never:
            assert_never(never)


def _no_seat_left(occupants: Occupants, account_id: str) -> Refused:
    seated = seat_of(occupants, account_id) is not None
    return refused("already_seated" if seated else "table_full")


def _seat_asked(table: Seating, command: TakeSeat, chance: bytes) -> int:
    free = open_seats(table.chairs)
    drawn = table.setup.opened.kind in RANDOM_SEATS
    if command.seat is not None:
        if drawn:
            raise refused("random_seats")
        if command.seat not in free:
            raise refused("table_full" if not free else "seat_taken")
        return command.seat
    if not free:
        raise refused("table_full")
    if not drawn:
        return free[0]
    assert len(chance) == CHANCE_BYTES
    return free[int.from_bytes(chance, "big") % len(free)]


def _reserve(draft: Draft, table: Seating, account_id: str, seat: int, seed_commit: str | None) -> None:
    opened = table.setup.opened
    due_ms = draft.now_ms + table.setup.house.limits.reservation_ms
    draft.tell(
        events.SeatReserved(
            reservation_id=f"{table.setup.table_id}:{seat}:{table.reservations + 1}",
            seat=seat,
            account_id=account_id,
            seed_commit=seed_commit,
            stake_coins=opened.stake_coins,
            deposit_coins=opened.fee_coins,
            due_ms=due_ms,
        )
    )


def release_seat(draft: Draft, account_id: str, _command: ReleaseSeat) -> None:
    """Get up before the seats are locked; the wallet returns what it holds."""
    table = draft.table
    match table:
        case Seating():
            seat = seat_of(table.chairs, account_id)
        case Starting():
            raise refused("starting")
        case Ended():
            raise refused("game_over")
        case _:
            raise refused("wrong_phase", "The game is on: leaving it has a price.")
    if seat is None:
        raise refused("not_seated")
    chair = table.chairs[seat]
    assert isinstance(chair, Person | Reserved)
    draft.tell(events.SeatReleased(seat=seat, account_id=account_id, reservation_id=chair.reservation_id))
    keep_earliest(draft)


def start_game(draft: Draft, account_id: str) -> None:
    """The host starts; bots sit down on the empty seats."""
    table = draft.table
    match table:
        case Seating(setup=setup):
            if account_id != setup.opened.host:
                raise refused("not_host")
        case Starting():
            raise refused("starting")
        case Ended():
            raise refused("game_over")
        case _:
            raise refused("wrong_phase", "The game has started.")
    if any(isinstance(chair, Reserved) for chair in table.chairs):
        raise refused("wrong_phase", "A seat is still being paid for; try again.")
    free = open_seats(table.chairs)
    if free and not setup.opened.bots_welcome:
        raise refused("not_started", "This table waits for four people.")
    if setup.opened.stake_coins and not people(table.chairs):
        raise refused("not_seated", "Nobody has sat down yet.")
    seat_bots(draft)
    begin_starting(draft)


def hold_placed(draft: Draft, news: wallet.HoldPlaced) -> None:
    """The wallet holds stake and deposit: the seat is taken. Of an old reservation: no effect."""
    found = _reservation(draft.table, news.reservation_id)
    if found is None:
        return
    seat, reserved = found
    taken = SeatHolder(seat=seat, account_id=reserved.account_id, seed_commit=reserved.seed_commit)
    draft.tell(events.SeatTaken(holder=taken, reservation_id=reserved.reservation_id))
    lock_if_full(draft)


def hold_refused(draft: Draft, news: wallet.HoldRefused) -> None:
    """The wallet does not pay: the seat is open again, or the table closes where nobody else may sit."""
    found = _reservation(draft.table, news.reservation_id)
    if found is None:
        return
    seat, reserved = found
    draft.tell(
        events.SeatRefused(
            reservation_id=reserved.reservation_id,
            seat=seat,
            account_id=reserved.account_id,
            code=_WALLET_CODES.get(news.code, news.code),
            needed_coins=news.needed_coins,
            available_coins=news.available_coins,
        )
    )
    if draft.at(Seating).setup.opened.kind is TableKind.COINS:
        cancel(draft, "unpaid")
    else:
        keep_earliest(draft)


def _reservation(table: Table, reservation_id: str) -> tuple[int, Reserved] | None:
    if isinstance(table, Seating):
        for seat, chair in enumerate(table.chairs):
            if isinstance(chair, Reserved) and chair.reservation_id == reservation_id:
                return seat, chair
    return None


def expire_reservations(draft: Draft) -> None:
    """Refuse what the wallet left unanswered; the release behind it voids a late hold."""
    for seat, chair in enumerate(draft.at(Seating).chairs):
        if not isinstance(chair, Reserved) or chair.due_ms > draft.now_ms:
            continue
        draft.tell(
            events.SeatRefused(
                reservation_id=chair.reservation_id,
                seat=seat,
                account_id=chair.account_id,
                code="reservation_expired",
            )
        )
        draft.tell(events.SeatReleased(seat=seat, account_id=chair.account_id, reservation_id=chair.reservation_id))
    keep_earliest(draft)


def lock_if_full(draft: Draft) -> None:
    """Lock where the kind of table does so by itself; else only keep the deadline right."""
    table = draft.at(Seating)
    kind = table.setup.opened.kind
    if kind is TableKind.COINS and people(table.chairs):
        # Only the host sits at such a table, so everybody is here.
        seat_bots(draft)
    if kind in RANDOM_SEATS and all_taken(draft.at(Seating).chairs):
        begin_starting(draft)
    else:
        keep_earliest(draft)


def seat_bots(draft: Draft) -> None:
    for seat in open_seats(draft.at(Seating).chairs):
        draft.tell(events.SeatTaken(holder=SeatHolder(seat=seat, account_id=BOT_ACCOUNT)))


def keep_earliest(draft: Draft) -> None:
    """Set the earliest wait of a table before its game as its deadline, where it changed."""
    due_ms, kind = waits(draft.at(Seating))[0]
    draft.keep_deadline(due_ms, kind)
