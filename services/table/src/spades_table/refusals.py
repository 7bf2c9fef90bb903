"""A refusal: the answer to a command that the table, or the rules, forbid."""

from typing import Final

from spades_events.private import Rejection
from spades_rules import BadNotation, Mask, Reject, Rejected, card_names, parse_card
from spades_rules.cards import SUIT_NAMES

WORDS: Final = {
    "not_found": "There is no such table.",
    "account_required": "That needs an account of one's own.",
    "conflict": "This was already asked, and otherwise.",
    "not_started": "The game has not started.",
    "starting": "The game is about to start; nobody can leave or join now.",
    "game_over": "The game is over.",
    "not_seated": "You hold no seat at this table.",
    "already_seated": "You hold a seat at this table.",
    "seat_taken": "That seat is taken.",
    "table_full": "All seats are taken.",
    "random_seats": "Seats at this table are drawn at random.",
    "not_host": "Only the host may do that.",
    "operators_only": "Only an operator may do that.",
    "stale_turn": "That turn is over.",
    "not_your_turn": "It is another seat's turn.",
    "wrong_phase": "The table is not at that point.",
    "price_changed": "Leaving costs something else.",
    "seed_mismatch": "That seed does not match what your seat promised.",
    "seed_missing": "Your seat promised no seed.",
    "option_refused": "This table does not offer that choice.",
    "bad_swap": "Pass exactly two different cards that you hold.",
    "malformed": "That is not readable.",
}
"""One sentence a code for plain clients; a page words its own."""

_FROM_RULES: Final = {
    Reject.BLIND_NIL_CLOSED: "bid_refused",
    Reject.ALREADY_SEEN: "wrong_phase",
    Reject.BID_IS_BLIND: "wrong_phase",
    Reject.WRONG_PASS: "bad_swap",
    Reject.MALFORMED_BID: "malformed",
}


class Refused(Exception):
    """A player's mistake or a lost race; the table is unchanged."""

    def __init__(self, rejection: Rejection) -> None:
        super().__init__(rejection.code)
        self.rejection = rejection


def refused(
    code: str,
    message: str | None = None,
    *,
    price_coins: int | None = None,
    field: str | None = None,
) -> Refused:
    """Return the refusal to raise, in the code's own words where `message` says nothing."""
    return Refused(Rejection(code=code, message=message or WORDS[code], price_coins=price_coins, field=field))


def refused_by_rules(rejected: Rejected) -> Refused:
    """Return the table's refusal for one of the rules."""
    code = _FROM_RULES.get(rejected.code, rejected.code.value)
    return Refused(
        Rejection(
            code=code,
            message=rejected.sentence,
            suit_led=None if rejected.suit_led is None else SUIT_NAMES[rejected.suit_led],
            legal_cards=card_names(rejected.legal) or None,
        )
    )


def readable_cards(names: tuple[str, ...]) -> Mask:
    """Return the set of cards with these names. Refuses what is no card, and a card named twice."""
    mask = 0
    for name in names:
        try:
            bit = 1 << parse_card(name)
        except BadNotation:
            raise refused("malformed", "That is no card.", field="card") from None
        if mask & bit:
            raise refused("bad_swap")
        mask |= bit
    return Mask(mask)
