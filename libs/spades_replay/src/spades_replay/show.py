"""A game as it stood at one moment, in words or as JSON."""

from dataclasses import asdict
from typing import Any

import msgspec

import spades_rules as rules
from spades_events import decode, events
from spades_replay.faults import Illegal, NoSource
from spades_replay.records import Counter, Record
from spades_replay.table import TableReplay
from spades_rules import Seat, card_names

SEAT_NAMES = ("North", "East", "South", "West")


class Moment:
    """Reads one table's records up to a hand and a trick, and holds the game as it then stood."""

    def __init__(self, table_id: str, *, hand_no: int | None, trick_no: int | None) -> None:
        self.table = TableReplay(table_id)
        self._wanted = (hand_no, trick_no)
        self._counter = Counter()
        self._game: rules.Game | None = None
        self.last_play: rules.Play | None = None
        """The table behind its last card, where the moment is the end of a hand played out."""

    def feed(self, record: Record) -> bool:
        """Take one record; whether the moment is reached and the rest need not be read."""
        if not self._counter.is_new(record):
            return False
        event = decode(record.type, record.body)
        assert isinstance(event, events.TableEvent)
        hand_no, _ = self._wanted
        if isinstance(event, events.DealRevealed) and event.hand_no == hand_no and self.table.hand is not None:
            self._game = self._stop_in_hand(event)
            return True
        self.table.feed(record.version, event)
        return False

    def game(self) -> rules.Game:
        """The game at the moment. Raises NoSource where the records do not reach it."""
        if self._game is not None:
            return self._game
        if self._wanted[0] is not None:
            raise NoSource(f"hand {self._wanted[0]} has not been revealed yet, or was never played")
        if self.table.game is None:
            raise NoSource("no such game here")
        return self.table.game

    def _stop_in_hand(self, revealed: events.DealRevealed) -> rules.Game:
        assert self.table.hand is not None
        hand = self.table.hand
        replay = self.table.hand_replay(hand, revealed)
        tricks_wanted = self._wanted[1]
        for version, event in hand.moves:
            # Trick 0 is the moment before the first lead; else the moment the trick was taken.
            if tricks_wanted is not None and isinstance(replay.game, rules.Play):
                at_lead = not replay.game.trick and len(replay.game.tricks) == tricks_wanted
                if at_lead and not isinstance(event, events.SpadesBroken | events.TrickTaken):
                    return replay.game
            before = replay.game
            replay.feed(version, event)
            if isinstance(event, events.HandScored) and isinstance(before, rules.Play):
                self.last_play = before
        if tricks_wanted is not None and tricks_wanted < rules.TRICKS_PER_HAND:
            raise Illegal(f"hand {hand.hand_no} was called off before trick {tricks_wanted}")
        return replay.game


def at_the_end(play: rules.Play, after: rules.Game, seat: int | None) -> dict[str, Any]:
    """A hand played out: its bids and tricks, with the score that it made."""
    shown = as_values(play, seat)
    scored = as_values(after, seat)
    return shown | {name: scored[name] for name in ("scores", "bags", "winner", "end_reason")} | {"phase": "hand_over"}


def as_values(game: rules.Game, seat: int | None) -> dict[str, Any]:
    """The game as JSON-ready values: one seat's view, or without a seat the open table with all four hands."""
    shown = asdict(rules.view(game, Seat(seat) if seat is not None else None))
    shown.pop("pad")
    if seat is None and isinstance(game, rules.Auction | rules.Swap | rules.Play):
        shown["hands"] = [list(card_names(hand)) for hand in game.hands]
    return shown


def as_json(values: dict[str, Any]) -> str:
    """One line of JSON, fields in their own order."""
    return msgspec.json.encode(values).decode()


def as_words(values: dict[str, Any]) -> str:
    """A few lines that a person reads."""
    lines = [
        f"hand {values['hand_no']}, {values['phase']}, rules {values['preset']} {values['options'] or ''}".rstrip(),
        f"score {values['scores'][0]} to {values['scores'][1]}, bags {values['bags'][0]} to {values['bags'][1]}",
    ]
    hands = values.get("hands")
    for seat, name in enumerate(SEAT_NAMES):
        bid = values["bids"][seat]
        cards = hands[seat] if hands else values["hand"] if seat == values["seat"] else None
        held = " ".join(cards) if cards is not None else f"({values['card_counts'][seat]} cards)"
        dealer = "dealer " if values["dealer"] == seat else ""
        lines.append(
            f"{seat} {name:5} bid {'-' if bid is None else bid!s:9} took {values['taken'][seat]:2}  {dealer}{held}"
        )
    for number, trick in enumerate(values["tricks"], start=1):
        lines.append(
            f"trick {number:2}: {' '.join(trick['cards'])} led by {trick['leader']}, taken by {trick['winner']}"
        )
    if values["end_reason"]:
        winner = "nobody" if values["winner"] is None else f"team {values['winner']}"
        lines.append(f"won by {winner} ({values['end_reason']})")
    return "\n".join(lines)
