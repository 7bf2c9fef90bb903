"""Commands to a table (`table.commands`, key: table id) and to the wallet (`wallet.commands`, key: account id).

The sender's account travels in the envelope, set by the gateway from the session,
never in the body: a client cannot speak for another.
"""

import msgspec

from spades_events.values import BidValue, CardName, Coins, Hex32, Id, RulesetChoice, SeatNo, TableKind


class TableCommand(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Imperative, answered exactly once: by events or by a refusal."""


class OpenTable(TableCommand):
    """Open a table; the first command of its stream. The sender becomes the host."""

    kind: TableKind
    ruleset: RulesetChoice
    stake_coins: Coins = 0
    clock_ms: int | None = None
    """Turn limit; None = the table kind's own (practice: untimed)."""
    bots_welcome: bool = False
    """Bots may fill empty seats (always true at practice and coins-against-computer tables)."""


class TakeSeat(TableCommand):
    """Ask for a seat; `seat` None = any, drawn at random where the table kind says so."""

    seat: SeatNo | None = None
    seed_commit: Hex32 | None = None


class ReleaseSeat(TableCommand):
    """Get up before `SeatsLocked`: everything back."""


class StartGame(TableCommand):
    """The host starts; bots take the empty seats."""


class OpenSeed(TableCommand):
    """Reveal the seed that `seed_commit` promised, once `SeatsLocked` has come."""

    seed: Hex32


class LeaveGame(TableCommand):
    """Leave a running game; `confirm_price_coins` must equal stake + fee (0 without coins)."""

    confirm_price_coins: Coins


class ReadyForNextHand(TableCommand):
    """The seat has seen the score sheet of the hand."""


class LookAtCards(TableCommand):
    """Turn the face-down cards up; from then on Blind Nil is closed to the seat."""

    hand_no: int


class PlaceBid(TableCommand):
    turn_id: Id
    bid: BidValue


class PassCards(TableCommand):
    """Two cards of a Blind Nil swap, to the partner."""

    turn_id: Id
    cards: tuple[CardName, CardName]


class PlayCard(TableCommand):
    turn_id: Id
    card: CardName


class SyncSeat(TableCommand):
    """Ask for a snapshot as the sender sees the table (a watcher's view where they hold no seat).

    Changes nothing and stores no answer.
    """

    connection_id: Id


class WalletCommand(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """About one account, which is the record's key."""


class OpenAccount(WalletCommand):
    """Open the wallet of an account and pay the welcome grant, both once."""


class TopUp(WalletCommand):
    """The daily top-up, where the balance is below its threshold. `day` is the UTC date, `2026-01-31`."""

    day: str


class GrantCoins(WalletCommand):
    """An operator's grant; the reason stands in the ledger."""

    amount_coins: Coins
    reason: str


class CloseAccount(WalletCommand):
    """Return the whole available balance to the house and accept nothing more."""
