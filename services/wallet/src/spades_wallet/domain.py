"""What the wallet decides: pure, on a book of accounts and one request, with time given as values.

A decision is data: the transfers to post and the event to tell. The same request decided
again on the book after it moves nothing; whether its key was answered before, and with
which fingerprint, is the handlers' to look up.
"""

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from spades_events.events import (
    GameEnded,
    SeatForfeited,
    SeatRefused,
    SeatReleased,
    SeatReserved,
    SeatsLocked,
    TableCancelled,
)
from spades_events.values import BOT_ACCOUNT
from spades_events.wallet import (
    FeeTaken,
    HoldPlaced,
    HoldRefused,
    HoldsCaptured,
    HoldVoided,
    Settlement,
)
from spades_wallet.accounts import FromAccount, decide_wish
from spades_wallet.decision import NOTHING, Decision, Terms, balances, may_still_win
from spades_wallet.ledger import (
    COINS_MAX,
    HOUSE,
    SYSTEM_ACCOUNTS,
    AccountId,
    Book,
    Code,
    Fingerprint,
    Hold,
    Player,
    TableId,
    fingerprint_of,
    hold_id,
    movement,
    pot_id,
)
from spades_wallet.settlement import (
    SEATS,
    ImpossibleEvent,
    deposit_coins,
    ending_of,
    fee_taken,
    returned,
    settling,
)

TableFact: TypeAlias = (
    SeatReserved | SeatRefused | SeatReleased | SeatsLocked | SeatForfeited | GameEnded | TableCancelled
)


@dataclass(frozen=True, kw_only=True, slots=True)
class FromTable:
    """A fact of a table that may move coins."""

    table: TableId
    fact: TableFact


Request: TypeAlias = FromTable | FromAccount


def decide(book: Book, request: Request, terms: Terms) -> Decision:
    """Return what the request moves and tells.

    Raises Rejected where a command about an account is refused, and ImpossibleEvent where a
    table's fact contradicts the ledger.
    """
    match request:
        case FromTable(table=table, fact=fact):
            return _decide_fact(book, table, fact, terms)
        case FromAccount():
            return decide_wish(book, request, terms)
        case never:
            assert_never(never)


def evolve(book: Book, decision: Decision) -> Book:
    """The book with the decision posted."""
    return book.after(decision.transfers)


def natural_key(fact: TableFact) -> str | None:
    """What a table's fact is about, unique in its table: the same key has one effect. None = no coins in it."""
    match fact:
        case SeatReserved():
            return f"hold:{fact.reservation_id}" if fact.stake_coins else None
        case SeatRefused() | SeatReleased():
            return f"void:{fact.reservation_id}" if fact.reservation_id else None
        case SeatsLocked():
            return "capture" if fact.stake_coins else None
        case SeatForfeited():
            return f"fee:{fact.seat}:{fact.account_id}" if fact.stake_coins else None
        case GameEnded() | TableCancelled():
            return "settle" if fact.stake_coins else None
        case never:
            assert_never(never)


def fingerprint(table: TableId, fact: TableFact) -> Fingerprint:
    """The fingerprint of what the fact asks for."""
    match fact:
        case SeatReserved():
            stake = (fact.stake_coins, fact.deposit_coins)
            return fingerprint_of("hold", table, fact.reservation_id, fact.seat, fact.account_id, *stake)
        case SeatRefused() | SeatReleased():
            # Either returns the same hold: the second of them asks for nothing new.
            return fingerprint_of("void", table, fact.reservation_id, fact.account_id)
        case SeatsLocked():
            seats = (part for holder in fact.seats for part in (holder.seat, holder.account_id))
            return fingerprint_of("capture", table, fact.stake_coins, *seats)
        case SeatForfeited():
            price = (fact.stake_coins, fact.fee_coins)
            return fingerprint_of("fee", table, fact.seat, fact.account_id, *price)
        case GameEnded() | TableCancelled():
            return ending_of(table, fact).fingerprint
        case never:
            assert_never(never)


def accounts_named(fact: TableFact) -> tuple[AccountId, ...]:
    """The people and holds that the fact names; the table's other escrow is found by its table."""
    match fact:
        case SeatReserved() | SeatRefused() | SeatReleased():
            return AccountId(fact.account_id), hold_id(fact.reservation_id or "")
        case SeatForfeited():
            return (AccountId(fact.account_id),)
        case SeatsLocked():
            return ()
        case GameEnded() | TableCancelled():
            # A leaver's hold is shut by now, and still says for which stake it was.
            return tuple(hold_id(seat.reservation_id) for seat in fact.seats if seat.reservation_id)
        case never:
            assert_never(never)


def _decide_fact(book: Book, table: TableId, fact: TableFact, terms: Terms) -> Decision:
    if natural_key(fact) is None:
        return NOTHING
    match fact:
        case SeatReserved():
            return _place_hold(book, table, fact, terms)
        case SeatRefused() | SeatReleased():
            return _void_hold(book, table, fact)
        case SeatsLocked():
            return _capture(book, table, fact)
        case SeatForfeited():
            return _take_fee(book, table, fact)
        case GameEnded() | TableCancelled():
            return _settle(book, table, fact)
        case never:
            assert_never(never)


def _place_hold(book: Book, table: TableId, fact: SeatReserved, terms: Terms) -> Decision:
    if fact.deposit_coins != deposit_coins(fact.stake_coins):
        raise ImpossibleEvent("a reservation's deposit is not a tenth of its stake")
    hold = book.hold(hold_id(fact.reservation_id))
    if hold is not None and hold.table != table:
        raise ImpossibleEvent("two tables name the same reservation")
    if hold is not None:
        return NOTHING
    owner = AccountId(fact.account_id)
    player = book.player(owner)
    needed = fact.stake_coins + fact.deposit_coins
    code = _refusal_of_hold(book, table, fact, player, terms)
    if code is not None:
        refused = HoldRefused(
            # It made no entry, so it tells of none: entries are counted by those who read.
            accounts=(),
            reservation_id=fact.reservation_id,
            seat=fact.seat,
            account_id=fact.account_id,
            code=code,
            needed_coins=needed,
            available_coins=player.balance_coins if player else 0,
        )
        return Decision(event=refused)
    transfer = movement(
        Code.HOLD, fact.reservation_id, owner, hold_id(fact.reservation_id), needed, fingerprint(table, fact), table
    )
    placed = HoldPlaced(
        accounts=balances(book, book.after((transfer,)), (owner,)),
        reservation_id=fact.reservation_id,
        seat=fact.seat,
        account_id=fact.account_id,
        stake_coins=fact.stake_coins,
        deposit_coins=fact.deposit_coins,
    )
    return Decision(transfers=(transfer,), event=placed)


def _refusal_of_hold(book: Book, table: TableId, fact: SeatReserved, player: Player | None, terms: Terms) -> str | None:
    if player is None or player.closed:
        return "no_account"
    if book.pot(table) is not None:
        # Captured or settled: the reservation came from before, out of order.
        return "game_over"
    elsewhere = {hold.table for hold in book.holds_of(player.id)} - {table}
    if len(elsewhere) >= terms.games_at_once_max:
        return "seated_elsewhere"
    if player.balance_coins < fact.stake_coins + fact.deposit_coins:
        return "insufficient_balance"
    needed = fact.stake_coins + fact.deposit_coins
    if SEATS * fact.stake_coins > COINS_MAX or not may_still_win(book, player, needed):
        return "stake_too_high"
    return None


def _void_hold(book: Book, table: TableId, fact: SeatRefused | SeatReleased) -> Decision:
    hold = book.hold(hold_id(fact.reservation_id or ""))
    if hold is None or not hold.active:
        return NOTHING
    if hold.owner != fact.account_id or hold.table != table:
        raise ImpossibleEvent("a seat was given up with another person's hold")
    transfer = returned(hold, fingerprint(table, fact))
    voided = HoldVoided(
        accounts=balances(book, book.after((transfer,)), (hold.owner,)),
        reservation_id=fact.reservation_id or "",
        account_id=fact.account_id,
        returned_coins=transfer.amount_coins,
    )
    return Decision(transfers=(transfer,), event=voided)


def _capture(book: Book, table: TableId, fact: SeatsLocked) -> Decision:
    if book.pot(table) is not None:
        return NOTHING
    stake, request = fact.stake_coins, fingerprint(table, fact)
    people = [AccountId(h.account_id) for h in fact.seats if h.account_id != BOT_ACCOUNT]
    by_owner: dict[AccountId, Hold] = {hold.owner: hold for hold in book.holds_at(table)}
    paid = [by_owner[person] for person in people if person in by_owner]
    if len(paid) < len(people) or any(h.balance_coins != stake + deposit_coins(stake) for h in paid):
        # No capture, no deal: the table cancels by itself and everything goes back.
        return Decision(alarm="capture_without_all_holds")
    transfers = [
        movement(Code.CAPTURE, hold.reservation, hold.id, pot_id(table), stake, request, table) for hold in paid
    ]
    if len(people) < SEATS:
        house_coins = stake * (SEATS - len(people))
        transfers.append(movement(Code.HOUSE_STAKE, table, HOUSE, pot_id(table), house_coins, request, table))
    # The players' own accounts do not move: what was held stays held.
    return Decision(transfers=tuple(transfers), event=HoldsCaptured(accounts=(), pot_coins=SEATS * stake))


def _take_fee(book: Book, table: TableId, fact: SeatForfeited) -> Decision:
    owner = AccountId(fact.account_id)
    hold = next((hold for hold in book.holds_at(table) if hold.owner == owner), None)
    if hold is None:
        return NOTHING
    if hold.balance_coins != fact.fee_coins or hold.opened_coins != fact.stake_coins + fact.fee_coins:
        raise ImpossibleEvent("a leaver's hold is not the captured one of this stake")
    transfers = fee_taken(hold, fingerprint(table, fact))
    taken = FeeTaken(
        accounts=balances(book, book.after(transfers), (owner,)),
        seat=fact.seat,
        account_id=fact.account_id,
        fee_coins=fact.fee_coins,
    )
    return Decision(transfers=transfers, event=taken)


def _settle(book: Book, table: TableId, fact: GameEnded | TableCancelled) -> Decision:
    pot = book.pot(table)
    if pot is not None and pot.settled:
        return NOTHING
    ending = ending_of(table, fact)
    transfers, payouts = settling(book, ending)
    touched = dict.fromkeys(transfer.credit for transfer in transfers)
    players = [account for account in touched if account not in SYSTEM_ACCOUNTS]
    settled = Settlement(
        accounts=balances(book, book.after(transfers), players),
        outcome=ending.outcome.value,
        payouts=payouts,
    )
    return Decision(transfers=transfers, event=settled)
