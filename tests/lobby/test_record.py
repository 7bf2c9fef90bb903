"""A game's record and its hands, from the public events alone."""

import re

import pytest

import spades_rules as rules
from spades_events import events
from spades_events.values import TableKind
from spades_lobby import domain
from spades_lobby.domain import Game
from spades_lobby.games import record
from spades_lobby.rest import views
from tests.table.driving import DrivenTable, four_people

ROW = re.compile(r"^(?:[CDHS][2-9TJQKALB] ?){4}$", re.MULTILINE)


def played(ruleset: str) -> tuple[DrivenTable, Game]:
    driven = four_people(TableKind.PRIVATE, ruleset=ruleset)
    driven.play_to_the_end()
    opened, *rest = driven.told()
    assert isinstance(opened, events.TableOpened)
    game = domain.opened(opened, driven.table_id, 0)
    for version, event in enumerate(rest, start=2):
        game = domain.fold(game, event, version, version)
    return driven, game


@pytest.mark.parametrize("ruleset", ["deniro", "club", "jokers"])
def test_every_finished_hand_stands_in_the_record_with_all_its_cards(ruleset: str) -> None:
    driven, game = played(ruleset)
    hands = record.hands_of(driven.told())
    text = record.ptn_of(game, hands)
    assert text.count("[Deal ") == text.count("[Result ") == len(driven.all_of(events.HandScored))
    assert len(ROW.findall(text)) == 13 * len(hands)
    assert f'[Game "{driven.table_id}"]' in text
    assert f'[Rules "{ruleset}"]' in text
    over = driven.all_of(events.GameEnded)[0]
    assert f'[GameEnd "{("NS", "EW")[over.winner or 0]} {over.reason}"]' in text
    # Read back, every hand is a game by the rules and has the results that were told.
    assert rules.read_ptn(text).game.scores == over.scores


def test_a_hand_is_shown_whole_once_it_is_over_and_without_its_deal_before() -> None:
    driven, game = played("club")
    facts = driven.told()
    shown = views.hand(game, record.hands_of(facts)[0])
    assert shown.hands is not None
    assert sorted(card for hand in shown.hands for card in hand) == sorted(
        card for row in shown.tricks for card in row.cards
    )
    assert [len(hand) for hand in shown.hands] == [13] * 4
    assert len(shown.tricks) == 13
    assert shown.scored is not None
    cut = next(at for at, fact in enumerate(facts) if isinstance(fact, events.TrickTaken))
    running = record.hands_of(facts[: cut + 1])
    early = views.hand(game, running[0])
    assert (early.hands, early.scored, len(early.tricks)) == (None, None, 1)
    assert record.ptn_of(game, running) == ""


def test_the_hands_of_a_record_are_those_that_were_played() -> None:
    driven, game = played("deniro")
    for hand in record.hands_of(driven.told()):
        dealt = record.dealt_hands(game, hand)
        assert dealt is not None
        held = [set(rules.card_names(cards)) for cards in dealt]
        for card in hand.cards:
            assert card.card in held[card.seat]
