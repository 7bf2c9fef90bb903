"""The four seats: who sits, who has asked to, who has left."""

from collections.abc import Iterator
from typing import Final, cast

import msgspec

from spades_events.events import SeatResult
from spades_events.values import BOT_ACCOUNT, SeatHolder


class Open(msgspec.Struct, frozen=True, tag=True, gc=False):
    """Nobody's seat."""


class Reserved(msgspec.Struct, frozen=True, kw_only=True, tag=True, gc=False):
    """Asked for and not yet paid."""

    account_id: str
    reservation_id: str
    seed_commit: str | None
    due_ms: int


class Person(msgspec.Struct, frozen=True, kw_only=True, tag=True, gc=False):
    """A player. `reservation_id` names the hold that pays; None where no coins are played for."""

    account_id: str
    seed_commit: str | None
    reservation_id: str | None


class Bot(msgspec.Struct, frozen=True, kw_only=True, tag=True, gc=False):
    """A computer seat; `leaver` is the person whose seat it took over, if any."""

    leaver: Person | None = None


Occupant = Person | Bot
Chair = Open | Reserved | Person | Bot
Chairs = tuple[Chair, Chair, Chair, Chair]
Occupants = tuple[Occupant, Occupant, Occupant, Occupant]

OPEN: Final = Open()
EMPTY_TABLE: Final[Chairs] = (OPEN, OPEN, OPEN, OPEN)
SEATS: Final = (0, 1, 2, 3)


def with_chair(chairs: Chairs, seat: int, chair: Chair) -> Chairs:
    """Return the chairs with one of them changed."""
    listed = list(chairs)
    listed[seat] = chair
    return cast(Chairs, tuple(listed))


def with_occupant(occupants: Occupants, seat: int, occupant: Occupant) -> Occupants:
    """Return the occupants with one of them changed."""
    listed = list(occupants)
    listed[seat] = occupant
    return cast(Occupants, tuple(listed))


def seat_of(chairs: Chairs, account_id: str) -> int | None:
    """The seat that an account sits on or has asked for."""
    for seat in SEATS:
        chair = chairs[seat]
        if isinstance(chair, Person | Reserved) and chair.account_id == account_id:
            return seat
    return None


def open_seats(chairs: Chairs) -> list[int]:
    return [seat for seat in SEATS if isinstance(chairs[seat], Open)]


def people(chairs: Chairs) -> list[int]:
    """The seats that persons hold."""
    return [seat for seat in SEATS if isinstance(chairs[seat], Person)]


def all_taken(chairs: Chairs) -> bool:
    return all(isinstance(chair, Person | Bot) for chair in chairs)


def holder(seat: int, occupant: Occupant) -> SeatHolder:
    """The public form of an occupied seat."""
    if isinstance(occupant, Bot):
        return SeatHolder(seat=seat, account_id=BOT_ACCOUNT)
    return SeatHolder(seat=seat, account_id=occupant.account_id, seed_commit=occupant.seed_commit)


def occupant_of(taken: SeatHolder, reservation_id: str | None) -> Occupant:
    """The occupant that a `SeatTaken` names, before the game."""
    if taken.account_id == BOT_ACCOUNT:
        return Bot()
    return Person(account_id=taken.account_id, seed_commit=taken.seed_commit, reservation_id=reservation_id)


def holders(occupants: Occupants) -> tuple[SeatHolder, SeatHolder, SeatHolder, SeatHolder]:
    first, second, third, fourth = occupants
    return holder(0, first), holder(1, second), holder(2, third), holder(3, fourth)


def results(chairs: Chairs) -> Iterator[SeatResult]:
    """Each occupied seat as the wallet settles it."""
    for seat in SEATS:
        chair = chairs[seat]
        if isinstance(chair, Person):
            yield SeatResult(seat=seat, account_id=chair.account_id, reservation_id=chair.reservation_id)
        elif isinstance(chair, Bot):
            leaver = chair.leaver
            yield SeatResult(
                seat=seat,
                account_id=BOT_ACCOUNT,
                reservation_id=None if leaver is None else leaver.reservation_id,
                leaver=None if leaver is None else leaver.account_id,
            )
