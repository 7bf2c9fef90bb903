"""PTN: a hand as bridge's portable notation (PBN) has it, in the dialect of Spades sites.

One block of tags a hand. Seats 0 to 3 are N, E, S, W. A deal lists spades, hearts, diamonds and
clubs, high to low, the jokers being B and L. `[Auction "E"]` is followed by the four bids from that
seat on, `[Play "E"]` by one row a trick whose columns are the seats from that seat on, in every
row; a card not played is a dash. What PBN has no tag for (rules, options, scores, passes, and what
the caller adds, such as a commitment or a secret) comes as tags of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from spades_rules.cards import RANK_NAMES, SUITS, Card, Mask, cards_in
from spades_rules.events import (
    BidMade,
    CardPlayed,
    CardsPassed,
    Event,
    GameEnded,
    HandDealt,
    HandScored,
)
from spades_rules.game import AwaitingDeal
from spades_rules.seats import Seat

SEAT_LETTERS = "NESW"
_BID_WORDS = {"nil": "Nil", "blind_nil": "Blind"}


def write_ptn(start: AwaitingDeal, events: Iterable[Event], tags: Mapping[str, str] | None = None) -> str:
    """Write the hands that followed `start`; `tags` go into every block, as they are given.

    Quotes and backslashes in tags are escaped. A hand that broke off is written as far as it went.
    """
    blocks: list[list[Event]] = []
    for event in events:
        if isinstance(event, HandDealt):
            blocks.append([])
        blocks[-1].append(event)
    return "\n".join("\n".join(_block(start, block, tags or {})) + "\n" for block in blocks)


def _block(start: AwaitingDeal, events: list[Event], tags: Mapping[str, str]) -> Iterator[str]:
    dealt = events[0]
    assert isinstance(dealt, HandDealt)
    rules = start.ruleset
    for name, value in tags.items():
        yield _tag(name, value)
    yield _tag("Rules", rules.name)
    yield _tag("Options", " ".join(f"{name}={value}" for name, value in rules.options))
    yield _tag("Board", str(dealt.hand_no))
    yield _tag("Dealer", SEAT_LETTERS[dealt.dealer])
    yield _tag("Deal", "N:" + " ".join(_holding(hand) for hand in dealt.hands))
    passes = [event for event in events if isinstance(event, CardsPassed)]
    if passes:
        yield _tag("Passes", " ".join(_pass(event) for event in passes))
    yield from _auction([event for event in events if isinstance(event, BidMade)])
    yield from _play([event for event in events if isinstance(event, CardPlayed)])
    for event in events:
        if isinstance(event, HandScored):
            one, two = event.teams
            yield _tag("Result", " ".join(map(str, event.tricks)))
            yield _tag("ScoreNS", f"{one.delta:+d} {one.score_after} {one.bags_after}")
            yield _tag("ScoreEW", f"{two.delta:+d} {two.score_after} {two.bags_after}")
        elif isinstance(event, GameEnded):
            winner = "draw" if event.winner is None else ("NS", "EW")[event.winner]
            yield _tag("GameEnd", f"{winner} {event.reason.value}")


def _auction(bids: list[BidMade]) -> Iterator[str]:
    if bids:
        yield _tag("Auction", SEAT_LETTERS[bids[0].seat])
        yield " ".join(_BID_WORDS.get(str(event.bid), str(event.bid)) for event in bids)


def _play(cards: list[CardPlayed]) -> Iterator[str]:
    if not cards:
        return
    first = cards[0].seat
    yield _tag("Play", SEAT_LETTERS[first])
    for at in range(0, len(cards), 4):
        row = ["-", "-", "-", "-"]
        for event in cards[at : at + 4]:
            row[(event.seat - first) % 4] = _card(event.card)
        yield " ".join(row)


def _holding(hand: Mask) -> str:
    suits = (Mask(hand & SUITS[suit]) for suit in (3, 2, 1, 0))
    return ".".join("".join(_rank(card) for card in reversed(list(cards_in(suit)))) for suit in suits)


def _rank(card: Card) -> str:
    return "LB"[card - 52] if card >= 52 else RANK_NAMES[card % 13]


def _card(card: Card) -> str:
    return "CDHSS"[card // 13] + _rank(card)


def _pass(event: CardsPassed) -> str:
    return f"{_letter(event.from_seat)}:{','.join(_card(card) for card in cards_in(event.cards))}"


def _letter(seat: Seat) -> str:
    return SEAT_LETTERS[seat]


def _tag(name: str, value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{escaped}"]'
