"""Leaving a running game, abandoning it, and what the wallet is told of it."""

import pytest

from spades_events import commands, events, wallet
from spades_events.values import BOT_ACCOUNT, TableKind
from spades_table.phases import BetweenHands, Ended, Playing
from spades_table.seats import Bot
from tests.table.driving import (
    HOST,
    DrivenTable,
    against_the_computer,
    four_people,
    names,
    practice,
    until_turn_of,
)

LEAVE = commands.LeaveGame(confirm_price_coins=110)


def online() -> DrivenTable:
    return four_people(TableKind.ONLINE, stake_coins=100)


def test_leaving_costs_stake_and_fee_and_says_so_before() -> None:
    driven = online()
    for price_coins in (0, 10, 100, 111):
        rejection = driven.refusal("bob", commands.LeaveGame(confirm_price_coins=price_coins))
        assert (rejection.code, rejection.price_coins) == ("price_changed", 110)
    told = driven.ask("bob", LEAVE)
    assert told[0] == events.SeatForfeited(seat=1, account_id="bob", stake_coins=100, fee_coins=10)
    taken = told[1]
    assert isinstance(taken, events.SeatTaken)
    assert (taken.holder.account_id, taken.replaces) == (BOT_ACCOUNT, "bob")


def test_a_bot_sits_down_and_a_running_turn_is_issued_anew() -> None:
    driven = online()
    until_turn_of(driven, "bob")
    old = driven.all_of(events.TurnStarted)[-1]
    told = driven.ask("bob", LEAVE)
    assert names(told) == ["SeatForfeited", "SeatTaken", "TurnStarted", "DeadlineSet"]
    turn = told[2]
    assert isinstance(turn, events.TurnStarted)
    assert turn.turn_id != old.turn_id
    assert (turn.seat, turn.deadline_ms) == (1, None)
    stale = commands.PlaceBid(turn_id=old.turn_id, bid=3)
    assert driven.refused("bob", stale) == "not_seated"
    assert driven.refused(BOT_ACCOUNT, stale) == "stale_turn"
    assert names(driven.move())[0] == "BidMade"


def test_a_turn_of_somebody_else_goes_on() -> None:
    driven = online()
    until_turn_of(driven, HOST)
    deadline = driven.table.deadline
    assert names(driven.ask("bob", LEAVE)) == ["SeatForfeited", "SeatTaken"]
    assert driven.table.deadline == deadline


def test_nobody_leaves_twice_or_without_a_seat() -> None:
    driven = online()
    driven.ask("bob", LEAVE)
    assert driven.refused("bob", LEAVE) == "not_seated"
    assert driven.refused("eve", LEAVE) == "not_seated"
    assert driven.refused("bob", commands.TakeSeat()) == "table_full"


def test_leaving_before_the_game_is_not_leaving() -> None:
    driven = DrivenTable()
    driven.open(TableKind.PRIVATE)
    driven.ask("bob", commands.TakeSeat())
    assert driven.refused("bob", commands.LeaveGame(confirm_price_coins=0)) == "not_started"


def test_the_leaver_of_a_finished_game_stands_in_its_end() -> None:
    driven = online()
    driven.ask("bob", LEAVE)
    driven.play_to_the_end()
    (over,) = driven.all_of(events.GameEnded)
    (bob,) = [seat for seat in over.seats if seat.leaver]
    assert (bob.seat, bob.leaver, bob.account_id) == (1, "bob", BOT_ACCOUNT)
    reserved = {event.account_id: event.reservation_id for event in driven.all_of(events.SeatReserved)}
    assert [seat.reservation_id for seat in over.seats] == [
        reserved[account] for account in (HOST, "bob", "cat", "dan")
    ]
    assert over.stake_coins == 100


@pytest.mark.parametrize("between", [False, True])
def test_the_last_person_to_leave_ends_the_game_in_the_same_commit(between: bool) -> None:
    driven = online()
    for account in ("bob", "cat", "dan"):
        driven.ask(account, LEAVE)
    if between:
        driven.play_until(lambda table: isinstance(table, BetweenHands))
        told = driven.ask(HOST, LEAVE)
        assert names(told) == ["SeatForfeited", "GameEnded"]
    else:
        told = driven.ask(HOST, LEAVE)
        assert names(told) == ["SeatForfeited", "DealRevealed", "GameEnded"]
    (over,) = driven.all_of(events.GameEnded)
    assert (over.winner, over.reason) == (None, "abandoned")
    assert [seat.leaver for seat in over.seats] == [HOST, "bob", "cat", "dan"]
    assert isinstance(driven.table, Ended)
    assert not driven.table.settled


def test_one_person_against_the_computer_abandons_by_leaving() -> None:
    driven = against_the_computer()
    driven.ask(HOST, LEAVE)
    (over,) = driven.all_of(events.GameEnded)
    assert over.reason == "abandoned"
    assert {seat.account_id for seat in over.seats} == {BOT_ACCOUNT}


def test_leaving_a_table_without_coins_is_free() -> None:
    driven = practice()
    assert driven.refused(HOST, LEAVE) == "price_changed"
    driven.ask(HOST, commands.LeaveGame(confirm_price_coins=0))
    assert isinstance(driven.table, Ended)
    assert driven.table.settled


def test_one_who_leaves_between_hands_keeps_nobody_waiting() -> None:
    driven = online()
    driven.play_until(lambda table: isinstance(table, BetweenHands))
    for account in (HOST, "cat", "dan"):
        driven.ask(account, commands.ReadyForNextHand())
    told = names(driven.ask("bob", LEAVE))
    assert told[:4] == ["SeatForfeited", "SeatTaken", "HandCommitted", "HandDealt"]


def test_a_leavers_seat_is_played_by_the_table_too_if_the_bots_are_dead() -> None:
    driven = online()
    until_turn_of(driven, "bob")
    driven.ask("bob", LEAVE)
    assert names(driven.time_out())[:2] == ["SeatAutoplayed", "BidMade"]
    assert isinstance(driven.table, Playing)
    assert isinstance(driven.table.occupants[1], Bot)


def test_a_coin_game_is_settled_once() -> None:
    driven = online()
    driven.play_to_the_end()
    assert isinstance(driven.table, Ended)
    payouts = (
        events.Payout(account_id=HOST, net_coins=100),
        events.Payout(account_id="bob", net_coins=-100),
    )
    news = wallet.Settlement(accounts=(), outcome="win", payouts=payouts)
    assert driven.judge(news) == [events.GameSettled(payouts=payouts)]
    assert driven.judge(news) == []
    assert driven.table.settled


def test_a_settlement_of_a_running_game_has_no_effect() -> None:
    driven = online()
    assert driven.judge(wallet.Settlement(accounts=(), outcome="win", payouts=())) == []
    assert driven.judge(wallet.HoldsCaptured(accounts=(), pot_coins=400)) == []
