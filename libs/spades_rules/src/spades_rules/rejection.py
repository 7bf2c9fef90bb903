"""A rejection: the answer to a command that the rules forbid, as typed data."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from spades_rules.cards import NO_CARDS, SUIT_NAMES, Mask, Suit, card_names
from spades_rules.errors import RulesError
from spades_rules.seats import Seat

if TYPE_CHECKING:
    from spades_rules.bids import Bid


class Reject(StrEnum):
    """Why a command was refused. The values are part of the wire: never rename one."""

    NOT_YOUR_TURN = "not_your_turn"
    NOT_IN_HAND = "not_in_hand"
    MUST_FOLLOW = "must_follow"
    SPADES_NOT_BROKEN = "spades_not_broken"
    MALFORMED_BID = "malformed_bid"
    BID_REFUSED = "bid_refused"
    LOOK_FIRST = "look_first"
    BLIND_NIL_CLOSED = "blind_nil_closed"
    ALREADY_SEEN = "already_seen"
    BID_IS_BLIND = "bid_is_blind"
    WRONG_PASS = "wrong_pass"  # noqa: S105  a pass of cards
    WRONG_PHASE = "wrong_phase"
    WRONG_HAND = "wrong_hand"
    WRONG_DEALER = "wrong_dealer"
    BAD_DEAL = "bad_deal"
    GAME_OVER = "game_over"
    NO_SUCH_SEAT = "no_such_seat"


# One sentence a player understands, for logs and plain clients; a page words its own from the code.
SENTENCES = {
    Reject.NOT_YOUR_TURN: "It is another seat's turn.",
    Reject.NOT_IN_HAND: "You do not hold that card.",
    Reject.MUST_FOLLOW: "You hold the suit led, so you must follow it.",
    Reject.SPADES_NOT_BROKEN: "Spades open once one falls on another suit; spades alone lead them.",
    Reject.MALFORMED_BID: "A bid is a whole number, nil or blind_nil.",
    Reject.BID_REFUSED: "These rules do not know that bid.",
    Reject.LOOK_FIRST: "Your cards are face down: bid Blind Nil, or look at them first.",
    Reject.BLIND_NIL_CLOSED: "Blind Nil is for a seat whose cards are still face down.",
    Reject.ALREADY_SEEN: "Your cards already face you.",
    Reject.BID_IS_BLIND: "You bid Blind Nil: your cards are turned when all four have bid.",
    Reject.WRONG_PASS: "Pass exactly two different cards that you hold.",
    Reject.WRONG_PHASE: "The hand is not at that point.",
    Reject.WRONG_HAND: "That is not the hand to be dealt next.",
    Reject.WRONG_DEALER: "Another seat deals this hand.",
    Reject.BAD_DEAL: "A deal gives each seat 13 cards of the deck, each card once.",
    Reject.GAME_OVER: "The game has ended.",
    Reject.NO_SUCH_SEAT: "Seats are 0, 1, 2 and 3.",
}


class Rejected(RulesError):
    """A command the rules forbid, with what a client needs to explain it.

    `turn` is the seat whose turn it is, `suit_led` the suit to follow (C, D, H or S), `legal` the
    cards the sender may play instead and `legal_bids` the bids it may make instead. Each is empty
    where it says nothing, so that no refusal tells a seat more than its own view does.
    """

    def __init__(
        self,
        code: Reject,
        *,
        seat: Seat | None = None,
        turn: Seat | None = None,
        suit_led: Suit | None = None,
        legal: Mask = NO_CARDS,
        legal_bids: tuple[Bid, ...] = (),
        phase: str = "",
    ) -> None:
        super().__init__(f"{code.value}: {SENTENCES[code]}")
        self.code = code
        self.seat = seat
        self.turn = turn
        self.suit_led = suit_led
        self.legal = legal
        self.legal_bids = legal_bids
        self.phase = phase

    @property
    def sentence(self) -> str:
        return SENTENCES[self.code]

    def data(self) -> dict[str, object]:
        """The refusal as plain values, ready for any encoder; empty facts are left out."""
        facts: dict[str, object] = {
            "turn": self.turn,
            "suit_led": None if self.suit_led is None else SUIT_NAMES[self.suit_led],
            "legal": list(card_names(self.legal)) or None,
            "legal_bids": list(self.legal_bids) or None,
            "phase": self.phase or None,
        }
        return {"code": self.code.value} | {name: fact for name, fact in facts.items() if fact is not None}
