"""The values that commands and events share: seats, bids, cards, tables."""

from enum import StrEnum
from typing import Annotated, Literal

import msgspec

SeatNo = Annotated[int, msgspec.Meta(ge=0, le=3)]
"""0 to 3, clockwise; 0 and 2 are partners, 1 and 3 are partners."""

BidValue = Annotated[int, msgspec.Meta(ge=0, le=13)] | Literal["nil", "blind_nil"]
"""A number of tricks, "nil" or "blind_nil"; a whole number 0 is accepted as Nil."""

CardName = Annotated[str, msgspec.Meta(min_length=2, max_length=2)]
"""Rank and suit, `TD`; the jokers are `LJ` and `BJ`."""

# The length too: a pattern's `$` would let a line feed behind the 64 digits pass.
Hex32 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$", max_length=64)]
"""32 bytes in lower-case hexadecimal."""

Coins = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
"""A whole number of play coins."""

HandNo = Annotated[int, msgspec.Meta(ge=1, le=64)]
"""A game has at most as many hands as its deal chain has links."""

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=80)]

BOT_ACCOUNT = "bot"
"""The account id under which the bot service sends commands and holds seats."""

OPERATOR_PREFIX = "operator:"
"""How an operator's id begins, where one acts; no account's does."""


class TableKind(StrEnum):
    """What a table is for; it decides seating, coins and clock."""

    PRACTICE = "practice"
    COINS = "coins"  # coins against the computer
    ONLINE = "online"  # coins, people (and bots by agreement)
    PRIVATE = "private"  # people by invite, no coins


class TurnKind(StrEnum):
    """What a turn asks of its seat."""

    BID = "bid"
    PASS = "pass"  # noqa: S105 - two cards of a Blind Nil swap
    PLAY = "play"


class DeadlineKind(StrEnum):
    """What runs out; the table judges every kind that is due when the earliest fires."""

    TURN = "turn"
    BOT_GUARD = "bot_guard"
    SEEDS = "seeds"
    RESERVATION = "reservation"
    REFILL = "refill"
    START = "start"
    CLOSING = "closing"
    NEXT_HAND = "next_hand"
    IDLE = "idle"


OptionName = Annotated[str, msgspec.Meta(min_length=1, max_length=40)]


class RulesetChoice(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A preset by name with the host's options, as `spades_rules.ruleset` takes them."""

    name: OptionName
    options: Annotated[dict[OptionName, int | bool | None], msgspec.Meta(max_length=16)] = {}


class SeatHolder(msgspec.Struct, frozen=True, kw_only=True):
    """Who sits on one seat; `account_id` is `bot` for a computer seat."""

    seat: SeatNo
    account_id: str
    seed_commit: Hex32 | None = None
    """SHA-256 commitment to the browser's seed; None where the seat opened without one."""
