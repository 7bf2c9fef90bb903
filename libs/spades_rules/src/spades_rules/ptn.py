"""PTN: a hand as bridge's portable notation (PBN) has it, in the dialect of Spades sites.

One block of tags a hand. Seats 0 to 3 are N, E, S, W. A deal lists spades, hearts, diamonds and
clubs, high to low, the jokers being B and L. `[Auction "E"]` is followed by the four bids from that
seat on, `[Play "E"]` by one row a trick whose columns are the seats from that seat on, in every
row; a card not played is a dash. What PBN has no tag for (rules, options, scores, passes, and what
the caller adds, such as a commitment or a secret) comes as tags of its own. When a seat looked at
cards that lay face down is not told: read back, it looks in its turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, cast

from spades_rules.bids import BLIND_NIL, Bid, parse_bid
from spades_rules.cards import RANK_NAMES, SUITS, Card, Mask, cards_in, parse_card, parse_cards
from spades_rules.commands import Command, DealHand, Hands, LookAtCards, PassCards, PlaceBid, PlayCard
from spades_rules.decision import decide, expected
from spades_rules.errors import BadNotation, OptionRefused
from spades_rules.events import (
    BidMade,
    CardPlayed,
    CardsPassed,
    Event,
    GameEnded,
    HandDealt,
    HandScored,
)
from spades_rules.game import Auction, AwaitingDeal, Game, new_game
from spades_rules.history import replay
from spades_rules.presets import ruleset_stamped
from spades_rules.rejection import Rejected
from spades_rules.ruleset import OptionValue, Ruleset
from spades_rules.seats import Seat
from spades_rules.transcript import Transcript

SEAT_LETTERS: Final = "NESW"
_BID_WORDS: Final = {"nil": "Nil", "blind_nil": "Blind"}
_BIDS_READ: Final = {word: bid for bid, word in _BID_WORDS.items()}
_TAG: Final = re.compile(r'\[(\w+) "((?:[^"\\]|\\.)*)"\]')
_HAND_TAGS: Final = {"Rules", "Options", "Board", "Dealer", "Deal", "Passes", "Auction", "Play"}
_RESULT_TAGS: Final = {"Result", "ScoreNS", "ScoreEW", "GameEnd"}


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


# Reading. A tag's name leads to its value and the words that stand below it.
Tags = dict[str, tuple[str, list[str]]]


def read_ptn(text: str) -> Transcript:
    """Play the hands again that `write_ptn` wrote, passing over tags of others.

    A text may begin with any hand; with a later one only if that is finished, for then its scores
    tell those before it. Raises BadNotation where it is not a game by the rules, and where a result
    is not the one that the rules give.
    """
    reading: _Reading | None = None
    for number, block in enumerate(re.split(r"\n\s*\n", text.strip()), 1):
        lines = [line.strip() for line in block.splitlines()]
        try:
            tags = _tags(lines)
            if reading is None:
                reading = _Reading(_start(tags))
            _compare(lines, reading.hand(tags))
        except (BadNotation, Rejected, OptionRefused, ValueError) as failure:
            raise BadNotation(f"hand {number} of the text: {failure}") from failure
    assert reading is not None
    return Transcript(
        start=reading.start, commands=tuple(reading.commands), events=tuple(reading.events), game=reading.game
    )


class _Reading:
    """A game that is played while its text is read."""

    def __init__(self, start: AwaitingDeal) -> None:
        self.start = start
        self.game: Game = start
        self.commands: list[Command] = []
        self.events: list[Event] = []

    def hand(self, tags: Tags) -> list[str]:
        """Play one hand; returns its lines as we would have written them."""
        before = len(self.events)
        if _rules(tags) != self.game.ruleset:
            raise BadNotation("a game has the same rules in every hand")
        self._take(DealHand(int(_value(tags, "Board")), _seat(_value(tags, "Dealer")), _hands(_value(tags, "Deal"))))
        for word in tags.get("Auction", ("", []))[1]:
            self._bid(parse_bid(_BIDS_READ.get(word) or int(word)))
        for word in tags.get("Passes", ("", []))[0].split():
            letter, cards = word.split(":")
            self._take(PassCards(_seat(letter), parse_cards(map(_card_name, cards.split(",")))))
        if "Play" in tags:
            self._tricks(_seat(tags["Play"][0]), tags["Play"][1])
        return list(_block(self.start, self.events[before:], {}))

    def _take(self, command: Command) -> None:
        caused = decide(self.game, command)
        self.commands.append(command)
        self.events += caused
        self.game = replay(self.game, caused)

    def _turn(self) -> Seat:
        turn = expected(self.game)
        if turn is None:
            raise BadNotation("more follows when the hand is over")
        return turn.seat

    def _bid(self, bid: Bid) -> None:
        seat = self._turn()
        if isinstance(self.game, Auction) and seat in self.game.face_down and bid != BLIND_NIL:
            self._take(LookAtCards(seat))
        self._take(PlaceBid(seat, bid))

    def _tricks(self, first: Seat, words: list[str]) -> None:
        for at in range(0, len(words), 4):
            row = (words[at : at + 4] + ["-"] * 3)[:4]
            for _ in range(4 - row.count("-")):
                seat = self._turn()
                self._take(PlayCard(seat, parse_card(_card_name(row[(seat - first) % 4]))))


def _tags(lines: list[str]) -> Tags:
    tags: Tags = {}
    below: list[str] | None = None
    for line in lines:
        if match := _TAG.fullmatch(line):
            name, value = match.groups()
            if name in tags:
                raise BadNotation(f"{name} stands twice")
            below = []
            tags[name] = (re.sub(r"\\(.)", r"\1", value), below)
        elif below is None:
            raise BadNotation(f"{line!r} is no tag")
        else:
            below += line.split()
    return tags


def _value(tags: Tags, name: str) -> str:
    if name not in tags:
        raise BadNotation(f"there is no {name}")
    return tags[name][0]


def _start(tags: Tags) -> AwaitingDeal:
    rules, hand_no = _rules(tags), int(_value(tags, "Board"))
    if hand_no == 1:
        return new_game(rules)
    one, two = (_score_before(_value(tags, name)) for name in ("ScoreNS", "ScoreEW"))
    # The last digit of a score is the bag count; the comparison finds rules where it is not.
    bags = (one % rules.bag_limit, two % rules.bag_limit)
    return AwaitingDeal(
        ruleset=rules, scores=(one, two), bags=bags, hand_no=hand_no, dealer=_seat(_value(tags, "Dealer"))
    )


def _score_before(value: str) -> int:
    delta, after, _ = value.split()
    return int(after) - int(delta)


def _rules(tags: Tags) -> Ruleset:
    options: dict[str, OptionValue] = {}
    for word in _value(tags, "Options").split():
        name, value = word.split("=")
        options[name] = {"True": True, "False": False}.get(value, value)
        if value.lstrip("-").isdigit():
            options[name] = int(value)
    return ruleset_stamped(_value(tags, "Rules"), options)


def _seat(letter: str) -> Seat:
    if len(letter) != 1 or letter not in SEAT_LETTERS:
        raise BadNotation(f"{letter!r} is no seat")
    return Seat(SEAT_LETTERS.index(letter))


def _hands(value: str) -> Hands:
    start, _, holdings = value.partition(":")
    if start != "N":
        raise BadNotation("a deal begins with N")
    return cast(Hands, tuple(_hand(holding) for holding in holdings.split()))


def _hand(holding: str) -> Mask:
    suits = zip("SHDC", holding.split("."), strict=True)
    return parse_cards([_card_name(suit + rank) for suit, ranks in suits for rank in ranks])


def _card_name(word: str) -> str:
    """The library's own name of a card that PTN writes suit first."""
    return {"SL": "LJ", "SB": "BJ"}.get(word) or word[1:] + word[:1]


def _compare(lines: list[str], ours: list[str]) -> None:
    """The text must say what the rules say: turns, results and the end are not read, but compared."""
    theirs = [line for line in lines if not (match := _TAG.fullmatch(line)) or match[1] in _HAND_TAGS | _RESULT_TAGS]
    for line, own in zip(theirs, ours, strict=False):
        if line.split() != own.split():
            raise BadNotation(f"{line!r} should be {own!r}")
    if len(theirs) != len(ours):
        raise BadNotation(f"{len(theirs)} lines should be {len(ours)}")
