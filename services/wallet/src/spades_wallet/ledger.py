"""The ledger as values: accounts, transfers between them, and the book that folds one into the other.

One transfer takes an amount from one account and gives it to another, so the sum over all
accounts is zero whatever happens. `house`, `fees` and `issuer` have no balance of their own
here: theirs is the sum of their transfers, and it may be negative.

    LedgerError           a transfer that must never have been asked for: a bug, never a player's mistake
    ├── Overdraft         a player, hold or pot would fall below zero
    ├── UnknownAccount    it moves coins of an account that nobody opened
    └── AccountShut       it gives coins to an account that was closed or settled
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NewType, TypeAlias

AccountId = NewType("AccountId", str)
TableId = NewType("TableId", str)
TransferKey = NewType("TransferKey", str)
"""What a transfer is for, in the words of the game: unique for ever, so nothing is paid twice."""

Fingerprint = NewType("Fingerprint", bytes)
"""SHA-256 of a whole request: the same key with another fingerprint is a conflict."""

HOUSE: Final = AccountId("house")
FEES: Final = AccountId("fees")
ISSUER: Final = AccountId("issuer")
SYSTEM_ACCOUNTS: Final = frozenset({HOUSE, FEES, ISSUER})

COINS_MAX: Final = 2**53 - 1
"""The largest whole number that every JSON reader keeps exact."""


class Code(StrEnum):
    """Why coins move; the database allows each code only between its own kinds of account."""

    WELCOME = "welcome"  # issuer -> player, opens the player
    TOP_UP = "top_up"  # issuer -> player
    GRANT = "grant"  # issuer -> player
    CLOSE = "close"  # player -> house, shuts the player
    HOLD = "hold"  # player -> hold, opens the hold
    VOID = "void"  # hold -> its player, before the game or when it never began
    CAPTURE = "capture"  # hold -> pot, opens the pot
    HOUSE_STAKE = "house_stake"  # house -> pot, the stakes of the computer seats
    DEPOSIT_BACK = "deposit_back"  # hold -> its player
    FEE = "fee"  # player -> fees
    PAYOUT = "payout"  # pot -> player, two stakes
    STAKE_BACK = "stake_back"  # pot -> player, cancelled or drawn
    SETTLE = "settle"  # pot -> house, what nobody else won; shuts the pot


class LedgerError(Exception):
    """A transfer that must never have been asked for."""


class Overdraft(LedgerError):
    """An account that may not be negative would be."""


class UnknownAccount(LedgerError):
    """Coins of an account that does not exist."""


class AccountShut(LedgerError):
    """Coins for an account that takes no more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Transfer:
    """One row of the ledger. `amount_coins` is positive, or zero where the row only shuts or opens."""

    key: TransferKey
    fingerprint: Fingerprint
    debit: AccountId
    credit: AccountId
    amount_coins: int
    code: Code
    table: TableId | None = None
    note: str | None = None


def movement(
    code: Code,
    about: str,
    debit: AccountId,
    credit: AccountId,
    amount_coins: int,
    fingerprint: Fingerprint,
    table: TableId | None = None,
    note: str | None = None,
) -> Transfer:
    """The transfer that `code` makes but once about a reservation, a table or an account."""
    return Transfer(
        key=TransferKey(f"{code}:{about}"),
        fingerprint=fingerprint,
        debit=debit,
        credit=credit,
        amount_coins=amount_coins,
        code=code,
        table=table,
        note=note,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Player:
    """What one person can spend. `entry_no` counts the transfers that touched the account."""

    id: AccountId
    balance_coins: int
    entry_no: int
    closed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Hold:
    """Escrow of one reservation: stake and leaving deposit, after the capture the deposit alone."""

    id: AccountId
    owner: AccountId
    table: TableId
    opened_coins: int
    balance_coins: int
    entry_no: int

    @property
    def reservation(self) -> str:
        return self.id.removeprefix("hold:")

    @property
    def active(self) -> bool:
        """Whether the game still binds its owner: the deposit is the last coin to go."""
        return self.balance_coins > 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Pot:
    """Escrow of one table: the captured stakes; settled once, then empty for ever."""

    id: AccountId
    table: TableId
    balance_coins: int
    entry_no: int
    settled: bool = False


Account: TypeAlias = Player | Hold | Pot


def hold_id(reservation_id: str) -> AccountId:
    """The escrow account of a reservation."""
    return AccountId(f"hold:{reservation_id}")


def pot_id(table: TableId) -> AccountId:
    """The escrow account of a table."""
    return AccountId(f"pot:{table}")


def fingerprint_of(*parts: str | int | None) -> Fingerprint:
    """The fingerprint of a request made of these parts, in this order."""
    # With its length before it no part can run into the next, and None is not the word "None".
    texts = ("-" if part is None else f"{len(str(part))}:{part}" for part in parts)
    return Fingerprint(hashlib.sha256(",".join(texts).encode()).digest())


@dataclass(frozen=True, slots=True)
class Book:
    """Some accounts of the ledger as they stand; `after` gives the book with transfers posted.

    It holds every account that a decision may touch, and for each player all active holds:
    what is missing here does not exist.
    """

    accounts: Mapping[AccountId, Account] = field(default_factory=dict)
    keys: frozenset[TransferKey] = frozenset()
    """Keys of transfers posted earlier, as far as a decision asks for them (top-ups)."""
    _by_owner: Mapping[AccountId, tuple[AccountId, ...]] = field(default_factory=dict)
    _by_table: Mapping[TableId, tuple[AccountId, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, accounts: Iterable[Account], keys: Iterable[TransferKey] = ()) -> "Book":
        """The book of these accounts."""
        by_id = {account.id: account for account in accounts}
        holds = sorted((a for a in by_id.values() if isinstance(a, Hold)), key=lambda hold: hold.id)
        by_owner: dict[AccountId, tuple[AccountId, ...]] = {}
        by_table: dict[TableId, tuple[AccountId, ...]] = {}
        for hold in holds:
            by_owner[hold.owner] = (*by_owner.get(hold.owner, ()), hold.id)
            by_table[hold.table] = (*by_table.get(hold.table, ()), hold.id)
        return cls(MappingProxyType(by_id), frozenset(keys), by_owner, by_table)

    def player(self, account: AccountId) -> Player | None:
        found = self.accounts.get(account)
        return found if isinstance(found, Player) else None

    def hold(self, account: AccountId) -> Hold | None:
        found = self.accounts.get(account)
        return found if isinstance(found, Hold) else None

    def pot(self, table: TableId) -> Pot | None:
        found = self.accounts.get(pot_id(table))
        return found if isinstance(found, Pot) else None

    def holds_of(self, owner: AccountId) -> tuple[Hold, ...]:
        """The owner's active holds, by id."""
        return self._active(self._by_owner.get(owner, ()))

    def holds_at(self, table: TableId) -> tuple[Hold, ...]:
        """The table's active holds, by id."""
        return self._active(self._by_table.get(table, ()))

    def held_coins(self, owner: AccountId) -> int:
        """What the owner's running games bind: stake and deposit each, in hold or pot."""
        return sum(hold.opened_coins for hold in self.holds_of(owner))

    def after(self, transfers: Iterable[Transfer]) -> "Book":
        """The book with the transfers posted in order; raises LedgerError where one cannot be."""
        accounts = dict(self.accounts)
        by_owner, by_table = dict(self._by_owner), dict(self._by_table)
        keys = set(self.keys)
        for transfer in transfers:
            if transfer.key in keys:
                raise LedgerError(f"{transfer.key} was posted before")
            keys.add(transfer.key)
            _take(accounts, transfer)
            if transfer.code is Code.HOLD:
                table = _table_of(transfer)
                by_owner[transfer.debit] = (*by_owner.get(transfer.debit, ()), transfer.credit)
                by_table[table] = (*by_table.get(table, ()), transfer.credit)
            _give(accounts, transfer)
        return Book(MappingProxyType(accounts), frozenset(keys), by_owner, by_table)

    def _active(self, ids: tuple[AccountId, ...]) -> tuple[Hold, ...]:
        found = (self.accounts[account] for account in ids)
        return tuple(hold for hold in found if isinstance(hold, Hold) and hold.active)


def _take(accounts: dict[AccountId, Account], transfer: Transfer) -> None:
    if transfer.debit in SYSTEM_ACCOUNTS:
        return
    account = accounts.get(transfer.debit)
    if account is None and transfer.code is Code.SETTLE:
        # A table cancelled before any capture: its pot is opened only to be shut.
        account = Pot(id=transfer.debit, table=_table_of(transfer), balance_coins=0, entry_no=0)
    if account is None:
        raise UnknownAccount(transfer.debit)
    balance_coins = account.balance_coins - transfer.amount_coins
    if balance_coins < 0:
        raise Overdraft(f"{transfer.code} of {transfer.amount_coins} from {account.balance_coins}")
    moved = replace(account, balance_coins=balance_coins, entry_no=account.entry_no + 1)
    match transfer.code, moved:
        case Code.CLOSE, Player():
            moved = replace(moved, closed=True)
        case Code.SETTLE, Pot():
            moved = replace(moved, settled=True)
        case _:
            pass
    accounts[transfer.debit] = moved


def _give(accounts: dict[AccountId, Account], transfer: Transfer) -> None:
    if transfer.credit in SYSTEM_ACCOUNTS:
        return
    account = accounts.get(transfer.credit) or _opened(transfer)
    if (isinstance(account, Player) and account.closed) or (isinstance(account, Pot) and account.settled):
        raise AccountShut(f"{transfer.code} to an account that was shut")
    balance_coins = account.balance_coins + transfer.amount_coins
    if balance_coins > COINS_MAX:
        raise LedgerError(f"{transfer.code} would exceed {COINS_MAX}")
    accounts[transfer.credit] = replace(account, balance_coins=balance_coins, entry_no=account.entry_no + 1)


def _opened(transfer: Transfer) -> Account:
    match transfer.code:
        case Code.WELCOME:
            return Player(id=transfer.credit, balance_coins=0, entry_no=0)
        case Code.HOLD:
            return Hold(
                id=transfer.credit,
                owner=transfer.debit,
                table=_table_of(transfer),
                opened_coins=transfer.amount_coins,
                balance_coins=0,
                entry_no=0,
            )
        case Code.CAPTURE | Code.HOUSE_STAKE:
            return Pot(id=transfer.credit, table=_table_of(transfer), balance_coins=0, entry_no=0)
        case _:
            raise UnknownAccount(transfer.credit)


def _table_of(transfer: Transfer) -> TableId:
    assert transfer.table is not None, f"a {transfer.code} names its table"
    return transfer.table
