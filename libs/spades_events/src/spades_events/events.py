"""Events of a table (`table.events`, key: table id): public facts only, past tense, complete.

What only some seats may see of an event goes to `table.private` as a supplement of the same
version (`spades_events.private`). Every field here may be read by anybody, for ever.
"""

import msgspec

from spades_events.values import (
    BidValue,
    CardName,
    Coins,
    DeadlineKind,
    Hex32,
    RulesetChoice,
    SeatHolder,
    SeatNo,
    TableKind,
    TurnKind,
)

Team = int
"""0 = seats 0 and 2, 1 = seats 1 and 3."""


class TableEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One fact of one table; its version is the position in the stream, from 1."""


class TableOpened(TableEvent, frozen=True, kw_only=True):
    """The first event of every table: its terms, and the anchor of its deals."""

    kind: TableKind
    ruleset: RulesetChoice
    rules_version: int
    stake_coins: Coins
    fee_coins: Coins
    """The leaving fee and so the deposit: 10 % of the stake, rounded up to a whole coin."""
    clock_ms: int | None
    """Turn limit; None = untimed."""
    host: str
    bots_welcome: bool
    anchor: Hex32
    """S[0] of the deal chain, published before any seat is taken."""


class SeatReserved(TableEvent, frozen=True, kw_only=True):
    """A coin seat asked for and not yet paid; the wallet answers with a hold or a refusal."""

    reservation_id: str
    seat: SeatNo
    account_id: str
    seed_commit: Hex32 | None
    stake_coins: Coins
    deposit_coins: Coins
    due_ms: int


class SeatTaken(TableEvent, frozen=True, kw_only=True):
    """Somebody has the seat from here on; `reservation_id` is the hold that paid for it."""

    holder: SeatHolder
    reservation_id: str | None = None
    replaces: str | None = None
    """The account whose seat a bot takes over."""


class SeatRefused(TableEvent, frozen=True, kw_only=True):
    """A reservation that failed; `needed_coins` and `available_coins` where money was the reason."""

    reservation_id: str
    seat: SeatNo
    account_id: str
    code: str
    needed_coins: Coins | None = None
    available_coins: Coins | None = None


class SeatReleased(TableEvent, frozen=True, kw_only=True):
    """A seat or reservation given up before the game; the wallet returns what it held."""

    seat: SeatNo
    account_id: str
    reservation_id: str | None


class SeatsLocked(TableEvent, frozen=True, kw_only=True):
    """All four seats are taken: browsers open their seeds, the wallet captures the holds."""

    seats: tuple[SeatHolder, SeatHolder, SeatHolder, SeatHolder]
    stake_coins: Coins
    seeds_due_ms: int
    start_due_ms: int


class SeedOpened(TableEvent, frozen=True, kw_only=True):
    """A seat has opened its seed; which one, all learn together when the seeds are fixed."""

    seat: SeatNo


class StakesCaptured(TableEvent, frozen=True, kw_only=True):
    """The wallet has put all stakes of the game into the pot."""

    pot_coins: Coins


class SeedsFixed(TableEvent, frozen=True, kw_only=True):
    """The four seeds of the whole game, all published together; bots and missing ones are zeros."""

    seeds: tuple[Hex32, Hex32, Hex32, Hex32]
    seed_missing: tuple[bool, bool, bool, bool]


class GameStarted(TableEvent, frozen=True, kw_only=True):
    """Seats and seeds are fixed, and at a coin table the stakes are in the pot: hands follow."""

    seats: tuple[SeatHolder, SeatHolder, SeatHolder, SeatHolder]


class HandCommitted(TableEvent, frozen=True, kw_only=True):
    """The fingerprint of a hand, before a card of it is dealt."""

    hand_no: int
    fingerprint: Hex32
    dealer: SeatNo
    deck_id: int


class HandDealt(TableEvent, frozen=True, kw_only=True):
    """Thirteen cards each; `face_down` names the seats that may still bid Blind Nil."""

    hand_no: int
    dealer: SeatNo
    face_down: tuple[SeatNo, ...]


class CardsSeen(TableEvent, frozen=True, kw_only=True):
    """A seat turned its face-down cards up: Blind Nil is closed to it."""

    seat: SeatNo


class TurnStarted(TableEvent, frozen=True, kw_only=True):
    """One expected move. `deadline_ms` is absolute Unix time, None where the turn is untimed."""

    turn_id: str
    hand_no: int
    seat: SeatNo
    kind: TurnKind
    deadline_ms: int | None
    server_ms: int
    computer_speed: bool = False


class BidMade(TableEvent, frozen=True, kw_only=True):
    """One bid of the auction; the fourth closes it."""

    turn_id: str
    seat: SeatNo
    bid: BidValue


class CardsPassed(TableEvent, frozen=True, kw_only=True):
    """Two cards of a swap; which ones only the two partners learn."""

    turn_id: str
    from_seat: SeatNo
    to_seat: SeatNo
    count: int


class CardPlayed(TableEvent, frozen=True, kw_only=True):
    """One card of the running trick."""

    turn_id: str
    seat: SeatNo
    card: CardName


class SpadesBroken(TableEvent, frozen=True, kw_only=True):
    """Spades may be led from here to the end of the hand."""


class TrickTaken(TableEvent, frozen=True, kw_only=True):
    """`cards` in the order played, from the leader on."""

    trick_no: int
    leader: SeatNo
    winner: SeatNo
    cards: tuple[CardName, CardName, CardName, CardName]


class ScoreLine(msgspec.Struct, frozen=True, kw_only=True):
    """One item of a score sheet: the rule's slug, the seat where it is one seat's, the points."""

    rule: str
    points: int
    seat: SeatNo | None = None
    count: int | None = None
    """What the points stand for: tricks bid, bags, tens of bags."""


class TeamScore(msgspec.Struct, frozen=True, kw_only=True):
    contract: int
    tricks: int
    lines: tuple[ScoreLine, ...]
    delta: int
    score: int
    bags: int
    bag_penalties: int


class HandScored(TableEvent, frozen=True, kw_only=True):
    """The score sheet of a hand, its parts and both sums."""

    hand_no: int
    bids: tuple[BidValue, BidValue, BidValue, BidValue]
    tricks: tuple[int, int, int, int]
    teams: tuple[TeamScore, TeamScore]


class Swap(msgspec.Struct, frozen=True, kw_only=True):
    """One Blind Nil swap, revealed at the hand's end."""

    bidder: SeatNo
    passed: tuple[CardName, ...]
    returned: tuple[CardName, ...]


class DealRevealed(TableEvent, frozen=True, kw_only=True):
    """The secret of a finished or voided hand: from here anybody can deal it again."""

    hand_no: int
    secret: Hex32
    dealer: SeatNo
    deck_id: int
    swaps: tuple[Swap, ...]


class DealUnreadable(TableEvent, frozen=True, kw_only=True):
    """The sealed chain could not be opened under a present key; the game is cancelled with refunds."""

    hand_no: int


class SeatAutoplayed(TableEvent, frozen=True, kw_only=True):
    """The table played for a seat whose time ran out; `misses` in a row, computer speed from the third."""

    turn_id: str
    seat: SeatNo
    misses: int
    computer_speed: bool


class SeatReady(TableEvent, frozen=True, kw_only=True):
    """A seat has seen the score sheet and waits for the next hand."""

    seat: SeatNo


class SeatForfeited(TableEvent, frozen=True, kw_only=True):
    """A person left a running game: the fee is due, the stake stays in the pot."""

    seat: SeatNo
    account_id: str
    stake_coins: Coins
    fee_coins: Coins


class DeadlineSet(TableEvent, frozen=True, kw_only=True):
    """The table's earliest deadline; None when none runs. It replaces the one before."""

    deadline_id: int | None
    due_ms: int | None
    kind: DeadlineKind | None


class ClockExtended(TableEvent, frozen=True, kw_only=True):
    """Time of an outage given back; counts as a `DeadlineSet`. `turn_deadline_ms` is the running turn's new one."""

    outage_ms: int
    deadline_id: int | None
    due_ms: int | None
    kind: DeadlineKind | None
    turn_id: str | None
    turn_deadline_ms: int | None


class SeatResult(msgspec.Struct, frozen=True, kw_only=True):
    """One seat at the end, as the wallet settles it: `leaver` is the person who forfeited it, if any."""

    seat: SeatNo
    account_id: str
    reservation_id: str | None
    """The hold that paid for this seat (the leaver's where one left); None for a house stake or no coins."""
    leaver: str | None = None


class TableCancelled(TableEvent, frozen=True, kw_only=True):
    """Ended without a winner by the server: those who stayed get everything back."""

    reason: str
    stake_coins: Coins
    seats: tuple[SeatResult, ...]


class GameEnded(TableEvent, frozen=True, kw_only=True):
    """`winner` is a team, or None when abandoned (all people left) or drawn; this one event settles the game."""

    winner: Team | None
    reason: str
    """target | floor | hand_limit | draw | abandoned"""
    scores: tuple[int, int]
    hands: int
    stake_coins: Coins
    seats: tuple[SeatResult, SeatResult, SeatResult, SeatResult]


class Payout(msgspec.Struct, frozen=True, kw_only=True):
    """The net of one account over the whole game, in coins: `house`, `fees` or an account id."""

    account_id: str
    net_coins: int


class GameSettled(TableEvent, frozen=True, kw_only=True):
    """The wallet has paid; the last event of a coin table."""

    payouts: tuple[Payout, ...]
