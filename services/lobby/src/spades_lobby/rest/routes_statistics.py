"""Deal statistics, for everybody: what was dealt beside what should have been."""

from collections import Counter

from fastapi import APIRouter

from spades_lobby.games import dealt, fairness
from spades_lobby.games.fairness import MEASURES, SEATS, SUITS, Seen
from spades_lobby.rest.bodies import View
from spades_lobby.rest.routes_people import Lobby

router = APIRouter(prefix="/v1", tags=["games"])


class ValueView(View):
    """One value, say four spades: how many hands of each seat should have it, and how many had."""

    value: int
    expected: float
    measured: list[int]
    """By seat; of the ace of spades, one number a value."""


class TestView(View):
    chi_square: float
    degrees: int
    p: float
    """How often a fair deal is as far off, or further."""


class MeasureView(View):
    name: str
    """`spades`, `longest_suit` and `aces` of a hand; `ace_of_spades`: the seat that got it."""
    values: list[ValueView]
    tests: list[TestView | None]
    """By seat; null where there are too few hands yet."""


class DeckView(View):
    deck_id: int
    """0: 52 cards; 1: with two jokers, without 2♦ and 2♣."""
    deals: int
    measures: list[MeasureView]


class DealStatistics(View):
    deals: int
    """All deals whose secret was revealed."""
    decks: list[DeckView]


@router.get("/statistics/deals")
async def deals(gateway: Lobby) -> DealStatistics:
    """Spades, longest suit and aces of every revealed hand, and where the ace of spades went."""
    async with gateway.engine.connect() as db:
        counts = await dealt.counts(db)
    decks = [deck_view(deck_id, counts) for deck_id in SUITS]
    shown = [deck for deck in decks if deck.deals]
    return DealStatistics(deals=sum(deck.deals for deck in shown), decks=shown)


def deck_view(deck_id: int, counts: Counter[Seen]) -> DeckView:
    """One deck's counts beside what they should be."""
    deals = sum(counts[Seen(deck_id, "ace_of_spades", 0, seat)] for seat in SEATS)
    measures = [_measure(deck_id, name, deals, counts) for name in MEASURES]
    return DeckView(deck_id=deck_id, deals=deals, measures=measures)


def _measure(deck_id: int, name: str, deals: int, counts: Counter[Seen]) -> MeasureView:
    seats = (0,) if name == "ace_of_spades" else SEATS
    expected = {value: chance * deals for value, chance in fairness.chances(deck_id, name).items()}
    measured = {seat: {value: counts[Seen(deck_id, name, seat, value)] for value in expected} for seat in seats}
    tests = [fairness.tested(measured[seat], expected) for seat in seats]
    return MeasureView(
        name=name,
        values=[
            ValueView(value=value, expected=wanted, measured=[measured[seat][value] for seat in seats])
            for value, wanted in expected.items()
        ],
        tests=[None if test is None else TestView(**test._asdict()) for test in tests],
    )
