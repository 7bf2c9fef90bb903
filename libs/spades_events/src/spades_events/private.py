"""Records for the gateway (`table.private`, kept an hour) and for bots (`table.prompts`).

They hold a seat's own cards, so nobody but the gateway and the bot service reads these topics.
Presence and table talk go from gateway to gateway: unnumbered, and never in `table.events`.
"""

import msgspec

from spades_events.events import Team
from spades_events.values import BidValue, CardName, RulesetChoice, SeatHolder, SeatNo, TableKind, TurnKind


class Supplement(msgspec.Struct, frozen=True, kw_only=True):
    """What one seat alone may see of the event of the same version."""

    seat: SeatNo
    cards: tuple[CardName, ...] | None = None
    """Own hand (HandDealt, CardsSeen) or the cards passed (CardsPassed)."""
    legal_cards: tuple[CardName, ...] | None = None
    legal_bids: tuple[BidValue, ...] | None = None
    blind_nil_open: bool | None = None


class Rejection(msgspec.Struct, frozen=True, kw_only=True):
    """Why a command was refused: a slug, words, and what a client needs to explain it."""

    code: str
    message: str
    suit_led: str | None = None
    legal_cards: tuple[CardName, ...] | None = None
    needed_coins: int | None = None
    available_coins: int | None = None
    price_coins: int | None = None
    field: str | None = None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a command got. Accepted: its events stand at versions `first_version` to `last_version`."""

    command_id: str
    account_id: str
    first_version: int | None = None
    last_version: int | None = None
    rejection: Rejection | None = None


class RunningTurn(msgspec.Struct, frozen=True, kw_only=True):
    """The turn that runs. `deadline_ms` is absolute Unix time, None where it is untimed."""

    turn_id: str
    seat: SeatNo
    kind: TurnKind
    deadline_ms: int | None
    computer_speed: bool


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A table as one seat (or a watcher) sees it at `version`; a viewer goes on with version + 1.

    `view` is `spades_rules.View` as JSON once a hand is dealt, else null.
    """

    table_id: str
    version: int
    connection_id: str | None
    seat: SeatNo | None
    account_id: str | None
    server_ms: int
    kind: TableKind
    ruleset: RulesetChoice
    rules_version: int
    stake_coins: int
    fee_coins: int
    clock_ms: int | None
    host: str
    anchor: str
    phase: str
    """seating | starting | playing | between_hands | ended"""
    seats: tuple[SeatHolder | None, SeatHolder | None, SeatHolder | None, SeatHolder | None]
    reserved: tuple[SeatNo, ...]
    seeds: tuple[str, str, str, str] | None
    seed_missing: tuple[bool, bool, bool, bool] | None
    hand_no: int
    fingerprint: str | None
    scores: tuple[int, int]
    bags: tuple[int, int]
    turn: RunningTurn | None
    view: msgspec.Raw
    ready: tuple[SeatNo, ...]
    next_deadline_ms: int | None
    """When the running wait (seats, seeds, start, next hand) ends by itself; not the turn's."""
    winner: Team | None
    end_reason: str | None
    settled: bool


class PlayerDisconnected(msgspec.Struct, frozen=True, kw_only=True):
    """A seated person's connection ended, and no newer one of theirs watches the table; the game goes on."""

    account_id: str
    seat: SeatNo
    connection_id: str


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """Table talk of a seated person, to those who sit there: a phrase by its name, or free text between hands."""

    account_id: str
    seat: SeatNo
    phrase: str | None = None
    text: str | None = None


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A bot seat's turn with all that the seat sees (`spades_rules.View` as JSON). Stateless: it is the whole input."""

    table_id: str
    turn_id: str
    hand_no: int
    seat: SeatNo
    kind: TurnKind
    view: msgspec.Raw
