"""Starting: all seats are locked; seeds and captured stakes come, then the game begins."""

from typing import cast

import spades_rules as rules
from spades_events import events, wallet
from spades_events.commands import OpenSeed
from spades_table.dealing import deal_next
from spades_table.draft import Draft, waits
from spades_table.phases import (
    NO_SEED_HEX,
    Ended,
    OpenedSeeds,
    OpeningSeeds,
    Seating,
    Seeds,
    Starting,
    Unopened,
)
from spades_table.refusals import refused
from spades_table.seats import SEATS, Bot, Occupants, Person, holders, seat_of

_Seeds = tuple[str, str, str, str]
_Missing = tuple[bool, bool, bool, bool]


def begin_starting(draft: Draft) -> None:
    """Lock the seats; where no seed is promised and nothing is staked, the game begins at once."""
    table = draft.at(Seating)
    limits = table.setup.house.limits
    draft.tell(
        events.SeatsLocked(
            seats=holders(cast(Occupants, table.chairs)),
            stake_coins=table.setup.opened.stake_coins,
            seeds_due_ms=draft.now_ms + limits.seeds_ms,
            start_due_ms=draft.now_ms + limits.start_ms,
        )
    )
    go_on_starting(draft)


def go_on_starting(draft: Draft) -> None:
    """Fix the seeds once no seat owes one; begin once they are fixed and the stakes are in."""
    table = draft.at(Starting)
    if isinstance(table.seeding, OpeningSeeds) and not _owing(table, table.seeding):
        fix_seeds(draft)
        table = draft.at(Starting)
    if isinstance(table.seeding, Seeds) and table.captured:
        draft.tell(events.GameStarted(seats=holders(table.occupants)))
        deal_next(draft)
    else:
        due_ms, kind = waits(table)[0]
        draft.keep_deadline(due_ms, kind)


def _owing(table: Starting, seeding: OpeningSeeds) -> list[int]:
    """The seats that promised a seed and have not opened it."""
    return [seat for seat in SEATS if _owes(table, seeding.opened, seat)]


def _owes(table: Starting, opened: OpenedSeeds, seat: int) -> bool:
    occupant = table.occupants[seat]
    promised = isinstance(occupant, Person) and occupant.seed_commit is not None
    return promised and opened[seat] is None


def fix_seeds(draft: Draft) -> None:
    """Publish all four seeds together; what is missing is zeros, and said so."""
    table = draft.at(Starting)
    assert isinstance(table.seeding, OpeningSeeds)
    opened = table.seeding.opened
    missing = [opened[seat] is None and isinstance(table.occupants[seat], Person) for seat in SEATS]
    draft.tell(
        events.SeedsFixed(
            seeds=cast(_Seeds, tuple([seed or NO_SEED_HEX for seed in opened])),
            seed_missing=cast(_Missing, tuple(missing)),
        )
    )


def open_seed(draft: Draft, account_id: str, command: OpenSeed) -> None:
    """Open the seed that a seat promised."""
    table = draft.table
    match table:
        case Unopened() | Seating():
            raise refused("not_started", "Seeds are opened once all seats are locked.")
        case Ended():
            raise refused("game_over")
        case Starting(occupants=occupants, seeding=OpeningSeeds(opened=opened)):
            pass
        case _:
            raise refused("wrong_phase", "The seeds are fixed.")
    seat = seat_of(occupants, account_id)
    if seat is None:
        raise refused("not_seated")
    occupant = occupants[seat]
    assert not isinstance(occupant, Bot)
    if occupant.seed_commit is None:
        raise refused("seed_missing")
    if opened[seat] is not None:
        raise refused("wrong_phase", "Your seed is open already.")
    seed = bytes.fromhex(command.seed)
    if rules.seed_commit(seed).hex() != occupant.seed_commit:
        raise refused("seed_mismatch")
    draft.tell(events.SeedOpened(seat=seat), secret=seed)
    go_on_starting(draft)


def holds_captured(draft: Draft, news: wallet.HoldsCaptured) -> None:
    """All stakes are in the pot. Too late, or once more: no effect."""
    table = draft.table
    if not isinstance(table, Starting) or table.captured:
        return
    draft.tell(events.StakesCaptured(pot_coins=news.pot_coins))
    go_on_starting(draft)


def seeds_overdue(draft: Draft) -> None:
    fix_seeds(draft)
    go_on_starting(draft)
