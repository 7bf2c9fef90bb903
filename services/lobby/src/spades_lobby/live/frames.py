"""The frames of `spades.v1`: what a client may say, typed and strict, and what it is told.

BadFrame            the frame is none of ours; the connection lives
"""

from typing import Annotated, Any, Final

import msgspec

from spades_events import BidValue, CardName, SeatNo, commands
from spades_events.private import Rejection
from spades_events.values import Coins, HandNo, Hex32, Id

SUBPROTOCOL: Final = "spades.v1"

# `$` alone would let a line feed pass.
CommandId = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_.:-]{1,80}$(?!\n)", max_length=80)]
TableId = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", max_length=36)]
TABLE_ID_PATTERN: Final = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
Version = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]


class BadFrame(Exception):
    """Not one of the frames below. `command_id` where the frame names one that can be answered."""

    def __init__(self, code: str, message: str, command_id: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.command_id = command_id


class ClientFrame(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"):
    """Any frame of a client."""


class Hello(ClientFrame, tag="hello", frozen=True, kw_only=True):
    ticket: Annotated[str, msgspec.Meta(max_length=100)]
    id: CommandId | None = None


class Watch(ClientFrame, tag="watch", frozen=True, kw_only=True):
    """Look at a table; `last_seq` is what the client has already."""

    table_id: TableId
    last_seq: Version | None = None
    id: CommandId | None = None


class Resync(ClientFrame, tag="resync", frozen=True, kw_only=True):
    id: CommandId | None = None


class Say(ClientFrame, tag="say", frozen=True, kw_only=True):
    """Table talk: a preset phrase, or between hands a line of text; to those who sit there, from one of them."""

    id: CommandId
    phrase: Annotated[str, msgspec.Meta(max_length=40)] | None = None
    text: Annotated[str, msgspec.Meta(max_length=400)] | None = None


class Mute(ClientFrame, tag="mute", frozen=True, kw_only=True):
    """Hear this person no more, at any table; `muted` false hears them again."""

    id: CommandId
    account_id: Id
    muted: bool = True


class Report(ClientFrame, tag="report", frozen=True, kw_only=True):
    """Tell the operators of somebody at this table; what they said last goes with it."""

    id: CommandId
    account_id: Id
    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=200, pattern="^[^\\x00-\\x1f]+$")]


class Rematch(ClientFrame, tag="rematch", frozen=True, kw_only=True):
    """Meet again at a new table as the ended one; of whoever of its players asks, all get the same.

    `table_id` is the ended one; without it the one that was watched last.
    """

    id: CommandId
    table_id: TableId | None = None


class Ping(ClientFrame, tag="ping", frozen=True, kw_only=True):
    client_ms: Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)] | float | None = None
    id: CommandId | None = None


class CommandFrame(ClientFrame, frozen=True, kw_only=True):
    """A command to the table that is being watched; the same id twice is one effect."""

    id: CommandId
    table_id: TableId | None = None

    def command(self) -> commands.TableCommand:
        """The command that goes to the table."""
        raise NotImplementedError


class TakeSeat(CommandFrame, tag="take_seat", frozen=True, kw_only=True):
    seat: SeatNo | None = None
    seed_commit: Hex32 | None = None

    def command(self) -> commands.TableCommand:
        return commands.TakeSeat(seat=self.seat, seed_commit=self.seed_commit)


class ReleaseSeat(CommandFrame, tag="release_seat", frozen=True, kw_only=True):
    def command(self) -> commands.TableCommand:
        return commands.ReleaseSeat()


class Start(CommandFrame, tag="start", frozen=True, kw_only=True):
    def command(self) -> commands.TableCommand:
        return commands.StartGame()


class OpenSeed(CommandFrame, tag="open_seed", frozen=True, kw_only=True):
    seed: Hex32

    def command(self) -> commands.TableCommand:
        return commands.OpenSeed(seed=self.seed)


class Leave(CommandFrame, tag="leave", frozen=True, kw_only=True):
    """Leave the running game. Without its right price the answer names it, and nothing happens."""

    confirm_price: Coins = 0

    def command(self) -> commands.TableCommand:
        return commands.LeaveGame(confirm_price_coins=self.confirm_price)


class Ready(CommandFrame, tag="ready", frozen=True, kw_only=True):
    def command(self) -> commands.TableCommand:
        return commands.ReadyForNextHand()


class LookAtCards(CommandFrame, tag="look_at_cards", frozen=True, kw_only=True):
    hand_no: HandNo

    def command(self) -> commands.TableCommand:
        return commands.LookAtCards(hand_no=self.hand_no)


class Bid(CommandFrame, tag="bid", frozen=True, kw_only=True):
    turn_id: Id
    bid: BidValue

    def command(self) -> commands.TableCommand:
        return commands.PlaceBid(turn_id=self.turn_id, bid=self.bid)


class PassCards(CommandFrame, tag="pass_cards", frozen=True, kw_only=True):
    turn_id: Id
    cards: tuple[CardName, CardName]

    def command(self) -> commands.TableCommand:
        return commands.PassCards(turn_id=self.turn_id, cards=self.cards)


class PlayCard(CommandFrame, tag="play_card", frozen=True, kw_only=True):
    turn_id: Id
    card: CardName

    def command(self) -> commands.TableCommand:
        return commands.PlayCard(turn_id=self.turn_id, card=self.card)


AnyFrame = (
    Hello
    | Watch
    | Resync
    | Ping
    | Say
    | Mute
    | Report
    | Rematch
    | TakeSeat
    | ReleaseSeat
    | Start
    | OpenSeed
    | Leave
    | Ready
    | LookAtCards
    | Bid
    | PassCards
    | PlayCard
)

CLIENT_TYPES: Final = (
    *("hello", "watch", "resync", "ping", "say", "mute", "report", "rematch"),
    *("take_seat", "release_seat", "start", "open_seed", "leave", "ready"),
    *("look_at_cards", "bid", "pass_cards", "play_card"),
)


class _Named(msgspec.Struct):
    """As much of a frame as it takes to answer one that is not right."""

    type: str
    id: CommandId | None = None


_decoder: Final = msgspec.json.Decoder[AnyFrame](AnyFrame)
_decode_named: Final = msgspec.json.Decoder(_Named).decode
_encode: Final = msgspec.json.encode


def decode(text: str) -> AnyFrame:
    """Return the client's frame. Raises BadFrame, saying what is wrong without quoting it."""
    try:
        return _decoder.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        raise _bad_frame(text, error) from None


def command_id_of(text: str | None) -> str | None:
    """The id of a frame that is not obeyed, where it has one."""
    try:
        return _decode_named(text or "").id
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None


def _bad_frame(text: str, error: Exception) -> BadFrame:
    if not isinstance(error, msgspec.ValidationError):
        return BadFrame("malformed", "The frame is not JSON.")
    try:
        named = _decode_named(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return BadFrame("malformed", f"The frame is not right: {_words(error)}.")
    if named.type not in CLIENT_TYPES:
        return BadFrame("unknown_type", "There is no frame of this type.", named.id)
    return BadFrame("malformed", f"The frame is not right: {_words(error)}.", named.id)


def _words(error: Exception) -> str:
    # A wrong value is quoted only in the first pair of quotes; fields stand in back quotes.
    before, quote, rest = str(error).partition("'")
    return (before + rest.partition("'")[2].strip() if quote else before)[:200].strip()


def error_frame(code: str, message: str, command_id: str | None = None, **more: Any) -> bytes:
    return _encode({"type": "error", "code": code, "message": message, **_id(command_id), **more})


def rejected_frame(command_id: str, code: str, message: str, **more: Any) -> bytes:
    return _encode({"type": "command_rejected", "id": command_id, "code": code, "message": message, **more})


def rejection_frame(command_id: str, rejection: Rejection) -> bytes:
    """What the table said to a command, without the fields that say nothing."""
    fields = msgspec.to_builtins(rejection)
    told = {name: value for name, value in fields.items() if value is not None}
    return _encode({"type": "command_rejected", "id": command_id, **told})


def ack_frame(command_id: str, first_seq: int | None, last_seq: int | None, **more: Any) -> bytes:
    return _encode({"type": "ack", "id": command_id, "first_seq": first_seq, "last_seq": last_seq, **more})


def welcome_frame(account_id: str, name: str, *, guest: bool, server_ms: int) -> bytes:
    return _encode(
        {
            "type": "welcome",
            "account_id": account_id,
            "name": name,
            "guest": guest,
            "server_ms": server_ms,
        }
    )


def pong_frame(client_ms: float | None, server_ms: int) -> bytes:
    return _encode({"type": "pong", "client_ms": client_ms, "server_ms": server_ms})


def presence_frame(kind: str, account_id: str, seat: int) -> bytes:
    return _encode({"type": kind, "account_id": account_id, "seat": seat})


def said_frame(account_id: str, seat: int, phrase: str | None, text: str) -> bytes:
    return _encode({"type": "said", "account_id": account_id, "seat": seat, "phrase": phrase, "text": text})


def plain_frame(kind: str) -> bytes:
    return _encode({"type": kind})


def spliced(kind: bytes, seq: int, body: bytes) -> bytes:
    """A frame around a JSON object that stays as it is, without its closing brace.

    Whoever sends it adds what one viewer alone gets, and the brace.
    """
    assert body[:1] == b"{"
    assert body[-1:] == b"}"
    inner = body[1:-1]
    head = b'{"type":"%b","seq":%d' % (kind, seq)
    return b"%b,%b" % (head, inner) if inner else head


def _id(command_id: str | None) -> dict[str, str]:
    return {} if command_id is None else {"id": command_id}
