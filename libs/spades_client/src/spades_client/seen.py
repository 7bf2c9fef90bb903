"""A table as one client sees it: a snapshot, and every frame behind it folded in.

Only frames go in, so that it shows: they are enough to play by.
"""

from dataclasses import replace
from typing import Any, cast

import msgspec

from spades_rules import TrickView, View, ruleset_stamped

Frame = dict[str, Any]

FOUR_OPEN = (None, None, None, None)
NOBODY_TOOK = (0, 0, 0, 0)
CARD_ORDER = {rank + suit: place for place, (suit, rank) in enumerate((s, r) for s in "CDHS" for r in "23456789TJQKA")}
CARD_ORDER |= {"LJ": 52, "BJ": 53}


class SeqGap(AssertionError):
    """A frame did not follow the one before it."""


class Seen:
    """What one client knows of a table."""

    def __init__(self, snapshot: Frame, account_id: str) -> None:
        self._account_id = account_id
        self.seq: int = snapshot["seq"]
        self.seat: int | None = snapshot["seat"]
        self.phase: str = snapshot["phase"]
        self.turn: Frame | None = snapshot["turn"]
        self.hand_no: int = snapshot["hand_no"]
        self.ended = snapshot["phase"] == "ended"
        self.settled: bool = snapshot["settled"]
        self.scores: tuple[int, int] = tuple(snapshot["scores"])
        self.end_reason: str | None = snapshot["end_reason"]
        self.ready_seats: set[int] = set(snapshot["ready"])
        self.view = self._blank(snapshot)
        if snapshot["view"] is not None:
            self.view = msgspec.convert(snapshot["view"], View)

    @staticmethod
    def _blank(snapshot: Frame) -> View:
        choice = snapshot["ruleset"]
        options = {name: value for name, value in choice["options"].items() if value is not None}
        rules = ruleset_stamped(choice["name"], options)
        return View(
            rules_version=snapshot["rules_version"],
            preset=choice["name"],
            options=rules.chosen,
            phase="awaiting_deal",
            seat=snapshot["seat"],
            scores=tuple(snapshot["scores"]),
            bags=tuple(snapshot["bags"]),
            hand_no=1,
            dealer=None,
        )

    @property
    def is_own_turn(self) -> bool:
        return self.turn is not None and self.seat is not None and self.turn["seat"] == self.seat

    def fold(self, frame: Frame) -> None:
        """Take the next frame. Raises SeqGap where it is not the next."""
        if frame["seq"] != self.seq + 1:
            raise SeqGap(f"seq {frame['seq']} after {self.seq}")
        self.seq = frame["seq"]
        fold = getattr(self, "_" + frame["type"], None)
        if fold is not None:
            fold(frame)

    # Seats and phases.

    def _seats_locked(self, _: Frame) -> None:
        self.phase = "starting"

    def _game_started(self, _: Frame) -> None:
        self.phase = "between_hands"

    def _seat_ready(self, frame: Frame) -> None:
        self.ready_seats.add(frame["seat"])

    def _game_over(self, frame: Frame) -> None:
        self.phase, self.ended, self.turn = "ended", True, None
        self.end_reason, self.settled = frame["reason"], not frame["stake_coins"]

    def _table_cancelled(self, frame: Frame) -> None:
        self._game_over(frame)

    def _game_settled(self, _: Frame) -> None:
        self.settled = True

    # A hand.

    def _hand_committed(self, frame: Frame) -> None:
        self.hand_no = frame["hand_no"]

    def _hand_dealt(self, frame: Frame) -> None:
        self.phase, self.ready_seats = "playing", set()
        own = frame.get("you") or {}
        face_down = frame["face_down"]
        self.view = View(
            rules_version=self.view.rules_version,
            preset=self.view.preset,
            options=self.view.options,
            phase="auction",
            seat=self.seat,
            scores=self.view.scores,
            bags=self.view.bags,
            hand_no=frame["hand_no"],
            dealer=frame["dealer"],
            hand=tuple(own.get("cards") or ()),
            card_counts=(13, 13, 13, 13),
            face_down=cast(Any, tuple(seat in face_down for seat in range(4))),
            may_look=self.seat in face_down,
        )

    def _cards_seen(self, frame: Frame) -> None:
        seat = frame["seat"]
        face_down = cast(Any, tuple(down and at != seat for at, down in enumerate(self.view.face_down)))
        self.view = replace(self.view, face_down=face_down)
        if seat == self.seat:
            own = frame["you"]
            bids = tuple(own["legal_bids"] or ()) if self.is_own_turn else ()
            self.view = replace(self.view, hand=tuple(own["cards"]), may_look=False, legal_bids=bids)

    def _turn_started(self, frame: Frame) -> None:
        self.turn = {name: frame[name] for name in ("turn_id", "seat", "kind", "deadline_ms", "computer_speed")}
        kind, view = frame["kind"], self.view
        own = frame.get("you") or {}
        if kind == "play" and view.phase != "play":
            assert view.dealer is not None
            view = replace(view, phase="play", trick_leader=(view.dealer + 1) % 4)
        if kind == "pass" and view.phase == "auction":
            view = replace(view, phase="swap", swap_bidder=frame["seat"])
        self.view = replace(
            view,
            turn_seat=frame["seat"],
            turn_kind=kind,
            legal_cards=tuple(own.get("legal_cards") or ()) if kind == "play" else (),
            legal_bids=tuple(own.get("legal_bids") or ()),
        )

    def _moved(self, **changes: Any) -> None:
        self.turn = None
        self.view = replace(self.view, turn_seat=None, turn_kind=None, legal_cards=(), legal_bids=(), **changes)

    def _bid_made(self, frame: Frame) -> None:
        bids = _with(self.view.bids, frame["seat"], frame["bid"])
        self._moved(bids=bids, may_look=self.view.may_look and frame["seat"] != self.seat)

    def _cards_passed(self, frame: Frame) -> None:
        giver, taker = frame["from_seat"], frame["to_seat"]
        counts = list(self.view.card_counts)
        counts[giver] -= frame["count"]
        counts[taker] += frame["count"]
        self._moved(card_counts=tuple(counts))
        if self.seat not in (giver, taker):
            return
        cards = frame["you"]["cards"]
        if self.seat == giver:
            hand = tuple(card for card in self.view.hand if card not in cards)
            fresh = tuple(card for card in self.view.new_cards if card not in cards)
            self.view = replace(self.view, hand=hand, passed=_sorted(self.view.passed, cards), new_cards=fresh)
        else:
            self.view = replace(
                self.view,
                hand=_sorted(self.view.hand, cards),
                received=_sorted(self.view.received, cards),
                new_cards=_sorted(self.view.new_cards, cards),
            )

    def _card_played(self, frame: Frame) -> None:
        seat, card = frame["seat"], frame["card"]
        counts = _with(self.view.card_counts, seat, self.view.card_counts[seat] - 1)
        hand = tuple(held for held in self.view.hand if held != card)
        self._moved(card_counts=counts, hand=hand, trick=_with(self.view.trick, seat, card), new_cards=())

    def _spades_broken(self, _: Frame) -> None:
        self.view = replace(self.view, broken=True)

    def _trick_taken(self, frame: Frame) -> None:
        winner = frame["winner"]
        taken = TrickView(leader=frame["leader"], cards=tuple(frame["cards"]), winner=winner)
        self.view = replace(
            self.view,
            tricks=(*self.view.tricks, taken),
            last_trick=taken,
            taken=_with(self.view.taken, winner, self.view.taken[winner] + 1),
            trick=FOUR_OPEN,
            trick_leader=winner,
        )

    def _hand_scored(self, frame: Frame) -> None:
        first, second = frame["teams"]
        assert self.view.dealer is not None
        self.phase, self.scores = "between_hands", (first["score"], second["score"])
        self.view = View(
            rules_version=self.view.rules_version,
            preset=self.view.preset,
            options=self.view.options,
            phase="awaiting_deal",
            seat=self.seat,
            scores=self.scores,
            bags=(first["bags"], second["bags"]),
            hand_no=frame["hand_no"] + 1,
            dealer=(self.view.dealer + 1) % 4,
        )

    def _seat_taken(self, frame: Frame) -> None:
        holder = frame["holder"]
        if holder["account_id"] == self._account_id:
            self.seat = holder["seat"]
        elif frame["replaces"] == self._account_id:
            # A bot on one's own seat: from here on one only watches.
            self.seat = None
        self.view = replace(self.view, seat=self.seat)

    def differs_from(self, other: "Seen") -> list[str]:
        """The fields in which two looks at the same moment differ."""
        mine, theirs = replace(self.view, pad=""), replace(other.view, pad="")
        fields = [name for name in mine.__dataclass_fields__ if getattr(mine, name) != getattr(theirs, name)]
        if self.turn != other.turn:
            fields.append("turn")
        return fields


def _with(values: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    listed = list(values)
    listed[place] = value
    return tuple(listed)


def _sorted(*parts: Any) -> tuple[str, ...]:
    """The cards together, clubs to spades and low to high."""
    return tuple(sorted((card for part in parts for card in part), key=CARD_ORDER.__getitem__))
