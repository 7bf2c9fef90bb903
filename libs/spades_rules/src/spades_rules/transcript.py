"""A transcript: a game as text that a person can read and a program can play again.

    spades 1 club target=300
    hand 2 dealer 1
    deal 0 3C 5C AC ...            one line a seat
    look 0
    bids 2 | 3 nil 4 2             the first bidder, then clockwise
    pass 3 5D JS
    trick 2 | 4C KC 5C 7C -> 3     the leader, four cards, the winner
    score 40 -20 bags 0 0
    end 0 target

Only choices are read back; what follows from them (winners, scores, the end) is written for the
reader and checked. Text after `#` is a comment. A `from` line starts in mid-game:
`from hand 5 dealer 2 scores 120 -31 bags 0 9`. A hand may break off anywhere; a running trick has
fewer than four cards and no winner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from spades_rules.bids import Bid, parse_bid
from spades_rules.cards import Mask, card_name, card_names, parse_card, parse_cards
from spades_rules.commands import (
    Command,
    DealHand,
    Hands,
    LookAtCards,
    PassCards,
    PlaceBid,
    PlayCard,
)
from spades_rules.decision import decide
from spades_rules.errors import BadNotation, OptionRefused
from spades_rules.events import (
    BidMade,
    CardPlayed,
    CardsPassed,
    CardsSeen,
    Event,
    GameEnded,
    HandDealt,
    HandScored,
    SpadesBroken,
    TrickTaken,
)
from spades_rules.game import Auction, AwaitingDeal, Game, new_game
from spades_rules.history import evolve, replay
from spades_rules.presets import ruleset_stamped
from spades_rules.rejection import Rejected
from spades_rules.ruleset import OptionValue
from spades_rules.seats import SEATS, Seat, left_of

FORMAT_VERSION = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Transcript:
    """A game read: its start, its commands, the events they caused, and where it stands."""

    start: AwaitingDeal
    commands: tuple[Command, ...]
    events: tuple[Event, ...]
    game: Game


def write_transcript(start: AwaitingDeal, events: Iterable[Event]) -> str:
    """Write the events that followed `start` as text, ending with a newline."""
    lines = [_title(start)]
    if start != new_game(start.ruleset):
        lines.append(_from_line(start))
    writer = _Writer(start)
    for event in events:
        writer.add(event)
    return "\n".join(lines + writer.finish()) + "\n"


def read_transcript(text: str) -> Transcript:
    """Play a text again. Raises BadNotation, with the line, where it is not a game by the rules."""
    start: AwaitingDeal | None = None
    game: Game | None = None
    commands: list[Command] = []
    events: list[Event] = []
    lines = [(number, line) for number, line in enumerate(map(_bare, text.splitlines()), 1) if line]
    for at, (number, line) in enumerate(lines):
        try:
            if start is None or game is None:
                start = game = _read_title(line)
            elif line.startswith("from "):
                if commands:
                    raise BadNotation("`from` comes before the first hand")
                start = game = _read_from(start, line)
            elif line.startswith("hand "):
                following = [row for _, row in lines[at + 1 : at + 5]]
                for command in _read_deal(line, following):
                    game = _play(game, command, commands, events)
            elif line.startswith(("score ", "end ")):
                _check_result(line, events)
            elif not line.startswith("deal "):
                for command in _read_moves(line):
                    game = _play(game, command, commands, events)
                _check_trick(line, events)
        except (BadNotation, Rejected, OptionRefused, ValueError, IndexError) as failure:
            raise BadNotation(f"line {number}, {line!r}: {failure}") from failure
    if start is None or game is None:
        raise BadNotation("an empty transcript")
    return Transcript(start=start, commands=tuple(commands), events=tuple(events), game=game)


def _play(game: Game, command: Command, commands: list[Command], events: list[Event]) -> Game:
    caused = decide(game, command)
    commands.append(command)
    events += caused
    return replay(game, caused)


class _Writer:
    """Gathers bids and cards into one line each, in the order of the events."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._lines: list[str] = []
        self._bids: list[str] = []
        self._trick: list[str] = []

    def add(self, event: Event) -> None:
        match event:
            case HandDealt(hand_no, dealer, hands):
                self._lines.append(f"hand {hand_no} dealer {dealer}")
                self._lines += [f"deal {seat} {_names(hands[seat])}" for seat in SEATS]
            case CardsSeen() if not isinstance(self._game, Auction):
                # Blind Nil cards turn with the last bid; nobody chose it.
                pass
            case CardsSeen(seat):
                self._close_bids()
                self._lines.append(f"look {seat}")
            case BidMade(seat, bid):
                if not self._bids:
                    self._bids = [f"bids {seat} |"]
                self._bids.append(str(bid))
            case CardsPassed(from_seat, _, cards):
                self._close_bids()
                self._lines.append(f"pass {from_seat} {_names(cards)}")
            case CardPlayed(seat, card):
                self._close_bids()
                if not self._trick:
                    self._trick = [f"trick {seat} |"]
                self._trick.append(card_name(card))
            case TrickTaken(winner):
                self._close_trick(f"-> {winner}")
            case HandScored() | GameEnded():
                self._lines.append(_result(event))
            case SpadesBroken():
                pass
        self._game = evolve(self._game, event)

    def finish(self) -> list[str]:
        self._close_bids()
        self._close_trick()
        return self._lines

    def _close_bids(self) -> None:
        if self._bids:
            self._lines.append(" ".join(self._bids))
            self._bids = []

    def _close_trick(self, *ending: str) -> None:
        if self._trick:
            self._lines.append(" ".join((*self._trick, *ending)))
            self._trick = []


def _title(start: AwaitingDeal) -> str:
    options = [f"{name}={_option_text(value)}" for name, value in start.ruleset.options]
    return " ".join((f"spades {FORMAT_VERSION} {start.ruleset.name}", *options))


def _option_text(value: OptionValue) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def _option_value(text: str) -> OptionValue:
    if text in ("on", "off"):
        return text == "on"
    return int(text) if text.lstrip("-").isdigit() else text


def _read_title(line: str) -> AwaitingDeal:
    word, version, name, *options = line.split()
    if word != "spades" or version != str(FORMAT_VERSION):
        raise BadNotation(f"a transcript begins with `spades {FORMAT_VERSION}`")
    pairs = [option.split("=", 1) for option in options]
    return new_game(ruleset_stamped(name, {key: _option_value(value) for key, value in pairs}))


def _from_line(start: AwaitingDeal) -> str:
    dealer = "any" if start.dealer is None else str(start.dealer)
    scores, bags = start.scores, start.bags
    return f"from hand {start.hand_no} dealer {dealer} scores {scores[0]} {scores[1]} bags {bags[0]} {bags[1]}"


def _read_from(start: AwaitingDeal, line: str) -> AwaitingDeal:
    words = line.split()
    if words[:2] + words[3:4] + words[5:6] + words[8:9] != [
        "from",
        "hand",
        "dealer",
        "scores",
        "bags",
    ]:
        raise BadNotation("not a `from` line")
    return AwaitingDeal(
        ruleset=start.ruleset,
        scores=(int(words[6]), int(words[7])),
        bags=(int(words[9]), int(words[10])),
        hand_no=int(words[2]),
        dealer=None if words[4] == "any" else _seat(words[4]),
    )


def _read_deal(line: str, following: list[str]) -> Iterator[Command]:
    words = line.split()
    hands = [Mask(0), Mask(0), Mask(0), Mask(0)]
    for row in following:
        word, seat, *names = row.split()
        if word != "deal":
            raise BadNotation("a hand is followed by four `deal` lines")
        hands[_seat(seat)] = parse_cards(names)
    yield DealHand(int(words[1]), _seat(words[3]), cast(Hands, tuple(hands)))


def _read_moves(line: str) -> Iterator[Command]:
    word, first, *rest = line.split()
    seat = _seat(first)
    match word:
        case "look":
            yield LookAtCards(seat)
        case "pass":
            yield PassCards(seat, parse_cards(rest))
        case "bids":
            for bid in rest[1:]:
                yield PlaceBid(seat, _read_bid(bid))
                seat = left_of(seat)
        case "trick":
            cards = rest[1 : rest.index("->")] if "->" in rest else rest[1:]
            for name in cards:
                yield PlayCard(seat, parse_card(name))
                seat = left_of(seat)
        case _:
            raise BadNotation(f"{word!r} begins no line")


def _read_bid(text: str) -> Bid:
    return parse_bid(int(text) if text.isdigit() else text)


def _check_trick(line: str, events: list[Event]) -> None:
    if "->" not in line:
        return
    taken = [event for event in events if isinstance(event, TrickTaken)]
    if int(line.split("->")[1]) != taken[-1].winner:
        raise BadNotation(f"seat {taken[-1].winner} takes this trick")


def _check_result(line: str, events: list[Event]) -> None:
    told = [_result(event) for event in events if isinstance(event, HandScored | GameEnded)]
    if line not in told[-2:]:
        raise BadNotation(f"the rules say {told[-1] if told else 'nothing yet'!r}")


def _result(event: HandScored | GameEnded) -> str:
    match event:
        case HandScored(teams=(one, two)):
            scores = f"score {one.score_after} {two.score_after}"
            return f"{scores} bags {one.bags_after} {two.bags_after}"
        case GameEnded(winner, reason):
            return f"end {'draw' if winner is None else winner} {reason.value}"


def _seat(text: str) -> Seat:
    if text not in ("0", "1", "2", "3"):
        raise BadNotation(f"{text!r} is no seat")
    return Seat(int(text))


def _names(mask: Mask) -> str:
    return " ".join(card_names(mask))


def _bare(line: str) -> str:
    return line.split("#", 1)[0].strip()
