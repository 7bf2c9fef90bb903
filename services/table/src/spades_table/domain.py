"""The table, pure: `decide` says what a cause brings, `evolve` folds it.

A cause is a command of somebody, news of the wallet or the clock, an outage, or the finding that
a table's cards cannot be read any more. Time and random bytes come in as values.
"""

from typing import NamedTuple, assert_never

from spades_events import commands, events, wallet
from spades_events.clock import TimedOut
from spades_events.values import BOT_ACCOUNT, OPERATOR_PREFIX
from spades_table.deadlines import Outage, extend, timed_out
from spades_table.draft import Decision, Draft
from spades_table.evolving import evolve
from spades_table.facts import CorruptStream, Fact
from spades_table.leaving import leave_game
from spades_table.opening import open_table
from spades_table.phases import (
    BetweenHands,
    Ended,
    Playing,
    Seating,
    Starting,
    Table,
    Unopened,
    Unreadable,
)
from spades_table.playing import look_at_cards, make_move, ready
from spades_table.refusals import Refused, refused
from spades_table.seating import hold_placed, hold_refused, release_seat, start_game, take_seat
from spades_table.settlement import cancel, settled
from spades_table.starting import holds_captured, open_seed

TableCommand = (
    commands.OpenTable
    | commands.TakeSeat
    | commands.ReleaseSeat
    | commands.StartGame
    | commands.OpenSeed
    | commands.LeaveGame
    | commands.ReadyForNextHand
    | commands.LookAtCards
    | commands.PlaceBid
    | commands.PassCards
    | commands.PlayCard
    | commands.CancelTable
)
WalletNews = wallet.HoldPlaced | wallet.HoldRefused | wallet.HoldsCaptured | wallet.Settlement


class Asked(NamedTuple):
    """A command of an account; `chance` holds the fresh random bytes of the two that draw."""

    account_id: str
    command: TableCommand
    chance: bytes = b""


class FoundUnreadable(NamedTuple):
    """The table's sealed cards could not be opened under a present key."""


Cause = Asked | WalletNews | TimedOut | Outage | FoundUnreadable


def decide(table: Table, cause: Cause, now_ms: int) -> Decision:
    """Return the facts that `cause` brings at `table`, and the table they make.

    Raises Refused where a command is refused; the table is then as it was. News that no longer
    counts brings no facts.
    """
    draft = Draft(table, now_ms)
    match cause:
        case Asked(account_id, command, chance):
            _decide_command(draft, account_id, command, chance)
        case TimedOut():
            timed_out(draft, cause)
        case wallet.HoldPlaced():
            hold_placed(draft, cause)
        case wallet.HoldRefused():
            hold_refused(draft, cause)
        case wallet.HoldsCaptured():
            holds_captured(draft, cause)
        case wallet.Settlement():
            settled(draft, cause)
        case Outage():
            extend(draft, cause)
        case FoundUnreadable():
            _cancel_unreadable(draft)
        case never:
            assert_never(never)
    return draft.decision()


def _decide_command(draft: Draft, account_id: str, command: TableCommand, chance: bytes) -> None:
    match command:
        case commands.PlayCard() | commands.PlaceBid() | commands.PassCards():
            make_move(draft, account_id, command)
        case commands.LookAtCards():
            look_at_cards(draft, account_id, command)
        case _ if account_id == BOT_ACCOUNT:
            # The table seats bots and lets them go; they only play.
            raise refused("account_required")
        case commands.OpenTable():
            open_table(draft, account_id, command, chance)
        case _ if isinstance(draft.table, Unopened):
            raise refused("not_found")
        case commands.TakeSeat():
            take_seat(draft, account_id, command, chance)
        case commands.ReleaseSeat():
            release_seat(draft, account_id, command)
        case commands.StartGame():
            start_game(draft, account_id)
        case commands.OpenSeed():
            open_seed(draft, account_id, command)
        case commands.LeaveGame():
            leave_game(draft, account_id, command)
        case commands.ReadyForNextHand():
            ready(draft, account_id, command)
        case commands.CancelTable():
            _cancel_by_operator(draft, account_id)
        case never:
            assert_never(never)


def _cancel_by_operator(draft: Draft, sender: str) -> None:
    if not sender.startswith(OPERATOR_PREFIX):
        raise refused("operators_only")
    if isinstance(draft.table, Ended):
        raise refused("game_over")
    # Why stands in the operator's own record; players are told who ended their game.
    cancel(draft, "operator")


def is_unreadable(table: Table) -> bool:
    """Whether a table that is not over has cards which cannot be read again."""
    match table:
        case Unreadable():
            return True
        case Seating(setup=setup) | Starting(setup=setup) | BetweenHands(setup=setup):
            return setup.root is None
        case Playing():
            # Without a root its deal made an `Unreadable` of it.
            return False
        case _:
            return False


def _cancel_unreadable(draft: Draft) -> None:
    if not is_unreadable(draft.table):
        return
    table = draft.table
    hand_no = 1
    if isinstance(table, Unreadable):
        hand_no = table.hand_no
    elif isinstance(table, BetweenHands):
        hand_no = table.game.hand_no
    draft.tell(events.DealUnreadable(hand_no=hand_no))
    cancel(draft, "deal_unreadable")


__all__ = [
    "Asked",
    "Cause",
    "CorruptStream",
    "Decision",
    "Ended",
    "Fact",
    "FoundUnreadable",
    "Outage",
    "Refused",
    "TableCommand",
    "decide",
    "evolve",
    "is_unreadable",
]
