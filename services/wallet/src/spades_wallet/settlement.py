"""What the end of a game moves, by RELIABILITY.md's settlement rulings: pure arithmetic on whole coins.

stays, wins      deposit back, two stakes from the pot
stays, loses     deposit back
left             stake and fee are gone; two stakes of a winning leaver's seat go to the house
computer seat    staked by the house, which takes its two stakes when the seat wins
drawn, cancelled whoever stayed gets stake and deposit back; a leaver stays charged
abandoned        all people left: the pot goes to the house
not captured     every hold goes back whole
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from spades_events.events import GameEnded, Payout, SeatResult, TableCancelled
from spades_wallet.ledger import (
    FEES,
    HOUSE,
    AccountId,
    Book,
    Code,
    Fingerprint,
    Hold,
    Pot,
    TableId,
    Transfer,
    fingerprint_of,
    hold_id,
    movement,
    pot_id,
)

SEATS: Final = 4
STAKES_OF_A_WINNER: Final = 2


class ImpossibleEvent(Exception):
    """A table's event that contradicts the ledger; its stream has to wait for a person."""


class Outcome(StrEnum):
    """How a game ended, as `Settlement.outcome` says it."""

    WIN = "win"
    ABANDONED = "abandoned"
    DRAW = "draw"
    CANCELLED = "cancelled"


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """What the one settling event says."""

    table: TableId
    outcome: Outcome
    winner: int | None
    stake_coins: int
    seats: tuple[SeatResult, ...]

    @property
    def fingerprint(self) -> Fingerprint:
        seats = (part for s in self.seats for part in (s.seat, s.account_id, s.reservation_id, s.leaver))
        return fingerprint_of("settle", self.table, self.outcome, self.winner, self.stake_coins, *seats)


def deposit_coins(stake_coins: int) -> int:
    """The leaving deposit, which is the fee: 10 % of the stake, rounded up to a whole coin."""
    return (stake_coins + 9) // 10


def ending_of(table: TableId, event: GameEnded | TableCancelled) -> Ending:
    """Read the outcome off the event that ends the game."""
    match event:
        case TableCancelled():
            outcome, winner = Outcome.CANCELLED, None
        case GameEnded(winner=None, reason="abandoned"):
            outcome, winner = Outcome.ABANDONED, None
        case GameEnded(winner=None):
            outcome, winner = Outcome.DRAW, None
        case GameEnded():
            outcome, winner = Outcome.WIN, event.winner
        case never:
            assert_never(never)
    seats = tuple(sorted(event.seats, key=lambda seat: seat.seat))
    return Ending(table=table, outcome=outcome, winner=winner, stake_coins=event.stake_coins, seats=seats)


def settling(book: Book, ending: Ending) -> tuple[tuple[Transfer, ...], tuple[Payout, ...]]:
    """Return the transfers that end the game and the net of every account over the whole of it.

    The table's escrow is empty afterwards. Raises ImpossibleEvent where the event and the
    ledger do not speak of the same game.
    """
    pot = book.pot(ending.table)
    if pot is None and ending.outcome is not Outcome.CANCELLED:
        raise ImpossibleEvent("a game ended whose holds were never captured")
    if pot is not None and pot.balance_coins != SEATS * ending.stake_coins:
        raise ImpossibleEvent("the pot is not four stakes")
    paid = [(seat, _paid_hold(book, ending, seat)) for seat in ending.seats if seat.reservation_id is not None]
    transfers = [t for seat, hold in paid for t in _of_seat(ending, seat, hold, pot)]
    in_seats = {hold.id for _, hold in paid}
    # A reservation still pending, or a hold whose answer the table no longer wanted.
    others = [hold for hold in book.holds_at(ending.table) if hold.id not in in_seats]
    transfers += [returned(hold, ending.fingerprint) for hold in others]
    rest_coins = _pot_rest_coins(pot, transfers)
    settle = movement(
        Code.SETTLE, ending.table, pot_id(ending.table), HOUSE, rest_coins, ending.fingerprint, ending.table
    )
    transfers.append(settle)
    house_stakes = sum(ending.stake_coins for seat in ending.seats if seat.reservation_id is None) if pot else 0
    # Without a capture a seat may name a hold that went back before: it is no part of this.
    holds = [hold for _, hold in paid if pot or hold.active] + others
    return tuple(transfers), _payouts(ending, holds, transfers, rest_coins - house_stakes)


def returned(hold: Hold, fingerprint: Fingerprint) -> Transfer:
    """A hold given back whole; raises ImpossibleEvent where part of it is in the pot."""
    if hold.balance_coins != hold.opened_coins:
        raise ImpossibleEvent("a captured hold cannot be given back whole")
    return _from_hold(hold, Code.VOID, hold.balance_coins, fingerprint)


def fee_taken(hold: Hold, fingerprint: Fingerprint) -> tuple[Transfer, Transfer]:
    """A leaver's deposit, by way of the player so that their history shows the fee as an entry."""
    back = _from_hold(hold, Code.DEPOSIT_BACK, hold.balance_coins, fingerprint)
    fee = movement(Code.FEE, hold.reservation, hold.owner, FEES, hold.balance_coins, fingerprint, hold.table)
    return back, fee


def _paid_hold(book: Book, ending: Ending, seat: SeatResult) -> Hold:
    hold = book.hold(hold_id(seat.reservation_id or ""))
    if hold is None or hold.table != ending.table:
        raise ImpossibleEvent("a seat names a hold that this table never had")
    if hold.owner != (seat.leaver or seat.account_id):
        raise ImpossibleEvent("a seat names another person's hold")
    if hold.opened_coins != ending.stake_coins + deposit_coins(ending.stake_coins):
        raise ImpossibleEvent("a seat's hold is for another stake")
    return hold


def _of_seat(ending: Ending, seat: SeatResult, hold: Hold, pot: Pot | None) -> Iterator[Transfer]:
    if pot is None:
        if seat.leaver is not None:
            raise ImpossibleEvent("nobody can leave a game that never began")
        if hold.active:
            yield returned(hold, ending.fingerprint)
        return
    if seat.leaver is not None:
        if hold.active:
            yield from fee_taken(hold, ending.fingerprint)
        return
    if hold.balance_coins != hold.opened_coins - ending.stake_coins:
        raise ImpossibleEvent("a person who stayed has no deposit left")
    yield _from_hold(hold, Code.DEPOSIT_BACK, hold.balance_coins, ending.fingerprint)
    match ending.outcome:
        case Outcome.WIN:
            if seat.seat % 2 == ending.winner:
                yield _from_pot(ending, hold, Code.PAYOUT, STAKES_OF_A_WINNER * ending.stake_coins)
        case Outcome.DRAW | Outcome.CANCELLED:
            yield _from_pot(ending, hold, Code.STAKE_BACK, ending.stake_coins)
        case Outcome.ABANDONED:
            raise ImpossibleEvent("an abandoned game has nobody who stayed")
        case never:
            assert_never(never)


def _from_hold(hold: Hold, code: Code, amount_coins: int, fingerprint: Fingerprint) -> Transfer:
    return movement(code, hold.reservation, hold.id, hold.owner, amount_coins, fingerprint, hold.table)


def _from_pot(ending: Ending, hold: Hold, code: Code, amount_coins: int) -> Transfer:
    pot = pot_id(ending.table)
    return movement(code, hold.reservation, pot, hold.owner, amount_coins, ending.fingerprint, ending.table)


def _pot_rest_coins(pot: Pot | None, transfers: list[Transfer]) -> int:
    if pot is None:
        return 0
    return pot.balance_coins - sum(t.amount_coins for t in transfers if t.debit == pot.id)


def _payouts(ending: Ending, holds: list[Hold], transfers: list[Transfer], house_coins: int) -> tuple[Payout, ...]:
    moved: dict[AccountId, int] = defaultdict(int)
    for transfer in transfers:
        moved[transfer.debit] -= transfer.amount_coins
        moved[transfer.credit] += transfer.amount_coins
    net: dict[AccountId, int] = {}
    for hold in holds:
        net[hold.owner] = net.get(hold.owner, moved[hold.owner]) - hold.opened_coins
    leavers = sum(1 for seat in ending.seats if seat.leaver is not None)
    fees_coins = leavers * deposit_coins(ending.stake_coins)
    shares = {HOUSE: house_coins, FEES: fees_coins}
    payouts = [Payout(account_id=account, net_coins=coins) for account, coins in net.items()]
    payouts += [Payout(account_id=account, net_coins=coins) for account, coins in shares.items() if coins]
    assert sum(payout.net_coins for payout in payouts) == 0, "the nets of a game sum to zero"
    return tuple(payouts)
