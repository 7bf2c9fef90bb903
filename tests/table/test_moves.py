"""Moves: whose, for which turn, by which rule refused."""

import pytest

import spades_rules as rules
from spades_events import commands, events
from spades_events.values import BOT_ACCOUNT, RulesetChoice, TableKind
from spades_table.phases import BetweenHands, Ended, Playing, Table
from spades_table.seats import Person
from tests.table.driving import (
    HOST,
    DrivenTable,
    as_command,
    four_people,
    names,
    practice,
    until_turn_of,
)


def turn_of(driven: DrivenTable) -> tuple[str, str]:
    """The account on turn and the turn's id."""
    table = driven.playing
    assert table.turn is not None
    occupant = table.occupants[table.turn.seat]
    account = occupant.account_id if isinstance(occupant, Person) else BOT_ACCOUNT
    return account, table.turn.turn_id


def at_play(table: Table) -> bool:
    return isinstance(table, Playing) and isinstance(table.game, rules.Play)


def test_turn_ids_count_the_turns_of_a_hand() -> None:
    driven = four_people()
    driven.play_until(lambda table: isinstance(table, BetweenHands))
    ids = [event.turn_id for event in driven.all_of(events.TurnStarted)]
    assert ids == [f"1:{n}" for n in range(1, 4 + 52 + 1)]


def test_a_bid_is_told_and_the_turn_goes_left() -> None:
    driven = four_people()
    account, turn_id = turn_of(driven)
    told = driven.ask(account, commands.PlaceBid(turn_id=turn_id, bid=3))
    assert names(told) == ["BidMade", "TurnStarted", "DeadlineSet"]
    bid, turn, _ = told
    assert isinstance(bid, events.BidMade)
    assert isinstance(turn, events.TurnStarted)
    assert turn.seat == (bid.seat + 1) % 4
    assert turn.deadline_ms == driven.now_ms + 30_000


def test_a_whole_number_0_is_told_as_nil() -> None:
    driven = four_people()
    account, turn_id = turn_of(driven)
    (bid, *_) = driven.ask(account, commands.PlaceBid(turn_id=turn_id, bid=0))
    assert isinstance(bid, events.BidMade)
    assert bid.bid == "nil"


def test_a_move_for_another_turn_is_stale() -> None:
    driven = four_people()
    account, turn_id = turn_of(driven)
    driven.ask(account, commands.PlaceBid(turn_id=turn_id, bid=3))
    # The double click: same turn, another command.
    assert driven.refused(account, commands.PlaceBid(turn_id=turn_id, bid=3)) == "stale_turn"
    assert driven.refused(account, commands.PlaceBid(turn_id="1:3", bid=3)) == "stale_turn"
    assert driven.refused(account, commands.PlaceBid(turn_id="9:9", bid=3)) == "stale_turn"


def test_a_move_for_anothers_turn_is_refused() -> None:
    driven = four_people()
    account, turn_id = turn_of(driven)
    other = next(one for one in (HOST, "bob", "cat", "dan") if one != account)
    assert driven.refused(other, commands.PlaceBid(turn_id=turn_id, bid=3)) == "not_your_turn"
    assert driven.refused("eve", commands.PlaceBid(turn_id=turn_id, bid=3)) == "not_seated"


def test_a_double_click_never_leads_the_next_trick() -> None:
    driven = four_people()
    driven.play_until(at_play)
    while True:
        account, turn_id = turn_of(driven)
        told = driven.move()
        if "TrickTaken" in names(told) and turn_of(driven)[0] == account:
            break
    card = rules.card_names(rules.legal_cards(driven.playing.game))[0]
    assert driven.refused(account, commands.PlayCard(turn_id=turn_id, card=card)) == "stale_turn"


def test_the_bot_service_moves_only_for_seats_of_bots() -> None:
    driven = practice()
    until_turn_of(driven, HOST)
    account, turn_id = turn_of(driven)
    assert account == HOST
    assert driven.refused(BOT_ACCOUNT, commands.PlaceBid(turn_id=turn_id, bid=3)) == "not_your_turn"
    driven.ask(HOST, commands.PlaceBid(turn_id=turn_id, bid=3))
    account, turn_id = turn_of(driven)
    assert account == BOT_ACCOUNT
    assert driven.refused(HOST, commands.PlaceBid(turn_id=turn_id, bid=3)) == "not_your_turn"
    assert names(driven.ask(BOT_ACCOUNT, commands.PlaceBid(turn_id=turn_id, bid=3)))[0] == "BidMade"


def test_a_card_that_does_not_follow_is_refused_with_what_would() -> None:
    driven = four_people()
    driven.play_until(at_play)

    def must_follow(table: Table) -> bool:
        if not isinstance(table, Playing) or not isinstance(table.game, rules.Play):
            return False
        game = table.game
        expected = rules.expected(game)
        assert expected is not None
        hand = game.hands[expected.seat]
        return bool(game.trick) and rules.legal_cards(game) not in (hand, 0)

    driven.play_until(must_follow)
    game = driven.playing.game
    assert isinstance(game, rules.Play)
    account, turn_id = turn_of(driven)
    expected = rules.expected(game)
    assert expected is not None
    hand, legal = game.hands[expected.seat], rules.legal_cards(game)
    wrong = rules.card_names(rules.Mask(hand & ~legal))[0]
    rejection = driven.refusal(account, commands.PlayCard(turn_id=turn_id, card=wrong))
    assert rejection.code == "must_follow"
    assert rejection.suit_led == "CDHS"[rules.suit_of(game.trick[0])]
    assert rejection.legal_cards == rules.card_names(legal)


@pytest.mark.parametrize(
    ("card", "code"),
    [("1S", "malformed"), ("as", "malformed"), ("BJ", "not_in_hand"), ("LJ", "not_in_hand")],
)
def test_what_is_no_card_of_the_hand_is_refused(card: str, code: str) -> None:
    driven = four_people()
    driven.play_until(at_play)
    account, turn_id = turn_of(driven)
    assert driven.refused(account, commands.PlayCard(turn_id=turn_id, card=card)) == code


def test_spades_are_not_led_before_they_are_broken() -> None:
    driven = four_people()
    driven.play_until(at_play)
    game = driven.playing.game
    expected = rules.expected(game)
    assert expected is not None
    spades = rules.card_names(rules.Mask(rules.hand_of(game, expected.seat) & rules.SPADES))
    account, turn_id = turn_of(driven)
    refused = driven.refused(account, commands.PlayCard(turn_id=turn_id, card=spades[0]))
    assert refused == "spades_not_broken"


def test_a_move_of_another_phase_is_refused() -> None:
    driven = four_people()
    account, turn_id = turn_of(driven)
    play = commands.PlayCard(turn_id=turn_id, card="AS")
    swap = commands.PassCards(turn_id=turn_id, cards=("AS", "KS"))
    assert driven.refused(account, play) == "wrong_phase"
    assert driven.refused(account, swap) == "wrong_phase"
    driven.play_until(at_play)
    account, turn_id = turn_of(driven)
    assert driven.refused(account, commands.PlaceBid(turn_id=turn_id, bid=1)) == "wrong_phase"
    assert driven.refused(account, commands.LookAtCards(hand_no=1)) == "wrong_phase"
    assert driven.refused(account, commands.ReadyForNextHand()) == "wrong_phase"


def face_down(table: Table) -> bool:
    return (
        isinstance(table, Playing)
        and isinstance(table.game, rules.Auction)
        and table.turn is not None
        and table.turn.seat in table.game.face_down
    )


def test_a_face_down_seat_bids_blind_nil_or_looks_first() -> None:
    driven = four_people(ruleset="club")
    driven.play_until(face_down)
    account, turn_id = turn_of(driven)
    hand_no = driven.playing.game.hand_no
    deadline = driven.table.deadline
    dealt = driven.all_of(events.HandDealt)[-1]
    assert len(dealt.face_down) == 2

    assert driven.refused(account, commands.PlaceBid(turn_id=turn_id, bid=3)) == "look_first"
    assert driven.refused(account, commands.LookAtCards(hand_no=hand_no - 1)) == "stale_turn"
    told = driven.ask(account, commands.LookAtCards(hand_no=hand_no))
    # Looking is part of the bid: it restarts no clock.
    assert names(told) == ["CardsSeen"]
    assert driven.table.deadline == deadline
    assert driven.refused(account, commands.LookAtCards(hand_no=hand_no)) == "wrong_phase"
    blind = commands.PlaceBid(turn_id=turn_id, bid="blind_nil")
    assert driven.refused(account, blind) == "bid_refused"
    assert names(driven.ask(account, commands.PlaceBid(turn_id=turn_id, bid=3)))[0] == "BidMade"


def test_blind_nil_is_closed_where_the_cards_are_seen() -> None:
    driven = four_people(ruleset="club")
    account, turn_id = turn_of(driven)
    blind = commands.PlaceBid(turn_id=turn_id, bid="blind_nil")
    assert driven.refused(account, blind) == "bid_refused"
    assert driven.refused(account, commands.LookAtCards(hand_no=1)) == "wrong_phase"


def test_a_bad_swap_is_refused_and_a_good_one_told_without_its_cards() -> None:
    driven = four_people(ruleset="club")
    driven.play_until(face_down)
    account, turn_id = turn_of(driven)
    driven.ask(account, commands.PlaceBid(turn_id=turn_id, bid="blind_nil"))
    driven.play_until(lambda table: isinstance(table, Playing) and isinstance(table.game, rules.Swap))
    table = driven.playing
    account, turn_id = turn_of(driven)
    assert table.turn is not None
    assert table.turn.kind == "pass"
    hand = rules.card_names(table.game.hands[table.turn.seat])
    other = rules.card_names(table.game.hands[(table.turn.seat + 1) % 4])
    for cards, code in (
        ((hand[0], hand[0]), "bad_swap"),
        ((hand[0], other[0]), "not_in_hand"),
        ((hand[0], "XX"), "malformed"),
    ):
        assert driven.refused(account, commands.PassCards(turn_id=turn_id, cards=cards)) == code
    told = driven.ask(account, commands.PassCards(turn_id=turn_id, cards=(hand[0], hand[5])))
    assert names(told) == ["CardsPassed", "TurnStarted", "DeadlineSet"]
    assert hand[0].encode() not in driven.stored[-3][1]
    assert driven.refused(account, commands.PassCards(turn_id=turn_id, cards=(hand[1], hand[2]))) == ("stale_turn")


def test_the_next_hand_is_dealt_when_all_people_are_ready() -> None:
    driven = practice()
    driven.play_until(lambda table: isinstance(table, BetweenHands))
    assert driven.refused("eve", commands.ReadyForNextHand()) == "not_seated"
    told = driven.ask(HOST, commands.ReadyForNextHand())
    assert names(told) == ["SeatReady", "HandCommitted", "HandDealt", "TurnStarted", "DeadlineSet"]

    people = four_people()
    people.play_until(lambda table: isinstance(table, BetweenHands))
    for account in (HOST, "bob", "cat"):
        assert names(people.ask(account, commands.ReadyForNextHand())) == ["SeatReady"]
    assert people.refused("cat", commands.ReadyForNextHand()) == "wrong_phase"
    assert names(people.ask("dan", commands.ReadyForNextHand()))[:2] == [
        "SeatReady",
        "HandCommitted",
    ]


def test_the_dealer_goes_clockwise() -> None:
    driven = practice()
    driven.play_until(lambda table: isinstance(table, Playing) and table.game.hand_no == 5)
    dealers = [event.dealer for event in driven.all_of(events.HandDealt)]
    assert dealers == [(dealers[0] + hand) % 4 for hand in range(5)]


def test_nothing_is_taken_after_the_game_is_over() -> None:
    driven = practice()
    driven.play_to_the_end()
    assert isinstance(driven.table, Ended)
    judged = rules.PlayCard(rules.Seat(0), rules.parse_card("AS"))
    for command in (
        as_command(judged, "1:1", 1),
        commands.PlaceBid(turn_id="1:1", bid=1),
        commands.TakeSeat(),
        commands.ReleaseSeat(),
        commands.StartGame(),
        commands.LeaveGame(confirm_price_coins=0),
        commands.ReadyForNextHand(),
        commands.LookAtCards(hand_no=1),
        commands.OpenSeed(seed="00" * 32),
    ):
        assert driven.refused(HOST, command) == "game_over"


def test_between_hands_every_move_is_stale() -> None:
    driven = four_people()
    driven.play_until(lambda table: isinstance(table, BetweenHands))
    assert driven.refused(HOST, commands.PlayCard(turn_id="1:56", card="AS")) == "stale_turn"


def test_the_bot_service_asks_for_nothing_but_moves() -> None:
    fresh = DrivenTable()
    opening = commands.OpenTable(kind=TableKind.PRACTICE, ruleset=RulesetChoice(name="classic"))
    assert fresh.refused(BOT_ACCOUNT, opening) == "account_required"
    for driven in (open_table(), practice()):
        for command in (
            commands.TakeSeat(),
            commands.ReleaseSeat(),
            commands.StartGame(),
            commands.OpenSeed(seed="00" * 32),
            commands.LeaveGame(confirm_price_coins=0),
            commands.ReadyForNextHand(),
        ):
            assert driven.refused(BOT_ACCOUNT, command) == "account_required"


def open_table() -> DrivenTable:
    driven = DrivenTable()
    driven.open()
    return driven
