"""A table, as the union of its phases.

Unopened → Seating → Starting → BetweenHands → Dealing → Playing → BetweenHands → … → Ended.
`Unreadable` replaces a running phase whose sealed cards cannot be read again.
"""

from typing import Final

import msgspec
from msgspec.structs import replace

from spades_events.clock import TimedOut
from spades_events.events import TableOpened
from spades_events.values import DeadlineKind, TurnKind
from spades_rules import NO_SEED, Auction, AwaitingDeal, Play, Rules, Ruleset, Swap
from spades_table.house import House
from spades_table.seats import Chairs, Occupants

NO_SEED_HEX: Final = NO_SEED.hex()
NO_MISSES: Final = (0, 0, 0, 0)

Misses = tuple[int, int, int, int]
OpenedSeeds = tuple[str | None, str | None, str | None, str | None]


class Deadline(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The table's earliest deadline; `id` is the version of the event that set it."""

    id: int
    due_ms: int
    kind: DeadlineKind

    def counts(self, timeout: TimedOut, now_ms: int) -> bool:
        """Whether a timeout is of this deadline, and due by the table's own clock."""
        return timeout.deadline_id == self.id and timeout.due_ms == self.due_ms and self.due_ms <= now_ms


class Setup(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What never changes once a table is open."""

    def __repr__(self) -> str:
        # The root is every hand of the game: no log and no error text may hold it.
        return f"<Setup of {self.table_id}>"

    table_id: str
    house: House
    opened: TableOpened
    rules: Rules
    ruleset: Ruleset
    root: bytes | None
    """Root of the deal chain; None where its seal cannot be opened, and no card can be dealt."""


class Seeds(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The four seeds of the whole game, in hexadecimal, and whose are missing."""

    seeds: tuple[str, str, str, str]
    missing: tuple[bool, bool, bool, bool]

    def as_bytes(self) -> tuple[bytes, bytes, bytes, bytes]:
        first, second, third, fourth = self.seeds
        return (
            bytes.fromhex(first),
            bytes.fromhex(second),
            bytes.fromhex(third),
            bytes.fromhex(fourth),
        )


class Turn(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One expected move; `autoplayed` once the table has begun to play it itself."""

    turn_id: str
    seat: int
    kind: TurnKind
    deadline_ms: int | None
    computer_speed: bool
    autoplayed: bool = False


# Tables hold no cycles, and five thousand of them need not be looked at by every collection.
class _Phase(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    version: int

    def __repr__(self) -> str:
        # Hands, seeds and the chain stay out of every log and error text.
        return f"<{type(self).__name__} at version {self.version}>"


class Unopened(_Phase, frozen=True, kw_only=True, gc=False):
    """A table id that nobody has opened yet."""

    table_id: str
    house: House
    version: int = 0
    deadline: None = None


class Seating(_Phase, frozen=True, kw_only=True, gc=False):
    """Seats are asked for, paid, taken and given up."""

    setup: Setup
    deadline: Deadline | None
    chairs: Chairs
    reservations: int
    """How many were made so far; the next one's number in its id."""
    closing_ms: int | None
    """When the table closes unless it is full; None until the first deadline is set."""


class OpeningSeeds(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Browsers open their seeds; nobody else sees one before all are fixed."""

    opened: OpenedSeeds

    def __repr__(self) -> str:
        return "<OpeningSeeds>"


class Starting(_Phase, frozen=True, kw_only=True, gc=False):
    """All seats are locked; seeds and captured stakes come in either order."""

    setup: Setup
    deadline: Deadline | None
    occupants: Occupants
    seeding: OpeningSeeds | Seeds
    captured: bool
    """Whether all stakes are in the pot; true from the start where there are none."""
    seeds_due_ms: int
    start_due_ms: int


class BetweenHands(_Phase, frozen=True, kw_only=True, gc=False):
    """The score sheet is up, which `ready` seats have seen; also the moment before hand 1."""

    setup: Setup
    deadline: Deadline | None
    occupants: Occupants
    seeds: Seeds
    game: AwaitingDeal
    ready: tuple[int, ...]


class Dealing(_Phase, frozen=True, kw_only=True, gc=False):
    """A hand is committed and not yet dealt: only inside a commit, and in snapshots."""

    setup: Setup
    deadline: Deadline | None
    occupants: Occupants
    seeds: Seeds
    game: AwaitingDeal
    dealer: int
    fingerprint: str


class Playing(_Phase, frozen=True, kw_only=True, gc=False):
    """A hand from the deal to its score."""

    setup: Setup
    deadline: Deadline | None
    occupants: Occupants
    seeds: Seeds
    game: Auction | Swap | Play
    fingerprint: str
    turns: int
    """How many turns were issued in this hand; the running one's number in its id."""
    turn: Turn | None
    """The last turn issued; None only inside the commit that deals."""
    misses: Misses


class Unreadable(_Phase, frozen=True, kw_only=True, gc=False):
    """A running game whose cards cannot be read again; all that is left is to cancel it."""

    setup: Setup
    deadline: Deadline | None
    occupants: Occupants
    seeds: Seeds
    scores: tuple[int, int]
    bags: tuple[int, int]
    hand_no: int


class Ended(_Phase, frozen=True, kw_only=True, gc=False):
    """Over. `settled` once the wallet has paid, or where there is nothing to pay."""

    setup: Setup
    deadline: Deadline | None
    chairs: Chairs
    seeds: Seeds | None
    """None where the table closed before its seeds were fixed."""
    scores: tuple[int, int]
    bags: tuple[int, int]
    hands: int
    winner: int | None
    reason: str
    settled: bool


Opened = Seating | Starting | BetweenHands | Dealing | Playing | Unreadable | Ended
Table = Unopened | Opened


def one_version_on(table: Table) -> Table:
    """The table after a fact that changes nothing else."""
    return replace(table, version=table.version + 1)


def chairs_of(table: Opened) -> Chairs:
    """Who sits, or has asked to, at a table in any phase."""
    return table.chairs if isinstance(table, Seating | Ended) else table.occupants
