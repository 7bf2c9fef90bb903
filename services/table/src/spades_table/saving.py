"""Saving: the state of a table just before a deal, or at its end, as snapshot bytes.

No card is in one: the next hand is dealt again from the sealed root. Other rules or another
form of state make it unreadable, and the table is folded from its events instead.
"""

from collections.abc import Callable
from typing import Final

import msgspec

import spades_rules as rules
from spades_events.events import TableOpened
from spades_rules import AwaitingDeal, Seat
from spades_table.house import House
from spades_table.phases import Deadline, Dealing, Ended, Seeds, Setup
from spades_table.seats import Chairs, Occupants

STATE_SCHEMA: Final = 1
"""Raised with every change of the saved forms below, or of what `evolve` makes of an event."""


class SavedDeal(msgspec.Struct, frozen=True, kw_only=True, tag="deal"):
    """A table whose next event is `HandDealt`."""

    schema: int
    opened: TableOpened
    version: int
    sealed_root: bytes
    deadline: Deadline | None
    occupants: Occupants
    seeds: Seeds
    scores: tuple[int, int]
    bags: tuple[int, int]
    hand_no: int
    due_dealer: int | None
    """The dealer that the game itself knows; None before hand 1."""
    dealer: int
    fingerprint: str


class SavedEnd(msgspec.Struct, frozen=True, kw_only=True, tag="end"):
    """A table that is over."""

    schema: int
    opened: TableOpened
    version: int
    deadline: Deadline | None
    chairs: Chairs
    seeds: Seeds | None
    scores: tuple[int, int]
    bags: tuple[int, int]
    hands: int
    winner: int | None
    reason: str
    settled: bool


class _Stamp(msgspec.Struct, frozen=True):
    schema: int


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(SavedDeal | SavedEnd).decode
_decode_stamp = msgspec.msgpack.Decoder(_Stamp).decode


def save_deal(table: Dealing, sealed_root: bytes) -> bytes:
    """Return the snapshot of a table that is about to be dealt."""
    game = table.game
    return _encode(
        SavedDeal(
            schema=STATE_SCHEMA,
            opened=table.setup.opened,
            version=table.version,
            sealed_root=sealed_root,
            deadline=table.deadline,
            occupants=table.occupants,
            seeds=table.seeds,
            scores=game.scores,
            bags=game.bags,
            hand_no=game.hand_no,
            due_dealer=game.dealer,
            dealer=table.dealer,
            fingerprint=table.fingerprint,
        )
    )


def save_end(table: Ended) -> bytes:
    """Return the last snapshot of a table, from which it is shown and not played."""
    return _encode(
        SavedEnd(
            schema=STATE_SCHEMA,
            opened=table.setup.opened,
            version=table.version,
            deadline=table.deadline,
            chairs=table.chairs,
            seeds=table.seeds,
            scores=table.scores,
            bags=table.bags,
            hands=table.hands,
            winner=table.winner,
            reason=table.reason,
            settled=table.settled,
        )
    )


def restore(
    body: bytes, table_id: str, house: House, open_root: Callable[[bytes], bytes | None]
) -> Dealing | Ended | None:
    """Return the saved table, or None where this code has to fold it from its events.

    `open_root` opens the sealed root; None from it says that it cannot be opened any more.
    """
    try:
        if _decode_stamp(body).schema != STATE_SCHEMA:
            return None
        saved = _decode(body)
    except msgspec.MsgspecError:
        return None
    root = open_root(saved.sealed_root) if isinstance(saved, SavedDeal) else None
    setup = Setup(
        table_id=table_id,
        house=house,
        opened=saved.opened,
        rules=house.rules_of(saved.opened.rules_version),
        ruleset=rules.ruleset_stamped(saved.opened.ruleset.name, saved.opened.ruleset.options),
        root=root,
    )
    return _dealing(saved, setup) if isinstance(saved, SavedDeal) else _ended(saved, setup)


def _dealing(saved: SavedDeal, setup: Setup) -> Dealing:
    dealer = saved.due_dealer
    return Dealing(
        setup=setup,
        version=saved.version,
        deadline=saved.deadline,
        occupants=saved.occupants,
        seeds=saved.seeds,
        game=AwaitingDeal(
            ruleset=setup.ruleset,
            scores=saved.scores,
            bags=saved.bags,
            hand_no=saved.hand_no,
            dealer=None if dealer is None else Seat(dealer),
        ),
        dealer=saved.dealer,
        fingerprint=saved.fingerprint,
    )


def _ended(saved: SavedEnd, setup: Setup) -> Ended:
    return Ended(
        setup=setup,
        version=saved.version,
        deadline=saved.deadline,
        chairs=saved.chairs,
        seeds=saved.seeds,
        scores=saved.scores,
        bags=saved.bags,
        hands=saved.hands,
        winner=saved.winner,
        reason=saved.reason,
        settled=saved.settled,
    )
