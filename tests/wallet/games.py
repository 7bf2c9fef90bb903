"""Coin games as a test tells them: who sits, who leaves, how it ends, and the table's facts that say so."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from spades_events.events import (
    GameEnded,
    SeatForfeited,
    SeatReleased,
    SeatReserved,
    SeatResult,
    SeatsLocked,
    TableCancelled,
)
from spades_events.values import BOT_ACCOUNT, SeatHolder
from spades_wallet.domain import TableFact

SEATS = (0, 1, 2, 3)
STAKES = (1, 9, 10, 11, 20, 25, 50, 100, 999, 1_000, 2**50 - 1)

WIN_0, WIN_1 = ("win", 0), ("win", 1)
DRAW, CANCELLED, NOT_STARTED, ABANDONED = ("draw",), ("cancelled",), ("not_started",), ("abandoned",)
End = tuple[str] | tuple[str, int]


@dataclass(frozen=True, kw_only=True)
class CoinGame:
    """One game; the person on seat n is `u<n>` of this table unless `names` says otherwise."""

    table: str
    stake: int
    people: tuple[int, ...]
    leaves: tuple[int, ...] = ()
    end: End = WIN_0
    captured: bool = True
    names: tuple[str, ...] = ()

    def name(self, seat: int) -> str:
        return self.names[seat] if self.names else f"{self.table}-u{seat}"

    @property
    def fee(self) -> int:
        return -(-self.stake // 10)

    def reservation(self, seat: int) -> str:
        return f"{self.table}:{seat}:1"

    def reserved(self, seat: int) -> SeatReserved:
        return SeatReserved(
            reservation_id=self.reservation(seat),
            seat=seat,
            account_id=self.name(seat),
            seed_commit=None,
            stake_coins=self.stake,
            deposit_coins=self.fee,
            due_ms=30_000,
        )

    def released(self, seat: int) -> SeatReleased:
        return SeatReleased(seat=seat, account_id=self.name(seat), reservation_id=self.reservation(seat))

    def locked(self) -> SeatsLocked:
        holders = [
            SeatHolder(seat=seat, account_id=self.name(seat) if seat in self.people else BOT_ACCOUNT) for seat in SEATS
        ]
        return SeatsLocked(
            seats=(holders[0], holders[1], holders[2], holders[3]),
            stake_coins=self.stake,
            seeds_due_ms=5_000,
            start_due_ms=30_000,
        )

    def forfeited(self, seat: int) -> SeatForfeited:
        return SeatForfeited(seat=seat, account_id=self.name(seat), stake_coins=self.stake, fee_coins=self.fee)

    def ended(self) -> GameEnded | TableCancelled:
        results = [self._result(seat) for seat in SEATS]
        winner: int | None = None
        match self.end:
            case ("win", winner):
                reason = "target"
            case ("draw",) | ("abandoned",):
                reason = self.end[0]
            case _:
                reason = "not_started" if self.end == NOT_STARTED else "deal_unreadable"
                return TableCancelled(reason=reason, stake_coins=self.stake, seats=tuple(results))
        return GameEnded(
            winner=winner,
            reason=reason,
            scores=(500, 300),
            hands=9,
            stake_coins=self.stake,
            seats=(results[0], results[1], results[2], results[3]),
        )

    def facts(self) -> Iterator[TableFact]:
        """All that the wallet hears of the game, in the table's order."""
        yield from (self.reserved(seat) for seat in self.people)
        if self.captured:
            yield self.locked()
        yield from (self.forfeited(seat) for seat in self.leaves)
        yield self.ended()

    def nets(self) -> dict[str, int]:
        """What the rulings say each account gains or loses, worked out seat by seat and by no code of the wallet."""
        nets = {self.name(seat): self._net_of_person(seat) for seat in self.people}
        fees = self.fee * len(self.leaves)
        return nets | {"fees": fees, "house": -sum(nets.values()) - fees}

    def _net_of_person(self, seat: int) -> int:
        if seat in self.leaves:
            return -(self.stake + self.fee)
        match self.end:
            case ("win", winner):
                return self.stake if seat % 2 == winner else -self.stake
            case _:
                return 0

    def _result(self, seat: int) -> SeatResult:
        person = seat in self.people
        left = seat in self.leaves
        return SeatResult(
            seat=seat,
            account_id=self.name(seat) if person and not left else BOT_ACCOUNT,
            reservation_id=self.reservation(seat) if person else None,
            leaver=self.name(seat) if left else None,
        )


def every_game(stakes: tuple[int, ...] = STAKES) -> Iterator[CoinGame]:
    """All people, leavers and outcomes that can be, at each stake. (The order of leaving is tested by itself.)"""
    number = 0
    for stake in stakes:
        for people in _subsets(SEATS):
            for leaves in _subsets(people):
                for end, captured in _ends(people, leaves):
                    number += 1
                    yield CoinGame(
                        table=f"t{number}",
                        stake=stake,
                        people=people,
                        leaves=leaves,
                        end=end,
                        captured=captured,
                    )


def _subsets(of: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for size in range(len(of) + 1):
        yield from combinations(of, size)


def _ends(people: tuple[int, ...], leaves: tuple[int, ...]) -> Iterator[tuple[End, bool]]:
    if people and leaves == people:
        yield ABANDONED, True
        # The server may still give up on the last hand of a game that all have left.
        yield CANCELLED, True
        return
    yield from ((end, True) for end in (WIN_0, WIN_1, DRAW, CANCELLED))
    if not leaves:
        yield from ((NOT_STARTED, captured) for captured in (True, False))
