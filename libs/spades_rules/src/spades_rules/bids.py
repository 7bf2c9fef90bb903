"""A bid: a whole number of tricks from 1 to 13, Nil or Blind Nil."""

from __future__ import annotations

from typing import Final, Literal

from spades_rules.rejection import Reject, Rejected

Nil = Literal["nil"]
BlindNil = Literal["blind_nil"]
Bid = int | Literal["nil", "blind_nil"]

NIL: Final[Nil] = "nil"
BLIND_NIL: Final[BlindNil] = "blind_nil"
BID_MAX: Final = 13
NUMBER_BIDS: Final[tuple[Bid, ...]] = tuple(range(1, BID_MAX + 1))
SEEN_BIDS: Final[tuple[Bid, ...]] = (NIL, *NUMBER_BIDS)
BLIND_BIDS: Final[tuple[Bid, ...]] = (BLIND_NIL,)


def parse_bid(value: object) -> Bid:
    """Read a bid that came from outside.

    A whole number 0 is Nil in every preset. A wrong type (text such as "3", 2.5, true, null) is
    malformed and never guessed at: Rejected with `malformed_bid`; a whole number outside 0 to 13
    with `bid_refused`.
    """
    if type(value) is int:
        if value == 0:
            return NIL
        if 0 < value <= BID_MAX:
            return value
        raise Rejected(Reject.BID_REFUSED)
    if value == NIL:
        return NIL
    if value == BLIND_NIL:
        return BLIND_NIL
    raise Rejected(Reject.MALFORMED_BID)


def bid_wire(bid: Bid) -> int | str:
    """A bid as it is written down: the number, `nil` or `blind_nil`."""
    return bid


def bid_tricks(bid: Bid) -> int:
    """What a bid adds to its team's contract: either Nil adds nothing."""
    return bid if isinstance(bid, int) else 0


def is_nil(bid: Bid | None) -> bool:
    """Whether the bid is a Nil, blind or not."""
    return bid in (NIL, BLIND_NIL)
