"""Bytes to typed messages and back: one registry of type names, versions and upcasters.

A stored name is a contract. To change a message, add `CardPlayedV2` beside `CardPlayed`,
list both here and give an upcaster from the one to the other; never change a listed struct.

    UndecodableMessage            the bytes are no message we know
    ├── UnknownType               the type name (or its version) is not in the registry
    └── MalformedBody             the body is not this type's
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from spades_events import clock, commands, events, private, wallet


class UndecodableMessage(Exception):
    """The bytes are no message of the contracts; `reason` says why without quoting them."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnknownType(UndecodableMessage):
    """The type, or this version of it, is not in the registry."""


class MalformedBody(UndecodableMessage):
    """The body does not fit its type."""


_VERSIONED = re.compile(r"^(?P<name>\w+?)V(?P<version>\d+)$")
_WORD = re.compile(r"(?<!^)(?=[A-Z])")


def _ce_type(cls: type[msgspec.Struct]) -> str:
    match = _VERSIONED.match(cls.__name__)
    name, version = (match["name"], match["version"]) if match else (cls.__name__, "1")
    return f"spades.{_WORD.sub('_', name).lower()}.v{version}"


TABLE_COMMANDS: tuple[type[msgspec.Struct], ...] = (
    commands.OpenTable,
    commands.TakeSeat,
    commands.ReleaseSeat,
    commands.StartGame,
    commands.OpenSeed,
    commands.LeaveGame,
    commands.ReadyForNextHand,
    commands.LookAtCards,
    commands.PlaceBid,
    commands.PassCards,
    commands.PlayCard,
    commands.SyncSeat,
)
WALLET_COMMANDS: tuple[type[msgspec.Struct], ...] = (
    commands.OpenAccount,
    commands.TopUp,
    commands.GrantCoins,
    commands.CloseAccount,
)
TABLE_EVENTS: tuple[type[msgspec.Struct], ...] = (
    events.TableOpened,
    events.SeatReserved,
    events.SeatTaken,
    events.SeatRefused,
    events.SeatReleased,
    events.SeatsLocked,
    events.SeedsFixed,
    events.GameStarted,
    events.HandCommitted,
    events.HandDealt,
    events.CardsSeen,
    events.TurnStarted,
    events.BidMade,
    events.CardsPassed,
    events.CardPlayed,
    events.SpadesBroken,
    events.TrickTaken,
    events.HandScored,
    events.DealRevealed,
    events.DealUnreadable,
    events.SeatAutoplayed,
    events.SeatReady,
    events.SeatForfeited,
    events.DeadlineSet,
    events.ClockExtended,
    events.TableCancelled,
    events.GameEnded,
    events.GameSettled,
)
WALLET_EVENTS: tuple[type[msgspec.Struct], ...] = (
    wallet.AccountOpened,
    wallet.AccountClosed,
    wallet.CoinsGranted,
    wallet.WalletCommandRefused,
    wallet.HoldPlaced,
    wallet.HoldRefused,
    wallet.HoldVoided,
    wallet.HoldsCaptured,
    wallet.FeeTaken,
    wallet.Settlement,
)
CLOCK_EVENTS: tuple[type[msgspec.Struct], ...] = (clock.TimedOut,)
PRIVATE_RECORDS: tuple[type[msgspec.Struct], ...] = (
    private.Supplement,
    private.Answer,
    private.Snapshot,
    private.Prompt,
)

MESSAGES = TABLE_COMMANDS + WALLET_COMMANDS + TABLE_EVENTS + WALLET_EVENTS + CLOCK_EVENTS + PRIVATE_RECORDS

CE_TYPES: Mapping[type[msgspec.Struct], str] = {cls: _ce_type(cls) for cls in MESSAGES}
"""Message class to CloudEvents type, `spades.card_played.v1`."""

UPCASTERS: Mapping[str, tuple[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {}
"""Old type to (newer type, change of the JSON object); followed until a listed type is reached."""

_DECODERS = {CE_TYPES[cls]: msgspec.json.Decoder(cls) for cls in MESSAGES}
_encode = msgspec.json.Encoder().encode


def frame_name(cls: type[msgspec.Struct]) -> str:
    """The WebSocket frame name of a message class: `card_played`."""
    return CE_TYPES[cls].split(".")[1]


def encode(message: msgspec.Struct) -> bytes:
    """Return the message as JSON, fields in declaration order."""
    return _encode(message)


def decode(ce_type: str, body: bytes) -> msgspec.Struct:
    """Return the typed message, upcast to its newest version.

    Raises UnknownType where no reader for `ce_type` exists and MalformedBody where the body
    is not of that type; neither quotes the body, which may be secret.
    """
    upcast = UPCASTERS.get(ce_type)
    if upcast is not None:
        newer, change = upcast
        return decode(newer, _encode(change(_decode_object(ce_type, body))))
    decoder = _DECODERS.get(ce_type)
    if decoder is None:
        raise UnknownType(f"unknown message type {ce_type[:80]!r}")
    try:
        message: msgspec.Struct = decoder.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise MalformedBody(f"malformed {ce_type}: {_without_values(error)}") from None
    return message


def _decode_object(ce_type: str, body: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise MalformedBody(f"malformed {ce_type}: {_without_values(error)}") from None


def _without_values(error: Exception) -> str:
    # msgspec quotes a wrong value only for enums and literals: cut the text there.
    return str(error).split("'", 1)[0][:200]
