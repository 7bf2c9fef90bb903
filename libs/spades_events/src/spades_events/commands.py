"""Commands to a table (`table.commands`, key: table id) and to the wallet (`wallet.commands`, key: account id).

The sender's account travels in the envelope, set by the gateway from the session,
never in the body: a client cannot speak for another.
"""

from typing import Annotated

import msgspec

from spades_events.values import (
    BidValue,
    CardName,
    Coins,
    HandNo,
    Hex32,
    Id,
    RulesetChoice,
    SeatNo,
    TableKind,
)

ClockMs = Annotated[int, msgspec.Meta(ge=1, le=3_600_000)]
"""A turn limit; the table refuses what its kind does not offer."""

Day = Annotated[str, msgspec.Meta(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$", max_length=10)]
"""A UTC date, `2026-01-31`."""

Reason = Annotated[str, msgspec.Meta(pattern="^[^\\x00-\\x1f]+$", max_length=200)]
"""One line of text."""


class TableCommand(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Imperative, answered exactly once: by events or by a refusal."""


class OpenTable(TableCommand, frozen=True, kw_only=True):
    """Open a table; the first command of its stream. The sender becomes the host."""

    kind: TableKind
    ruleset: RulesetChoice
    stake_coins: Coins = 0
    clock_ms: ClockMs | None = None
    """Turn limit; None = the table kind's own (practice: untimed)."""
    bots_welcome: bool = False
    """Bots may fill empty seats (always true at practice and coins-against-computer tables)."""


class TakeSeat(TableCommand, frozen=True, kw_only=True):
    """Ask for a seat; `seat` None = any, drawn at random where the table kind says so."""

    seat: SeatNo | None = None
    seed_commit: Hex32 | None = None


class ReleaseSeat(TableCommand, frozen=True, kw_only=True):
    """Get up before `SeatsLocked`: everything back."""


class StartGame(TableCommand, frozen=True, kw_only=True):
    """The host starts; bots take the empty seats."""


class OpenSeed(TableCommand, frozen=True, kw_only=True):
    """Reveal the seed that `seed_commit` promised, once `SeatsLocked` has come."""

    seed: Hex32


class LeaveGame(TableCommand, frozen=True, kw_only=True):
    """Leave a running game; `confirm_price_coins` must equal stake + fee (0 without coins)."""

    confirm_price_coins: Coins


class ReadyForNextHand(TableCommand, frozen=True, kw_only=True):
    """The seat has seen the score sheet of the hand."""


class LookAtCards(TableCommand, frozen=True, kw_only=True):
    """Turn the face-down cards up; from then on Blind Nil is closed to the seat."""

    hand_no: HandNo


class PlaceBid(TableCommand, frozen=True, kw_only=True):
    """Bid in the running turn `turn_id`."""

    turn_id: Id
    bid: BidValue


class PassCards(TableCommand, frozen=True, kw_only=True):
    """Two cards of a Blind Nil swap, to the partner."""

    turn_id: Id
    cards: tuple[CardName, CardName]


class PlayCard(TableCommand, frozen=True, kw_only=True):
    """Play a card in the running turn `turn_id`."""

    turn_id: Id
    card: CardName


class CancelTable(TableCommand, frozen=True, kw_only=True):
    """An operator ends the table: the hand on it is revealed, those who stayed get all back.

    The sender is `operator:NAME`, whom no session can be; the table refuses everybody else.
    """

    reason: Reason


class SyncSeat(TableCommand, frozen=True, kw_only=True):
    """Ask for a snapshot as the sender sees the table (a watcher's view where they hold no seat).

    Changes nothing and stores no answer.
    """

    connection_id: Id


class WalletCommand(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """About one account, which is the record's key."""


class OpenAccount(WalletCommand, frozen=True, kw_only=True):
    """Open the wallet of an account and pay the welcome grant, both once."""


class TopUp(WalletCommand, frozen=True, kw_only=True):
    """The daily top-up, where the balance is below its threshold."""

    day: Day


class GrantCoins(WalletCommand, frozen=True, kw_only=True):
    """An operator's grant; the reason stands in the ledger."""

    amount_coins: Coins
    reason: Reason


class CloseAccount(WalletCommand, frozen=True, kw_only=True):
    """Return the whole available balance to the house and accept nothing more."""
