"""An operator ends a table in any phase; nobody else does."""

import pytest

from spades_events import OPERATOR_PREFIX, commands, events
from spades_events.values import BOT_ACCOUNT, TableKind
from spades_runtime import operators
from spades_table.phases import BetweenHands, Ended, Playing, Seating, Starting
from tests.table.driving import HOST, DrivenTable, against_the_computer, four_people, names, practice

CANCEL = commands.CancelTable(reason="A fault of ours")
OPERATOR = "operator:ada"


def test_the_contract_and_the_admin_port_call_an_operator_the_same() -> None:
    assert operators.ACTOR_PREFIX == OPERATOR_PREFIX


def test_only_an_operator_cancels() -> None:
    driven = practice()
    for sender in (HOST, "eve", "operator", "Operator:ada"):
        assert driven.refused(sender, CANCEL) == "operators_only"
    assert driven.refused(BOT_ACCOUNT, CANCEL) == "account_required"
    assert DrivenTable().refused(OPERATOR, CANCEL) == "not_found"


def test_a_running_game_is_revealed_and_cancelled_and_cancelled_once() -> None:
    driven = four_people(TableKind.ONLINE, stake_coins=100)
    assert isinstance(driven.table, Playing)
    driven.move()
    told = driven.ask(OPERATOR, CANCEL)
    assert names(told) == ["DealRevealed", "TableCancelled"]
    cancelled = told[-1]
    assert isinstance(cancelled, events.TableCancelled)
    assert (cancelled.reason, cancelled.stake_coins) == ("operator", 100)
    # All four stayed: the wallet gives each of them everything back.
    assert [(seat.account_id, seat.leaver) for seat in cancelled.seats] == [
        (account, None) for account in (HOST, "bob", "cat", "dan")
    ]
    assert isinstance(driven.table, Ended)
    assert driven.refused(OPERATOR, CANCEL) == "game_over"
    assert driven.refused("operator:bob", CANCEL) == "game_over"


def test_an_earlier_leaver_stays_charged() -> None:
    driven = four_people(TableKind.ONLINE, stake_coins=100)
    driven.ask("bob", commands.LeaveGame(confirm_price_coins=110))
    cancelled = driven.ask(OPERATOR, CANCEL)[-1]
    assert isinstance(cancelled, events.TableCancelled)
    assert [seat.leaver for seat in cancelled.seats] == [None, "bob", None, None]


@pytest.mark.parametrize("kind", [TableKind.PRIVATE, TableKind.ONLINE])
def test_a_table_that_still_seats_gives_up_its_seats(kind: TableKind) -> None:
    driven = DrivenTable()
    driven.open(kind, **({"stake_coins": 100} if kind is TableKind.ONLINE else {}))
    driven.ask("bob", commands.TakeSeat())
    assert isinstance(driven.table, Seating)
    told = names(driven.ask(OPERATOR, CANCEL))
    assert told == (["SeatReleased", "TableCancelled"] if kind is TableKind.ONLINE else ["TableCancelled"])


def test_between_hands_and_while_it_starts() -> None:
    driven = against_the_computer()
    while not isinstance(driven.table, BetweenHands):
        driven.move()
    assert names(driven.ask(OPERATOR, CANCEL)) == ["TableCancelled"]
    starting = DrivenTable()
    starting.open(TableKind.PRIVATE)
    for account, seed in ((HOST, "ab" * 32), ("bob", None)):
        starting.ask(account, commands.TakeSeat(seed_commit=seed))
    starting.ask(HOST, commands.StartGame())
    assert isinstance(starting.table, Starting)
    assert names(starting.ask(OPERATOR, CANCEL)) == ["TableCancelled"]
