"""Bytes to typed messages and back: one registry of type names, versions and upcasters.

A stored name is a contract. To change a message, add `CardPlayedV2`, list it here in place of
`CardPlayed`, and give an upcaster from the old type name to the new; the old golden sample stays.

    UndecodableMessage            the bytes are no message we know
    ├── UnknownType               the type name (or its version) is not in the registry
    └── MalformedBody             the body is not this type's
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

import msgspec

from spades_events import clock, commands, events, lobby, private, wallet


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


def ce_type_of(cls: type[msgspec.Struct]) -> str:
    """The CloudEvents type of a message class by its name: `CardPlayedV2` is `spades.card_played.v2`."""
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
    commands.CancelTable,
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
    events.SeedOpened,
    events.StakesCaptured,
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
LOBBY_EVENTS: tuple[type[msgspec.Struct], ...] = (lobby.OperatorActed,)
PRIVATE_RECORDS: tuple[type[msgspec.Struct], ...] = (
    private.Supplement,
    private.Answer,
    private.Snapshot,
    private.PlayerDisconnected,
    private.Said,
    private.Prompt,
)

MESSAGES = (
    *(TABLE_COMMANDS + WALLET_COMMANDS),
    *(TABLE_EVENTS + WALLET_EVENTS + CLOCK_EVENTS + LOBBY_EVENTS),
    *PRIVATE_RECORDS,
)

Upcaster = tuple[str, Callable[[dict[str, Any]], dict[str, Any]]]
"""The next newer type, and the change of the JSON object that leads there."""

UPCASTERS: Final[Mapping[str, Upcaster]] = {}

_encode = msgspec.json.Encoder().encode


class Codec:
    """The messages that can be read, each under its newest type, and the upcasters that lead older bytes there."""

    def __init__(self, messages: Iterable[type[msgspec.Struct]], upcasters: Mapping[str, Upcaster]) -> None:
        self.types: Final[Mapping[type[msgspec.Struct], str]] = {cls: ce_type_of(cls) for cls in messages}
        self._decoders = {ce_type: msgspec.json.Decoder(cls) for cls, ce_type in self.types.items()}
        self._upcasters = upcasters
        for newer, _ in upcasters.values():
            # A chain that leads nowhere would first be noticed by an old record, long after its release.
            assert newer in self._decoders or newer in upcasters, f"no reader for {newer}"

    def decode(self, ce_type: str, body: bytes) -> msgspec.Struct:
        """Return the typed message, upcast to its newest version.

        Raises UnknownType where no reader for `ce_type` exists and MalformedBody where the body
        is not of that type; neither quotes the body, which may be secret.
        """
        decoder = self._decoders.get(ce_type)
        if decoder is not None:
            return _decoded(decoder, ce_type, body)
        if ce_type not in self._upcasters:
            raise UnknownType(f"unknown message type {ce_type[:80]!r}")
        content = _decoded(_OBJECT, ce_type, body)
        while ce_type in self._upcasters:
            ce_type, change = self._upcasters[ce_type]
            content = change(content)
        return _decoded(self._decoders[ce_type], ce_type, _encode(content))


T = TypeVar("T")

_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])


def _decoded(decoder: msgspec.json.Decoder[T], ce_type: str, body: bytes) -> T:
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise MalformedBody(f"malformed {ce_type}: {_without_values(error)}") from None


def _without_values(error: Exception) -> str:
    # msgspec quotes a wrong value only for enums and literals: cut the text there.
    return str(error).split("'", 1)[0][:200]


_CONTRACTS: Final = Codec(MESSAGES, UPCASTERS)

CE_TYPES: Final = _CONTRACTS.types
"""Message class to CloudEvents type, `spades.card_played.v1`."""

decode: Final = _CONTRACTS.decode


def encode(message: msgspec.Struct) -> bytes:
    """Return the message as JSON, fields in declaration order."""
    return _encode(message)


# Where the public WebSocket calls a fact by a player's word instead of the log's.
_FRAME_NAMES: Final[Mapping[type[msgspec.Struct], str]] = {
    events.GameEnded: "game_over",
    events.SeatForfeited: "seat_left",
}


def frame_name(cls: type[msgspec.Struct]) -> str:
    """The WebSocket frame name of a message class: `card_played`."""
    return _FRAME_NAMES.get(cls) or CE_TYPES[cls].split(".")[1]
