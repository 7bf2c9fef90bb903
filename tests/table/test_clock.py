"""The clock: timeouts played on the merits, three misses, computer speed, time given back."""

import pytest

import spades_rules as rules
from spades_events import commands, events
from spades_events.clock import TimedOut
from spades_events.values import DeadlineKind, TableKind
from spades_table.domain import Outage
from spades_table.phases import BetweenHands, Ended, Playing, Table
from tests.table.driving import (
    HOST,
    START_MS,
    DrivenTable,
    against_the_computer,
    four_people,
    names,
    practice,
    until_turn_of,
    wallet_answer,
)


def last_turn(driven: DrivenTable) -> events.TurnStarted:
    return driven.all_of(events.TurnStarted)[-1]


def miss(driven: DrivenTable) -> events.SeatAutoplayed:
    """Let the host's next turn run out."""
    until_turn_of(driven, HOST)
    told = driven.time_out()
    assert isinstance(told[0], events.SeatAutoplayed)
    return told[0]


def test_a_person_against_the_computer_has_90_seconds_a_move() -> None:
    driven = against_the_computer()
    until_turn_of(driven, HOST)
    turn = last_turn(driven)
    assert turn.deadline_ms == driven.now_ms + 90_000
    assert driven.table.deadline is not None
    assert driven.table.deadline.due_ms == turn.deadline_ms
    assert driven.table.deadline.kind is DeadlineKind.TURN
    assert turn.server_ms == driven.now_ms


def test_an_untimed_turn_has_no_deadline_of_its_own() -> None:
    driven = practice()
    until_turn_of(driven, HOST)
    assert last_turn(driven).deadline_ms is None
    assert driven.table.deadline is not None
    assert driven.table.deadline.kind is DeadlineKind.IDLE


def test_a_turn_that_runs_out_is_played_on_the_merits_without_charge() -> None:
    driven = against_the_computer()
    until_turn_of(driven, HOST)
    table = driven.playing
    turn = last_turn(driven)
    judged = rules.judge(rules.view(table.game, rules.Seat(turn.seat)), by_clock=True)
    assert isinstance(judged, rules.PlaceBid)
    told = driven.time_out()
    assert names(told) == ["SeatAutoplayed", "BidMade", "TurnStarted", "DeadlineSet"]
    autoplayed, bid, *_ = told
    assert autoplayed == events.SeatAutoplayed(turn_id=turn.turn_id, seat=turn.seat, misses=1, computer_speed=False)
    assert bid == events.BidMade(turn_id=turn.turn_id, seat=turn.seat, bid=judged.bid)
    assert not driven.all_of(events.SeatForfeited)


def test_a_timeout_of_another_deadline_or_too_early_has_no_effect() -> None:
    driven = four_people()
    deadline = driven.table.deadline
    assert deadline is not None
    early = TimedOut(deadline_id=deadline.id, due_ms=deadline.due_ms)
    assert driven.judge(early) == []
    driven.now_ms = deadline.due_ms - 1
    assert driven.judge(early) == []
    driven.now_ms = deadline.due_ms
    assert driven.judge(TimedOut(deadline_id=deadline.id - 1, due_ms=deadline.due_ms)) == []
    assert driven.judge(TimedOut(deadline_id=deadline.id, due_ms=deadline.due_ms - 1)) == []
    assert driven.judge(early)
    # Repeated each second by the clock: one effect.
    assert driven.judge(early) == []


def test_a_command_before_its_timeout_is_in_time() -> None:
    driven = four_people()
    deadline = driven.table.deadline
    assert deadline is not None
    driven.now_ms = deadline.due_ms + 50
    assert names(driven.move())[0] == "BidMade"
    assert driven.judge(TimedOut(deadline_id=deadline.id, due_ms=deadline.due_ms)) == []


def test_three_misses_in_a_row_have_the_full_clock_then_comes_computer_speed() -> None:
    driven = against_the_computer()
    for misses in (1, 2, 3):
        until_turn_of(driven, HOST)
        assert last_turn(driven).deadline_ms == driven.now_ms + 90_000
        assert not last_turn(driven).computer_speed
        missed = miss(driven)
        assert (missed.misses, missed.computer_speed) == (misses, misses == 3)
    until_turn_of(driven, HOST)
    assert last_turn(driven).deadline_ms == driven.now_ms + 667
    assert last_turn(driven).computer_speed
    assert miss(driven).misses == 4


def test_one_own_move_restores_the_full_clock_and_clears_the_count() -> None:
    driven = against_the_computer()
    for _ in range(4):
        miss(driven)
    until_turn_of(driven, HOST)
    assert last_turn(driven).computer_speed
    driven.now_ms += 600
    driven.move()
    until_turn_of(driven, HOST)
    assert last_turn(driven).deadline_ms == driven.now_ms + 90_000
    assert miss(driven).misses == 1


def test_looking_at_the_cards_is_no_move_of_ones_own() -> None:
    driven = four_people(ruleset="club")

    def face_down(table: Table) -> bool:
        return (
            isinstance(table, Playing)
            and isinstance(table.game, rules.Auction)
            and bool(table.game.face_down)
            and table.turn is not None
            and table.turn.seat in table.game.face_down
        )

    driven.play_until(face_down)
    deadline = driven.table.deadline
    table = driven.playing
    assert table.turn is not None
    seat = table.turn.seat
    account = (HOST, "bob", "cat", "dan")[seat]
    driven.ask(account, commands.LookAtCards(hand_no=table.game.hand_no))
    assert driven.table.deadline == deadline
    told = driven.time_out()
    assert isinstance(told[0], events.SeatAutoplayed)
    assert told[0].misses == 1


def test_a_face_down_seat_that_times_out_looks_and_bids_in_one_commit_and_never_blind() -> None:
    driven = four_people(ruleset="club")

    def face_down(table: Table) -> bool:
        return (
            isinstance(table, Playing)
            and isinstance(table.game, rules.Auction)
            and table.turn is not None
            and table.turn.seat in table.game.face_down
        )

    driven.play_until(face_down)
    told = driven.time_out()
    assert names(told)[:3] == ["SeatAutoplayed", "CardsSeen", "BidMade"]
    assert isinstance(told[2], events.BidMade)
    assert told[2].bid != "blind_nil"


def test_a_new_hand_starts_with_the_full_clock_and_a_count_of_0() -> None:
    driven = against_the_computer()
    for _ in range(4):
        miss(driven)
    driven.play_until(lambda table: isinstance(table, BetweenHands))
    until_turn_of(driven, HOST)
    assert not last_turn(driven).computer_speed
    assert miss(driven).misses == 1


def test_a_person_who_never_moves_is_played_to_the_end_of_the_game_and_keeps_the_stake() -> None:
    driven = against_the_computer()
    while not isinstance(driven.table, Ended):
        deadline = driven.table.deadline
        assert deadline is not None
        if deadline.kind is DeadlineKind.BOT_GUARD:
            driven.move()
        else:
            driven.time_out()
    (over,) = driven.all_of(events.GameEnded)
    assert [seat.leaver for seat in over.seats] == [None] * 4
    assert HOST in [seat.account_id for seat in over.seats]


def test_a_dead_bot_service_never_stops_a_table() -> None:
    driven = practice()

    def bots_turn(table: Table) -> bool:
        return table.deadline is not None and table.deadline.kind is DeadlineKind.BOT_GUARD

    driven.play_until(bots_turn)
    before_ms = driven.now_ms
    told = driven.time_out()
    assert names(told)[:2] == ["SeatAutoplayed", "BidMade"]
    assert driven.now_ms - before_ms == 3_000
    assert isinstance(told[0], events.SeatAutoplayed)
    # The count is of a person's misses.
    assert told[0].misses == 0


def test_the_last_card_is_played_when_the_clock_runs_out_on_trick_13() -> None:
    driven = four_people()

    def last_trick(table: Table) -> bool:
        return isinstance(table, Playing) and isinstance(table.game, rules.Play) and len(table.game.tricks) == 12

    driven.play_until(last_trick)
    for _ in range(3):
        assert "CardPlayed" in names(driven.time_out())
    assert names(driven.time_out())[-3:] == ["HandScored", "DealRevealed", "DeadlineSet"]


@pytest.mark.parametrize(("kind", "wait_ms"), [(TableKind.PRIVATE, 10_000), (TableKind.PRACTICE, 60_000)])
def test_the_next_hand_is_dealt_by_the_clock(kind: TableKind, wait_ms: int) -> None:
    driven = practice() if kind is TableKind.PRACTICE else four_people()
    driven.play_until(lambda table: isinstance(table, BetweenHands))
    ended_ms = driven.now_ms
    assert names(driven.time_out())[:2] == ["HandCommitted", "HandDealt"]
    assert driven.now_ms == ended_ms + wait_ms


def test_a_practice_table_without_a_command_for_30_minutes_ends_abandoned() -> None:
    driven = practice()
    until_turn_of(driven, HOST)
    last_ms = driven.now_ms
    told = driven.time_out()
    assert last_ms + 1_800_000 <= driven.now_ms <= last_ms + 1_860_000
    assert names(told) == ["DealRevealed", "GameEnded"]
    (over,) = driven.all_of(events.GameEnded)
    assert (over.winner, over.reason) == (None, "abandoned")
    assert isinstance(driven.table, Ended)
    assert driven.table.settled


def test_a_move_that_leaves_an_untimed_table_its_full_wait_sets_no_deadline() -> None:
    driven = four_people(TableKind.PRACTICE)
    driven.play_until(lambda table: isinstance(table, Playing))
    running = driven.table.deadline
    assert running is not None
    driven.now_ms = running.due_ms - 1_800_000
    assert names(driven.move()) == ["BidMade", "TurnStarted"]
    assert driven.table.deadline == running
    driven.now_ms += 1
    assert names(driven.move()) == ["BidMade", "TurnStarted", "DeadlineSet"]
    assert driven.table.deadline.due_ms >= driven.now_ms + 1_800_000


def test_looking_at_ones_cards_counts_as_a_command_of_an_untimed_table() -> None:
    driven = practice(ruleset="club", seat=1)

    def host_face_down(table: Table) -> bool:
        return (
            isinstance(table, Playing)
            and isinstance(table.game, rules.Auction)
            and 1 in table.game.face_down
            and table.turn is not None
            and table.turn.seat == 1
        )

    driven.play_until(host_face_down)
    driven.now_ms += 61_000
    told = driven.ask(HOST, commands.LookAtCards(hand_no=driven.playing.game.hand_no))
    assert names(told) == ["CardsSeen", "DeadlineSet"]
    assert driven.table.deadline is not None
    assert 1_800_000 <= driven.table.deadline.due_ms - driven.now_ms <= 1_860_000


# outages


def test_an_outage_gives_its_time_back_under_a_new_deadline() -> None:
    driven = against_the_computer()
    until_turn_of(driven, HOST)
    driven.now_ms += 40_000
    before = driven.table.deadline
    assert before is not None
    (extended,) = driven.outage(20_000)
    turn = last_turn(driven)
    assert extended == events.ClockExtended(
        outage_ms=20_000,
        deadline_id=driven.table.version,
        due_ms=before.due_ms + 20_000,
        kind=DeadlineKind.TURN,
        turn_id=turn.turn_id,
        turn_deadline_ms=before.due_ms + 20_000,
    )
    assert driven.playing.turn is not None
    assert driven.playing.turn.deadline_ms == before.due_ms + 20_000
    # What was queued meanwhile is stale, even if it is due.
    driven.now_ms = before.due_ms + 1_000
    assert driven.judge(TimedOut(deadline_id=before.id, due_ms=before.due_ms)) == []
    assert names(driven.time_out())[0] == "SeatAutoplayed"
    assert driven.now_ms == before.due_ms + 20_000


def test_an_outage_gives_back_no_more_than_the_whole_limit() -> None:
    driven = against_the_computer()
    until_turn_of(driven, HOST)
    # Measured from the last sign of life, which was before the turn began.
    driven.now_ms += 5_000
    (extended,) = driven.judge(Outage(6_000))
    assert isinstance(extended, events.ClockExtended)
    assert extended.due_ms == driven.now_ms + 90_000


def test_an_outage_before_the_game_moves_every_wait() -> None:
    driven = DrivenTable()
    driven.open(TableKind.ONLINE, stake_coins=10)
    driven.ask("bob", commands.TakeSeat())
    driven.now_ms += 1_000
    driven.ask("cat", commands.TakeSeat())
    driven.outage(60_000)
    driven.time_out()
    assert driven.now_ms == START_MS + 90_000
    driven.time_out()
    assert driven.now_ms == START_MS + 91_000
    driven.time_out()
    assert driven.now_ms == START_MS + 960_000
    assert isinstance(driven.table, Ended)


def test_an_outage_while_starting_moves_both_waits() -> None:
    driven = DrivenTable()
    driven.open(TableKind.COINS, stake_coins=10)
    seed = bytes(range(32))
    told = driven.ask(HOST, commands.TakeSeat(seed_commit=rules.seed_commit(seed).hex()))
    assert isinstance(told[0], events.SeatReserved)
    news = wallet_answer(told[0])
    assert news is not None
    driven.judge(news)
    driven.outage(10_000)
    assert names(driven.time_out())[0] == "SeedsFixed"
    assert driven.now_ms == START_MS + 15_000
    assert names(driven.time_out())[0] == "TableCancelled"
    assert driven.now_ms == START_MS + 40_000


def test_an_outage_between_hands_moves_the_next_deal() -> None:
    driven = four_people()
    driven.play_until(lambda table: isinstance(table, BetweenHands))
    ended_ms = driven.now_ms
    driven.now_ms += 4_000
    driven.outage(3_000)
    driven.time_out()
    assert driven.now_ms == ended_ms + 13_000


def test_an_outage_changes_nothing_at_a_table_that_is_over() -> None:
    driven = practice()
    driven.play_to_the_end()
    assert driven.outage(60_000) == []
