"""Events of the wallet (`wallet.events`; key: table id, or account id for account events)."""

import msgspec

from spades_events.events import Payout
from spades_events.values import Coins, SeatNo


class AccountBalance(msgspec.Struct, frozen=True, kw_only=True):
    """One account after an event; entries of one account come from many partitions: keep the highest `entry_no`."""

    account_id: str
    entry_no: int
    available_coins: Coins
    held_coins: Coins
    change_coins: int
    """What this event did to the available balance."""


class WalletEvent(msgspec.Struct, frozen=True, kw_only=True):
    """`accounts` are the players of whom it made an entry; a refusal makes none."""

    accounts: tuple[AccountBalance, ...]


class AccountOpened(WalletEvent, frozen=True, kw_only=True):
    """An account and its welcome grant."""

    account_id: str
    grant_coins: Coins
    command_id: str | None = None
    """The command that this answers, for whoever waits for it."""


class AccountClosed(WalletEvent, frozen=True, kw_only=True):
    """An account that takes no more coins; what it had is the house's."""

    account_id: str
    returned_coins: Coins
    command_id: str | None = None
    """The command that this answers, for whoever waits for it."""


class CoinsGranted(WalletEvent, frozen=True, kw_only=True):
    """A top-up or an operator's grant."""

    account_id: str
    amount_coins: Coins
    reason: str
    command_id: str | None = None
    """The command that this answers, for whoever waits for it."""


class WalletCommandRefused(WalletEvent, frozen=True, kw_only=True):
    """An account command that had no effect, with its reason slug."""

    account_id: str
    command_id: str
    code: str


class HoldPlaced(WalletEvent, frozen=True, kw_only=True):
    """Stake and leaving deposit of a reservation moved to escrow."""

    reservation_id: str
    seat: SeatNo
    account_id: str
    stake_coins: Coins
    deposit_coins: Coins


class HoldRefused(WalletEvent, frozen=True, kw_only=True):
    """`code`: no_account | seated_elsewhere | insufficient_balance | stake_too_high | game_over."""

    reservation_id: str
    seat: SeatNo
    account_id: str
    code: str
    needed_coins: Coins
    available_coins: Coins


class HoldVoided(WalletEvent, frozen=True, kw_only=True):
    """A hold returned in full before the game."""

    reservation_id: str
    account_id: str
    returned_coins: Coins


class HoldsCaptured(WalletEvent, frozen=True, kw_only=True):
    """All holds of the game, and the house's stakes, are in the pot."""

    pot_coins: Coins


class FeeTaken(WalletEvent, frozen=True, kw_only=True):
    """A leaver's deposit went to `fees`."""

    seat: SeatNo
    account_id: str
    fee_coins: Coins


class Settlement(WalletEvent, frozen=True, kw_only=True):
    """The one settlement of a game, won, abandoned, drawn or cancelled; `payouts` sum to 0."""

    outcome: str
    """win | abandoned | draw | cancelled"""
    payouts: tuple[Payout, ...]
