"""Whole games through decide and evolve, in every kind of table and every rule set."""

import json
import re
from dataclasses import replace

import pytest

import spades_rules as rules
from spades_events import commands, events
from spades_events.values import BOT_ACCOUNT, TableKind
from spades_table.house import House
from spades_table.phases import BetweenHands, Ended, Playing
from spades_table.seats import Bot
from tests.table.driving import (
    DrivenTable,
    against_the_computer,
    event_of,
    fold,
    four_people,
    practice,
)

RULESETS = [
    ("deniro", {}),
    ("classic", {}),
    ("classic", {"blind_nil": True, "swap": True}),
    ("bicycle", {"target": 200}),
    ("club", {}),
    ("jokers", {"blind_nil": True, "swap": True}),
]
RULESET_IDS = [f"{name}-{'-'.join(options) or 'plain'}" for name, options in RULESETS]
CARD = re.compile(rb'"([2-9TJQKA][CDHS]|LJ|BJ)"')


@pytest.mark.parametrize(("name", "options"), RULESETS, ids=RULESET_IDS)
def test_a_practice_game_comes_to_its_end_under_every_rule_set(
    name: str, options: dict[str, int | bool | None]
) -> None:
    driven = practice(ruleset=name, options=options)
    ended = driven.play_to_the_end()

    assert ended.settled
    assert ended.deadline is None
    (over,) = driven.all_of(events.GameEnded)
    assert over.reason in ("target", "floor")
    assert over.scores[over.winner or 0] == max(over.scores)
    assert over.hands == len(driven.all_of(events.HandScored)) == ended.hands
    # The end ends every wait, and is the last that is told.
    assert driven.told()[-1] == over
    assert {event.ruleset.name for event in driven.all_of(events.TableOpened)} == {name}


@pytest.mark.parametrize("kind", list(TableKind))
def test_a_game_comes_to_its_end_at_every_kind_of_table(kind: TableKind) -> None:
    if kind is TableKind.COINS:
        driven = against_the_computer()
    elif kind is TableKind.PRACTICE:
        driven = practice()
    else:
        stake = {"stake_coins": 50} if kind is TableKind.ONLINE else {}
        driven = four_people(kind, **stake)
    driven.play_to_the_end()
    driven.pay()

    assert isinstance(driven.table, Ended)
    assert driven.table.settled
    assert len(driven.all_of(events.GameEnded)) == 1
    settled = len(driven.all_of(events.GameSettled))
    assert settled == (1 if kind in (TableKind.COINS, TableKind.ONLINE) else 0)


def test_four_bots_play_a_practice_game_without_anybody() -> None:
    driven = DrivenTable()
    driven.open()
    driven.ask("ann", commands.StartGame())
    driven.play_until(lambda table: isinstance(table, Ended))
    (started,) = driven.all_of(events.GameStarted)
    assert {holder.account_id for holder in started.seats} == {BOT_ACCOUNT}
    assert not any(isinstance(event, events.SeatReady) for event in driven.told())


def test_a_hand_is_told_in_its_order() -> None:
    driven = four_people()
    driven.play_until(lambda table: isinstance(table, BetweenHands))
    last_move = [type(event).__name__ for event in driven.told()][-5:]
    assert last_move == ["CardPlayed", "TrickTaken", "HandScored", "DealRevealed", "DeadlineSet"]


def test_the_table_folded_from_its_stored_events_is_the_live_table() -> None:
    driven = practice(ruleset="club")
    driven.play_until(lambda table: isinstance(table, Playing) and table.game.hand_no == 3)
    for _ in range(30):
        driven.move()
    empty = DrivenTable().table
    assert fold(empty, driven.stored) == driven.table
    snapshot = driven.snapshots[-1]
    assert fold(snapshot, driven.stored[snapshot.version :]) == driven.table


def test_the_dealt_hands_are_those_of_the_revealed_secret() -> None:
    driven = four_people()
    driven.play_until(lambda table: isinstance(table, Playing) and table.game.hand_no == 2)
    (revealed,) = driven.all_of(events.DealRevealed)
    first, _ = driven.all_of(events.HandCommitted)
    (opened,) = driven.all_of(events.TableOpened)
    secret = bytes.fromhex(revealed.secret)
    assert rules.fingerprint(secret).hex() == first.fingerprint == opened.anchor
    dealt = rules.deal_hands(secret, driven.table_id, 1, revealed.dealer, revealed.deck_id, rules.NO_SEEDS)
    played = [0, 0, 0, 0]
    for event in driven.told():
        if isinstance(event, events.CardPlayed) and event.turn_id.startswith("1:"):
            played[event.seat] |= 1 << rules.parse_card(event.card)
    assert tuple(played) == dealt
    assert first.dealer == rules.first_dealer(secret, driven.table_id, 0, rules.NO_SEEDS)


@pytest.mark.parametrize(("name", "options"), RULESETS[2:], ids=RULESET_IDS[2:])
def test_no_public_event_names_a_card_before_it_is_played_or_revealed(
    name: str, options: dict[str, int | bool | None]
) -> None:
    driven = practice(ruleset=name, options=options)
    driven.play_to_the_end()
    shown: set[bytes] = set()
    for kind, body, secret in driven.stored:
        event = event_of((kind, body, secret))
        if isinstance(event, events.HandDealt):
            shown = set()
        if isinstance(event, events.CardPlayed):
            shown.add(event.card.encode())
        named = set(CARD.findall(body))
        if isinstance(event, events.DealRevealed):
            assert named <= {card.encode() for card in rules.CARD_NAMES}
        else:
            assert named <= shown, kind


def test_no_public_event_holds_a_secret_of_the_chain_before_its_hand_is_over() -> None:
    driven = four_people()
    driven.play_until(lambda table: isinstance(table, Playing) and table.game.hand_no == 4)
    links = [link.hex() for link in rules.chain(driven.root)]
    over = 0
    for stored in driven.stored:
        event = event_of(stored)
        if isinstance(event, events.DealRevealed):
            over = event.hand_no
        for hidden in links[over + 1 :]:
            assert hidden.encode() not in stored[1]


def test_a_blind_nil_swap_is_hidden_until_its_hand_is_revealed() -> None:
    driven = swapped_hand()
    passed = driven.all_of(events.CardsPassed)
    assert [event.count for event in passed[-2:]] == [2, 2]
    assert b'"cards"' not in next(body for kind, body, _ in driven.stored if kind == "spades.cards_passed.v1")
    driven.play_until(lambda table: isinstance(table, BetweenHands | Ended))
    revealed = driven.all_of(events.DealRevealed)[-1]
    (swap,) = revealed.swaps
    secrets = [secret for kind, _, secret in driven.stored if kind == "spades.cards_passed.v1"]
    assert [rules.card_names(rules.Mask(int.from_bytes(secret or b"", "big"))) for secret in secrets] == [
        swap.passed,
        swap.returned,
    ]
    assert swap.bidder == passed[0].from_seat


def swapped_hand() -> DrivenTable:
    """A game of people that has just come through a Blind Nil swap."""
    driven = four_people(ruleset="club")

    def swap_open(table: object) -> bool:
        return isinstance(table, Playing) and bool(
            isinstance(table.game, rules.Auction) and table.turn is not None and table.turn.seat in table.game.face_down
        )

    driven.play_until(swap_open)
    table = driven.playing
    assert table.turn is not None
    account = table.occupants[table.turn.seat]
    assert not isinstance(account, Bot)
    driven.ask(account.account_id, commands.PlaceBid(turn_id=table.turn.turn_id, bid="blind_nil"))
    driven.play_until(lambda table: isinstance(table, Playing) and isinstance(table.game, rules.Play))
    return driven


def test_a_game_ends_at_the_limit_on_hands() -> None:
    limited = DrivenTable(house=_house_of_hands(2))
    limited.open()
    limited.ask("ann", commands.StartGame())
    limited.play_to_the_end()
    (over,) = limited.all_of(events.GameEnded)
    assert over.hands == 2
    assert over.reason == ("draw" if over.winner is None else "hand_limit")


def _house_of_hands(hands_max: int) -> House:
    """A house whose rules end every game after so many hands."""
    version = rules.rules_for(1)

    def short_game(ruleset: rules.Ruleset) -> rules.AwaitingDeal:
        return version.new_game(replace(ruleset, hands_max=hands_max))

    return House(rules={1: replace(version, new_game=short_game)})


def test_a_game_keeps_the_rules_version_that_it_began_under() -> None:
    first = rules.rules_for(1)
    planted = replace(
        first,
        version=2,
        new_game=lambda ruleset: first.new_game(replace(ruleset, hands_max=1)),
    )
    old = DrivenTable()
    old.open()
    old.ask("ann", commands.StartGame())
    both = House(rules={1: first, 2: planted}, rules_version=2)
    goes_on = DrivenTable(house=both)
    goes_on.table = fold(goes_on.table, old.stored)
    goes_on.stored = list(old.stored)
    goes_on.play_to_the_end()
    assert goes_on.all_of(events.GameEnded)[0].hands > 1

    new = DrivenTable(house=both)
    new.open()
    new.ask("ann", commands.StartGame())
    new.play_to_the_end()
    assert new.all_of(events.GameEnded)[0].hands == 1
    assert new.all_of(events.TableOpened)[0].rules_version == 2


def test_the_bodies_are_plain_json() -> None:
    driven = practice()
    for _, body, _ in driven.stored:
        json.loads(body)


def test_no_text_of_a_table_shows_a_hand_a_seed_or_the_chain() -> None:
    driven = four_people()
    assert repr(driven.table) == f"<Playing at version {driven.table.version}>"
    assert str(driven.playing.setup) == "<Setup of table-1>"
