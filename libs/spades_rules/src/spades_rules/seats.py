"""A seat at the table: 0, 1, 2, 3 clockwise; 0 and 2 are partners, 1 and 3 are partners."""

from __future__ import annotations

from typing import Final, NewType

Seat = NewType("Seat", int)
Team = NewType("Team", int)
SEATS: Final = (Seat(0), Seat(1), Seat(2), Seat(3))
TEAMS: Final = (Team(0), Team(1))


def team_of(seat: Seat) -> Team:
    return Team(seat & 1)


def partner_of(seat: Seat) -> Seat:
    return Seat((seat + 2) & 3)


def left_of(seat: Seat) -> Seat:
    """The next seat clockwise."""
    return Seat((seat + 1) & 3)


def seats_of(team: Team) -> tuple[Seat, Seat]:
    return (Seat(team), Seat(team + 2))
