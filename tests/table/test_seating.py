"""Seats: asked for, paid, taken, given up, locked."""

import pytest

from spades_events import commands, events, wallet
from spades_events.values import BOT_ACCOUNT, DeadlineKind, TableKind
from spades_table.house import House, Limits
from spades_table.phases import Ended, Playing, Seating, Starting
from spades_table.seats import Open
from tests.table.driving import HOST, START_MS, DrivenTable, four_people, names, wallet_answer

STAKE = 100


def opened(kind: TableKind, **fields: object) -> DrivenTable:
    driven = DrivenTable()
    driven.open(kind, **fields)
    return driven


def online(**fields: object) -> DrivenTable:
    return opened(TableKind.ONLINE, stake_coins=STAKE, **fields)


def placed(told: list[events.TableEvent]) -> wallet.HoldPlaced:
    reserved = next(event for event in told if isinstance(event, events.SeatReserved))
    answer = wallet_answer(reserved)
    assert isinstance(answer, wallet.HoldPlaced)
    return answer


def hold_refused(told: list[events.TableEvent], code: str) -> wallet.HoldRefused:
    reserved = next(event for event in told if isinstance(event, events.SeatReserved))
    return wallet.HoldRefused(
        accounts=(),
        reservation_id=reserved.reservation_id,
        seat=reserved.seat,
        account_id=reserved.account_id,
        code=code,
        needed_coins=110,
        available_coins=40,
    )


@pytest.mark.parametrize("kind", [TableKind.PRACTICE, TableKind.PRIVATE])
def test_a_numbered_seat_is_taken_at_once_where_no_coins_are_played_for(kind: TableKind) -> None:
    driven = opened(kind)
    (taken,) = driven.ask("bob", commands.TakeSeat(seat=2, seed_commit="ab" * 32))
    assert isinstance(taken, events.SeatTaken)
    assert (taken.holder.seat, taken.holder.account_id) == (2, "bob")
    assert taken.holder.seed_commit == "ab" * 32
    assert taken.reservation_id is None


def test_any_seat_is_the_lowest_free_one_where_seats_are_not_drawn() -> None:
    driven = opened(TableKind.PRACTICE)
    driven.ask("bob", commands.TakeSeat(seat=0))
    (taken,) = driven.ask("cat", commands.TakeSeat())
    assert isinstance(taken, events.SeatTaken)
    assert taken.holder.seat == 1


def test_a_seat_is_one_persons_and_a_person_has_one_seat() -> None:
    driven = opened(TableKind.PRACTICE)
    driven.ask("bob", commands.TakeSeat(seat=2))
    assert driven.refused("cat", commands.TakeSeat(seat=2)) == "seat_taken"
    for command in (commands.TakeSeat(), commands.TakeSeat(seat=2), commands.TakeSeat(seat=3)):
        assert driven.refused("bob", command) == "already_seated"


def test_twenty_joins_of_one_account_take_one_seat() -> None:
    driven = online()
    driven.ask("bob", commands.TakeSeat())
    for _ in range(19):
        assert driven.refused("bob", commands.TakeSeat()) == "already_seated"
    assert len(driven.all_of(events.SeatReserved)) == 1


def test_a_fifth_person_finds_the_table_full() -> None:
    driven = opened(TableKind.PRIVATE)
    for seat, account in enumerate(("a", "b", "c", "d")):
        driven.ask(account, commands.TakeSeat(seat=seat))
    assert driven.refused("e", commands.TakeSeat()) == "table_full"
    assert driven.refused("e", commands.TakeSeat(seat=1)) == "table_full"


@pytest.mark.parametrize("kind", [TableKind.COINS, TableKind.ONLINE])
def test_seats_at_coin_tables_are_drawn(kind: TableKind) -> None:
    driven = opened(kind, stake_coins=STAKE)
    assert driven.refused(HOST, commands.TakeSeat(seat=0)) == "random_seats"
    told = driven.ask(HOST, commands.TakeSeat(), (3).to_bytes(8, "big"))
    assert isinstance(told[0], events.SeatReserved)
    assert told[0].seat == 3


def test_a_drawn_seat_is_one_of_the_free_ones() -> None:
    driven = online()
    seats = []
    for account in ("a", "b", "c", "d"):
        (reserved, *_) = driven.ask(account, commands.TakeSeat(), (2**64 - 1).to_bytes(8, "big"))
        assert isinstance(reserved, events.SeatReserved)
        seats.append(reserved.seat)
    assert sorted(seats) == [0, 1, 2, 3]


def test_only_the_host_sits_at_a_table_against_the_computer() -> None:
    driven = opened(TableKind.COINS, stake_coins=STAKE)
    assert driven.refused("bob", commands.TakeSeat()) == "not_host"


def test_a_coin_seat_is_reserved_until_the_wallet_has_paid() -> None:
    driven = online()
    told = driven.ask("bob", commands.TakeSeat(seed_commit="cd" * 32))
    assert told == [
        events.SeatReserved(
            reservation_id="table-1:0:1",
            seat=0,
            account_id="bob",
            seed_commit="cd" * 32,
            stake_coins=100,
            deposit_coins=10,
            due_ms=START_MS + 30_000,
        ),
        events.DeadlineSet(deadline_id=4, due_ms=START_MS + 30_000, kind=DeadlineKind.RESERVATION),
    ]
    taken, deadline = driven.judge(placed(told))
    assert isinstance(taken, events.SeatTaken)
    assert taken.reservation_id == "table-1:0:1"
    assert taken.holder.seed_commit == "cd" * 32
    assert isinstance(deadline, events.DeadlineSet)
    assert deadline.kind is DeadlineKind.CLOSING


def test_the_wallets_answer_counts_once() -> None:
    driven = online()
    news = placed(driven.ask("bob", commands.TakeSeat()))
    assert driven.judge(news)
    assert driven.judge(news) == []


@pytest.mark.parametrize(
    ("code", "told_code"),
    [
        ("insufficient_balance", "insufficient_balance"),
        ("seated_elsewhere", "seated_elsewhere"),
        ("no_account", "account_required"),
    ],
)
def test_a_seat_that_the_wallet_refuses_is_open_again(code: str, told_code: str) -> None:
    driven = online()
    told = driven.ask("bob", commands.TakeSeat())
    refusal = driven.judge(hold_refused(told, code))[0]
    assert isinstance(refusal, events.SeatRefused)
    assert (refusal.code, refusal.needed_coins, refusal.available_coins) == (told_code, 110, 40)
    assert isinstance(driven.table, Seating)
    assert all(isinstance(chair, Open) for chair in driven.table.chairs)
    assert names(driven.ask("bob", commands.TakeSeat()))[0] == "SeatReserved"


def test_a_reservation_unanswered_for_30_seconds_is_refused_and_its_hold_voided_behind_it() -> None:
    driven = online()
    told = driven.ask("bob", commands.TakeSeat())
    assert names(driven.time_out()) == ["SeatRefused", "SeatReleased", "DeadlineSet"]
    released = driven.all_of(events.SeatReleased)[0]
    assert released.reservation_id == "table-1:0:1"
    # An answer for it comes too late, also when the seat is someone else's by now.
    assert driven.judge(placed(told)) == []
    driven.ask("cat", commands.TakeSeat())
    assert driven.judge(placed(told)) == []
    assert driven.all_of(events.SeatReserved)[1].reservation_id == "table-1:0:2"


def test_two_reservations_run_out_each_at_its_time() -> None:
    driven = online()
    driven.ask("bob", commands.TakeSeat())
    driven.now_ms += 1_000
    driven.ask("cat", commands.TakeSeat())
    driven.time_out()
    assert driven.now_ms == START_MS + 30_000
    assert [event.account_id for event in driven.all_of(events.SeatRefused)] == ["bob"]
    driven.time_out()
    assert driven.now_ms == START_MS + 31_000
    assert driven.table.deadline is not None
    assert driven.table.deadline.kind is DeadlineKind.CLOSING


@pytest.mark.parametrize("paid", [False, True])
def test_getting_up_before_the_lock_releases_seat_and_hold(paid: bool) -> None:
    driven = online()
    told = driven.ask("bob", commands.TakeSeat())
    if paid:
        driven.judge(placed(told))
    released = driven.ask("bob", commands.ReleaseSeat())[0]
    assert released == events.SeatReleased(seat=0, account_id="bob", reservation_id="table-1:0:1")
    assert driven.refused("bob", commands.ReleaseSeat()) == "not_seated"
    assert driven.judge(placed(told)) == []


def test_a_table_against_the_computer_locks_as_soon_as_its_host_has_paid() -> None:
    driven = opened(TableKind.COINS, stake_coins=STAKE)
    told = driven.judge(placed(driven.ask(HOST, commands.TakeSeat())))
    assert names(told) == [
        "SeatTaken",
        "SeatTaken",
        "SeatTaken",
        "SeatTaken",
        "SeatsLocked",
        "SeedsFixed",
        "DeadlineSet",
    ]
    (locked,) = driven.all_of(events.SeatsLocked)
    assert [holder.account_id for holder in locked.seats] == [HOST] + [BOT_ACCOUNT] * 3
    assert isinstance(driven.table, Starting)


def test_a_table_against_the_computer_closes_where_its_host_cannot_pay() -> None:
    driven = opened(TableKind.COINS, stake_coins=STAKE)
    news = hold_refused(driven.ask(HOST, commands.TakeSeat()), "insufficient_balance")
    assert names(driven.judge(news)) == ["SeatRefused", "TableCancelled"]
    assert driven.judge(news) == []
    assert driven.all_of(events.TableCancelled)[0].reason == "unpaid"
    assert driven.refused(HOST, commands.TakeSeat()) == "game_over"


def test_an_online_table_locks_at_the_fourth_paid_seat() -> None:
    driven = online()
    news = [placed(driven.ask(account, commands.TakeSeat())) for account in "abcd"]
    for one in news[:3]:
        assert "SeatsLocked" not in names(driven.judge(one))
    assert "SeatsLocked" in names(driven.judge(news[3]))


def test_the_host_starts_an_online_table_early_only_where_bots_are_welcome() -> None:
    strict = online()
    strict.ask(HOST, commands.TakeSeat())
    strict.pay()
    assert strict.refused(HOST, commands.StartGame()) == "not_started"

    mixed = online(bots_welcome=True)
    assert mixed.refused(HOST, commands.StartGame()) == "not_seated"
    mixed.ask(HOST, commands.TakeSeat())
    assert mixed.refused(HOST, commands.StartGame()) == "wrong_phase"
    mixed.pay()
    assert mixed.refused("bob", commands.StartGame()) == "not_host"
    assert "SeatsLocked" in names(mixed.ask(HOST, commands.StartGame()))


def test_four_people_at_a_private_table_wait_for_their_host() -> None:
    driven = opened(TableKind.PRIVATE)
    for seat, account in enumerate((HOST, "b", "c", "d")):
        assert names(driven.ask(account, commands.TakeSeat(seat=seat))) == ["SeatTaken"]
    told = driven.ask(HOST, commands.StartGame())
    assert names(told) == [
        "SeatsLocked",
        "SeedsFixed",
        "GameStarted",
        "HandCommitted",
        "HandDealt",
        "TurnStarted",
        "DeadlineSet",
    ]


def test_bots_fill_the_empty_seats_of_a_practice_table() -> None:
    driven = opened(TableKind.PRACTICE)
    driven.ask("bob", commands.TakeSeat(seat=1))
    assert driven.refused("bob", commands.StartGame()) == "not_host"
    driven.ask(HOST, commands.StartGame())
    assert [holder.account_id for holder in driven.all_of(events.GameStarted)[0].seats] == [
        BOT_ACCOUNT,
        "bob",
        BOT_ACCOUNT,
        BOT_ACCOUNT,
    ]


def test_a_locked_table_can_neither_be_joined_nor_left_nor_started_again() -> None:
    driven = online()
    for account in (HOST, "b", "c", "d"):
        driven.judge(placed(driven.ask(account, commands.TakeSeat())))
    assert isinstance(driven.table, Starting)
    assert driven.refused("e", commands.TakeSeat()) == "table_full"
    assert driven.refused("b", commands.TakeSeat()) == "already_seated"
    assert driven.refused("b", commands.ReleaseSeat()) == "starting"
    assert driven.refused("b", commands.LeaveGame(confirm_price_coins=110)) == "starting"
    assert driven.refused(HOST, commands.StartGame()) == "starting"
    assert driven.refused("b", commands.PlayCard(turn_id="1:1", card="AS")) == "starting"


def test_a_running_table_can_neither_be_joined_nor_released_nor_started() -> None:
    driven = four_people()
    assert isinstance(driven.table, Playing)
    assert driven.refused("e", commands.TakeSeat()) == "table_full"
    assert driven.refused("bob", commands.TakeSeat()) == "already_seated"
    assert driven.refused("bob", commands.ReleaseSeat()) == "wrong_phase"
    assert driven.refused(HOST, commands.StartGame()) == "wrong_phase"


def test_a_pending_reservation_is_released_before_its_table_is_cancelled() -> None:
    driven = DrivenTable(house=House(limits=Limits(closing_ms=5_000)))
    driven.open(TableKind.ONLINE, stake_coins=STAKE)
    driven.judge(placed(driven.ask("bob", commands.TakeSeat())))
    driven.ask("cat", commands.TakeSeat())
    assert names(driven.time_out()) == ["SeatReleased", "TableCancelled"]
    (cancelled,) = driven.all_of(events.TableCancelled)
    assert [(seat.account_id, seat.reservation_id) for seat in cancelled.seats] == [("bob", "table-1:0:1")]
    assert isinstance(driven.table, Ended)
    assert not driven.table.settled


def test_a_coin_table_that_nobody_paid_for_is_over_at_once() -> None:
    driven = DrivenTable(house=House(limits=Limits(closing_ms=5_000)))
    driven.open(TableKind.ONLINE, stake_coins=STAKE)
    driven.time_out()
    assert isinstance(driven.table, Ended)
    assert driven.table.settled
