"""Deal statistics: what a fair deal looks like, exactly; and each revealed hand is counted once."""

import math
import secrets
from collections import Counter

import pytest

from spades_events import CE_TYPES, RulesetChoice, TableKind, encode, events
from spades_lobby.games import dealt, fairness, handlers
from spades_lobby.games.fairness import Seen
from spades_lobby.games.readmodel import EventRow
from spades_rules import deal_hands, parse_cards
from tests.lobby.conftest import House

HEX = "cd" * 32
A_HAND = ("AS KS QS JS 2H 3H 4H 5H 6H 2D 3D 4D 2C", "TS AH AD", "LJ BJ", "AC")


@pytest.mark.parametrize("deck_id", fairness.SUITS)
@pytest.mark.parametrize("measure", fairness.MEASURES)
def test_the_chances_of_all_values_are_one(deck_id: int, measure: str) -> None:
    assert math.isclose(sum(fairness.chances(deck_id, measure).values()), 1)


def test_the_chances_are_those_of_the_books() -> None:
    # Published for bridge hands: the longest suit has four cards in 35.1 % of them, five in 44.3 %.
    longest = fairness.chances(0, "longest_suit")
    assert [round(100 * longest[value], 1) for value in (4, 5, 6, 7)] == [35.1, 44.3, 16.5, 3.5]
    assert round(100 * fairness.chances(0, "aces")[0], 1) == 30.4
    # Fifteen spades among 52 cards: 13 x 15 / 52 on average.
    assert math.isclose(sum(k * p for k, p in fairness.chances(1, "spades").items()), 3.75)


def test_a_joker_is_a_spade_and_no_ace() -> None:
    hands = [parse_cards(names.split()) for names in A_HAND]
    seen = Counter(fairness.seen_in(1, hands))
    assert seen[Seen(1, "spades", 2, 2)] == 1
    assert seen[Seen(1, "spades", 0, 4)] == seen[Seen(1, "longest_suit", 0, 5)] == 1
    assert [seen[Seen(1, "aces", seat, aces)] for seat, aces in enumerate((1, 2, 0, 1))] == [1] * 4
    assert seen[Seen(1, "ace_of_spades", 0, 0)] == 1


@pytest.mark.parametrize(
    ("chi_square", "degrees", "p"), [(3.841, 1, 0.05), (5.991, 2, 0.05), (11.345, 3, 0.01), (18.307, 10, 0.05)]
)
def test_the_tail_of_chi_square_is_that_of_the_tables(chi_square: float, degrees: int, p: float) -> None:
    assert math.isclose(fairness.chi_square_tail(chi_square, degrees), p, abs_tol=5e-5)


def test_rare_values_are_joined_before_they_are_tested() -> None:
    assert fairness.tested({0: 3}, {0: 3.0}) is None
    test = fairness.tested({0: 8, 1: 12, 2: 1}, {0: 10.0, 1: 10.0, 2: 1.0})
    assert test is not None
    assert (test.degrees, round(test.chi_square, 3)) == (1, round(0.4 + 4 / 11, 3))


def test_an_unfair_deal_is_found_and_a_fair_one_passes() -> None:
    """The fixed keys of these deals are part of the test: it never fails by chance."""
    counts = Counter(
        seen
        for number in range(1, 600)
        for seen in fairness.seen_in(0, deal_hands(bytes(32), f"game-{number}", 1, number % 4, 0, [bytes(32)] * 4))
    )
    expected = {value: 599 * chance for value, chance in fairness.chances(0, "spades").items()}
    fair = [fairness.tested({v: counts[Seen(0, "spades", seat, v)] for v in expected}, expected) for seat in range(4)]
    assert all(test is not None and test.p > 1e-3 for test in fair)
    # A seat that always gets a spade more than it should.
    stacked = fairness.tested({value + 1: counts[Seen(0, "spades", 0, value)] for value in expected}, expected)
    assert stacked is not None
    assert stacked.p < 1e-6


def _story(table_id: str) -> list[EventRow]:
    told = (
        events.TableOpened(
            kind=TableKind.PRACTICE,
            ruleset=RulesetChoice(name="deniro"),
            rules_version=1,
            stake_coins=0,
            fee_coins=0,
            clock_ms=None,
            host="ada",
            bots_welcome=True,
            anchor=HEX,
        ),
        events.SeedsFixed(seeds=(HEX, HEX, HEX, HEX), seed_missing=(False, False, False, False)),
        events.DealRevealed(hand_no=1, secret=HEX, dealer=3, deck_id=0, swaps=()),
        events.DealRevealed(hand_no=2, secret="ab" * 32, dealer=0, deck_id=0, swaps=()),
    )
    return [
        EventRow(table_id, version, CE_TYPES[type(event)], 1_700_000_000_000 + version, "", encode(event))
        for version, event in enumerate(told, start=1)
    ]


@pytest.mark.real
@pytest.mark.asyncio(loop_scope="module")
async def test_each_revealed_hand_is_counted_once_and_told_to_everybody(lobby: House) -> None:
    rows = _story(f"00000000-0000-0000-0000-{secrets.token_hex(6)}")
    async with lobby.gateway.engine.begin() as db:
        before = await dealt.counts(db)
    # Twice, and once more in two parts, as a group that is shared out anew brings them.
    for batch in (rows, rows, rows[:3], rows[3:]):
        async with lobby.gateway.engine.begin() as db:
            await handlers.keep_table_events(db, batch)
    async with lobby.gateway.engine.begin() as db:
        added = await dealt.counts(db) - before
    assert sum(added[Seen(0, "ace_of_spades", 0, seat)] for seat in range(4)) == 2
    assert sum(added.values()) == 2 * (3 * 4 + 1)
    async with lobby.player() as player:
        told = (await player.http.get("/v1/statistics/deals")).json()
    deck = next(deck for deck in told["decks"] if deck["deck_id"] == 0)
    assert [measure["name"] for measure in deck["measures"]] == list(fairness.MEASURES)
    assert all(
        math.isclose(sum(value["expected"] for value in measure["values"]), deck["deals"])
        for measure in deck["measures"]
    )
