"""What requests hold and answers look like; the OpenAPI document is made from these."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from spades_lobby.people.names import RAW_LENGTH_MAX
from spades_lobby.people.passwords import LENGTH_MAX, LENGTH_MIN
from spades_lobby.people.recovery import RAW_LENGTH_MAX as CODE_LENGTH_MAX

MAX_COINS = 2**53 - 1

Name = Annotated[str, Field(max_length=RAW_LENGTH_MAX, examples=["Ada"])]
OldPassword = Annotated[str, Field(max_length=LENGTH_MAX, examples=["correct horse battery"])]
Password = Annotated[str, Field(min_length=LENGTH_MIN, max_length=LENGTH_MAX, examples=["correct horse battery"])]
OptionValue = Annotated[int, Field(ge=-(2**31), le=2**31)] | bool | None
Hex32 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", max_length=64)]


class Body(BaseModel):
    """A request's body: no type is bent into another, no field is overlooked."""

    model_config = ConfigDict(strict=True, extra="forbid", use_attribute_docstrings=True)

    @field_validator("*")
    @classmethod
    def _holds_no_nul(cls, value: Any) -> Any:
        # PostgreSQL keeps no NUL in a text: it would fail there as if the database were broken.
        if isinstance(value, str) and "\0" in value:
            raise ValueError("a text holds no NUL")
        return value


class NewSession(Body):
    """A guest (`guest`: true, a name if they like) or a log-in (name and password)."""

    guest: bool = False
    name: Name | None = None
    password: OldPassword | None = None
    token: bool = False
    """Also return the token, for programs that send it as `Authorization: Bearer`."""


class NewAccount(Body):
    name: Name
    password: Password
    token: bool = False


class NewPassword(Body):
    password: OldPassword
    """The one so far."""
    new_password: Password


class PasswordCheck(Body):
    password: OldPassword


class Recovery(Body):
    name: Name
    recovery_code: Annotated[
        str, Field(min_length=1, max_length=CODE_LENGTH_MAX, examples=["7K3M-QX9R-TB4H-2WFD-N8PC-5VJG-6LYZ"])
    ]
    new_password: Password
    token: bool = False


class NewToken(Body):
    label: Annotated[str, Field(pattern=r"^[A-Za-z0-9 ._-]{1,40}$", max_length=40, examples=["my statistics"])]
    """Its owner's word for it."""
    scope: Annotated[Literal["read", "bot", "play"], Field(examples=["read"])]
    """`read` sees; `bot` also plays where there are no coins; `play` also plays for coins and talks."""
    expires_days: Annotated[int, Field(ge=1, le=3_650, examples=[90])] | None = None
    """Without it the token works until it is revoked."""


class Deletion(Body):
    password: OldPassword | None = None
    """Not needed of a guest."""


class Rename(Body):
    name: Name


# As wide as the command's contract: what the table cannot read it never answers.
OptionName = Annotated[str, Field(min_length=1, max_length=40)]


class Ruleset(Body):
    name: Annotated[OptionName, Field(examples=["deniro"])]
    options: Annotated[dict[OptionName, OptionValue], Field(max_length=16)] = {}


class NewTable(Body):
    kind: Literal["practice", "coins", "online", "private"]
    ruleset: Ruleset
    stake_coins: Annotated[int, Field(ge=0, le=MAX_COINS, examples=[100])] = 0
    clock_ms: Annotated[int, Field(ge=1, le=3_600_000)] | None = None
    bots_welcome: bool = False


class NewSeat(Body):
    seed_commit: Hex32 | None = None
    """SHA-256 of the seed that the player's program will open; leave it out to bring none."""


class NewQueueing(Body):
    """What one waits for: a game of this ruleset at this stake."""

    ruleset: Annotated[str, Field(max_length=40, examples=["deniro"])]
    """A rule set as it is published: choices of a host would split the queue."""
    stake_coins: Annotated[int, Field(ge=1, le=MAX_COINS, examples=[100])]
    seed_commit: Hex32 | None = None
    bots_accepted: bool = False
    """Once bots are offered: play with those who wait, computers in the empty seats."""


class InviteCode(Body):
    code: Annotated[str, Field(min_length=1, max_length=40, examples=["K7M2QX9RTB4H"])]


class View(BaseModel):
    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class Me(View):
    account_id: str
    name: str
    guest: bool


class Session(Me):
    token: str | None = None


class Account(Session):
    wallet: Literal["open", "opening"]
    """`opening`: the wallet has not answered yet; it opens by itself."""
    available_coins: int | None = None
    recovery_code: Annotated[str, Field(examples=["7K3M-QX9R-TB4H-2WFD-N8PC-5VJG-6LYZ"])]
    """Shown once: the only way to a new password for who has lost the old one."""


class RecoveryCode(View):
    recovery_code: Annotated[str, Field(examples=["7K3M-QX9R-TB4H-2WFD-N8PC-5VJG-6LYZ"])]


class Recovered(Session):
    recovery_code: Annotated[str, Field(examples=["7K3M-QX9R-TB4H-2WFD-N8PC-5VJG-6LYZ"])]
    """The next one; the one that was sent is used up."""


class TokenView(View):
    token_id: Annotated[str, Field(examples=["0b1f7a52-6f1c-4c1e-9a50-4f4f3c8a2d11"])]
    label: Annotated[str, Field(examples=["my statistics"])]
    scope: Annotated[Literal["read", "bot", "play"], Field(examples=["read"])]
    created_ms: int
    expires_ms: int | None


class MadeToken(TokenView):
    token: str
    """Shown once."""


class TokenList(View):
    tokens: list[TokenView]


class Ticket(View):
    ticket: str
    expires_ms: int
    """How long it lasts."""
    path: str = "/v1/ws"


class RulesetView(View):
    name: str
    options: dict[str, Any]
    missed_trick_points: int
    """What every trick bid costs a team that misses its contract."""


class SeatView(View):
    seat: int
    account_id: str | None
    name: str | None
    computer: bool
    free: bool


class Host(View):
    account_id: str
    name: str | None


class TableView(View):
    table_id: str
    partition: int
    kind: str
    ruleset: RulesetView
    stake_coins: int
    needed_coins: int
    """Stake and leaving deposit: what has to be in the wallet to sit down."""
    leaving_price_coins: int
    """What leaving the running game costs: the stake and a tenth of it."""
    clock_ms: int | None
    bots_welcome: bool
    host: Host
    phase: str
    seats: list[SeatView]
    opened_ms: int


class Invite(View):
    table_id: str
    code: str
    """Whoever has it may come in: the same for the table's life."""


class QueueView(View):
    """Where one stands in the queue. `matched`: the seats are being taken; `seated`: watch the table."""

    state: Literal["idle", "waiting", "matched", "seated", "refused"]
    ruleset: str | None = None
    missed_trick_points: int | None = None
    stake_coins: int | None = None
    needed_coins: int | None = None
    waited_ms: int | None = None
    waiting: int = 0
    """How many wait for the same game, oneself with them."""
    bots_offered: bool = False
    """Nobody came for a while: send the same again with `bots_accepted`, or go on waiting."""
    bots_accepted: bool = False
    table_id: str | None = None
    refusal: str | None = None
    """Why the seat was refused, `insufficient_balance` for one."""


class Page(View):
    next: str | None
    """Send it as `cursor` for what comes behind; null at the end."""


class TableList(Page):
    tables: list[TableView]


class Seated(View):
    table_id: str
    seat: int | None
    state: Literal["taken", "reserved"]
    """`reserved`: the wallet's word is still to come, as an event at the table."""
    needed_coins: int
    leaving_price_coins: int


class Done(View):
    table_id: str
    first_seq: int | None
    last_seq: int | None


class WalletView(View):
    available_coins: int
    held_coins: int
    open: bool


class EntryView(View):
    """What one event did to the wallet."""

    entry_no: int
    """The ledger's own number: an event may be several of its rows, so some are skipped."""
    type: str
    subject: str
    """The table, or the account itself."""
    change_coins: int
    """What became of the available coins."""
    net_coins: int
    """What was won or lost, available and held together: -110 where a leaver's stake of 100 and fee of 10 are gone."""
    available_coins: int
    held_coins: int
    at_ms: int


class EntryList(Page):
    entries: list[EntryView]


class TopUp(View):
    amount_coins: int
    available_coins: int


class Payout(View):
    account_id: str
    name: str | None
    net_coins: int


class GameView(TableView):
    version: int
    hands: int
    scores: tuple[int, int]
    bags: tuple[int, int]
    winner: int | None
    """The team: 0 is seats 0 and 2, 1 is seats 1 and 3; null where nobody won."""
    end_reason: str | None
    settled: bool
    payouts: list[Payout]
    leavers: list[str]
    anchor: str
    seeds: list[str] | None
    seed_missing: list[bool] | None
    started_ms: int | None
    ended_ms: int | None


class GameList(Page):
    games: list[GameView]


class TrickView(View):
    leader: int
    cards: list[str]
    """In the order they were played, the leader's first."""
    winner: int


class HandView(View):
    table_id: str
    hand_no: int
    dealer: int
    face_down: list[int]
    """Seats to which Blind Nil was open."""
    bids: list[int | str | None]
    """By seat; null where the bid is still to come."""
    hands: list[list[str]] | None
    """By seat, as dealt; null until the hand is over."""
    tricks: list[TrickView]
    scored: dict[str, Any] | None


class Proof(View):
    """All that it takes to deal a finished hand again."""

    table_id: str
    hand_no: int
    anchor: str
    seeds: list[str]
    seed_missing: list[bool]
    fingerprint: str
    secret: str
    dealer: int
    deck_id: int
    swaps: list[dict[str, Any]]


class ProblemView(View):
    """RFC 9457, with the same slugs as the WebSocket; some codes bring fields of their own."""

    model_config = ConfigDict(extra="allow")

    type: Annotated[str, Field(examples=["urn:spades:problem:table_full"])]
    title: Annotated[str, Field(examples=["Conflict"])]
    status: Annotated[int, Field(examples=[409])]
    detail: Annotated[str, Field(examples=["All seats are taken."])]
    code: Annotated[str, Field(examples=["table_full"])]
    message: Annotated[str, Field(examples=["All seats are taken."])]
    ref: Annotated[str, Field(examples=["1f0c9a6be2d3f475"])]
