"""A rejection says all that a client needs to explain it, and nothing that its seat may not know."""

import pytest

from spades_rules import (
    AwaitingDeal,
    Command,
    DealHand,
    Ended,
    Expected,
    Game,
    LookAtCards,
    Mask,
    PassCards,
    PlayCard,
    Reject,
    Seat,
    card_names,
    expected,
    legal_bids,
    legal_cards,
    new_game,
    parse_cards,
)
from spades_rules.rejection import SENTENCES
from tests.rules.games import random_game
from tests.rules.notation import (
    CLUB,
    DENIRO,
    at_deal,
    bid_round,
    bids,
    dealt,
    hands,
    in_play,
    play,
    plays,
    refused,
    take,
)

SEEN = ("nil", *range(1, 14))
FOUR = hands("AS 2C 3C", "KS 2D", "2H 3H QS", "JS")
BEHIND = (0, 100)


def looks(seat: int) -> LookAtCards:
    return LookAtCards(Seat(seat))


def passes(seat: int, cards: str) -> PassCards:
    return PassCards(Seat(seat), parse_cards(cards))


def ended() -> Ended:
    *_, (game, command, _) = random_game(DENIRO, seed=1)
    over = take(game, command)
    assert isinstance(over, Ended)
    return over


TO_DEAL = at_deal()
AUCTION = dealt(FOUR)
DOWN = dealt(FOUR, CLUB, scores=BEHIND)
BLIND = bid_round(DOWN, "blind_nil", 3)
SWAP = bid_round(take(BLIND, looks(2)), 4, 3)
RETURN = take(SWAP, passes(0, "AS 3C"))
LEAD = in_play(FOUR)
FOLLOW = play(LEAD, "3C")
# The deuce of clubs, the card of number 0, is held but may not be played.
DEUCE = play(in_play(hands("AD", "2C 3D", "4D", "5D")), "AD")
OVER = ended()
HELD = card_names(FOUR[0])

#   game, command, code, what it says besides
REFUSALS: list[tuple[Game, Command, Reject, dict[str, object]]] = [
    (TO_DEAL, bids(0, 3), Reject.WRONG_PHASE, {"phase": "awaiting_deal"}),
    (TO_DEAL, looks(1), Reject.WRONG_PHASE, {"phase": "awaiting_deal"}),
    (TO_DEAL, passes(2, "2C 3C"), Reject.WRONG_PHASE, {"phase": "awaiting_deal"}),
    (TO_DEAL, plays(3, "2C"), Reject.WRONG_PHASE, {"phase": "awaiting_deal"}),
    (TO_DEAL, DealHand(1, Seat(3), FOUR), Reject.WRONG_HAND, {}),
    (TO_DEAL, DealHand(2, Seat(0), FOUR), Reject.WRONG_DEALER, {}),
    (TO_DEAL, DealHand(2, Seat(3), (FOUR[0],) * 4), Reject.BAD_DEAL, {}),
    (AUCTION, DealHand(2, Seat(3), FOUR), Reject.WRONG_PHASE, {"phase": "auction"}),
    (AUCTION, bids(2, 3), Reject.NOT_YOUR_TURN, {"turn": 0}),
    (AUCTION, bids(0, "blind_nil"), Reject.BLIND_NIL_CLOSED, {"legal_bids": SEEN}),
    (AUCTION, looks(3), Reject.ALREADY_SEEN, {}),
    (AUCTION, passes(0, "2C 3C"), Reject.WRONG_PHASE, {"phase": "auction"}),
    (AUCTION, plays(0, "2C"), Reject.WRONG_PHASE, {"phase": "auction"}),
    (DOWN, bids(0, 3), Reject.LOOK_FIRST, {"legal_bids": ("blind_nil",)}),
    (DOWN, looks(4), Reject.NO_SUCH_SEAT, {}),
    (BLIND, looks(0), Reject.BID_IS_BLIND, {}),
    (SWAP, bids(0, 3), Reject.WRONG_PHASE, {"phase": "swap"}),
    (SWAP, looks(2), Reject.WRONG_PHASE, {"phase": "swap"}),
    (SWAP, plays(0, "2C"), Reject.WRONG_PHASE, {"phase": "swap"}),
    (SWAP, passes(2, "2H 3H"), Reject.NOT_YOUR_TURN, {"turn": 0}),
    (SWAP, passes(0, "AS"), Reject.WRONG_PASS, {"turn": 0, "legal": HELD}),
    (SWAP, passes(0, "AS KS"), Reject.NOT_IN_HAND, {"turn": 0, "legal": HELD}),
    (RETURN, passes(0, "2C 4C"), Reject.NOT_YOUR_TURN, {"turn": 2}),
    (LEAD, passes(0, "2C 3C"), Reject.WRONG_PHASE, {"phase": "play"}),
    (LEAD, bids(0, 3), Reject.WRONG_PHASE, {"phase": "play"}),
    (LEAD, looks(1), Reject.WRONG_PHASE, {"phase": "play"}),
    (LEAD, plays(1, "KS"), Reject.NOT_YOUR_TURN, {"turn": 0}),
    (LEAD, plays(0, "KS"), Reject.NOT_IN_HAND, {"turn": 0, "legal": HELD[:-1]}),
    (LEAD, plays(0, "AS"), Reject.SPADES_NOT_BROKEN, {"turn": 0, "legal": HELD[:-1]}),
    (FOLLOW, plays(1, "3C"), Reject.NOT_IN_HAND, {"turn": 1, "suit_led": 0, "legal": card_names(legal_cards(FOLLOW))}),
    (DEUCE, plays(1, "2C"), Reject.MUST_FOLLOW, {"turn": 1, "suit_led": 1, "legal": card_names(legal_cards(DEUCE))}),
    (
        DEUCE,
        PlayCard(Seat(1), 54),
        Reject.NOT_IN_HAND,
        {"turn": 1, "suit_led": 1, "legal": card_names(legal_cards(DEUCE))},
    ),
    (OVER, DealHand(2, Seat(3), FOUR), Reject.GAME_OVER, {}),
    (OVER, bids(0, 3), Reject.GAME_OVER, {}),
    (OVER, looks(1), Reject.GAME_OVER, {}),
    (OVER, passes(2, "2C 3C"), Reject.GAME_OVER, {}),
    (OVER, plays(3, "2C"), Reject.GAME_OVER, {}),
]


@pytest.mark.parametrize(("game", "command", "code", "says"), REFUSALS)
def test_a_refusal_names_its_seat_and_says_all_that_explains_it(game, command, code, says):
    rejected = refused(game, command)
    told = {
        "turn": rejected.turn,
        "suit_led": rejected.suit_led,
        "legal": card_names(rejected.legal),
        "legal_bids": rejected.legal_bids,
        "phase": rejected.phase,
    }
    nothing = {"turn": None, "suit_led": None, "legal": (), "legal_bids": (), "phase": ""}
    assert (rejected.code, rejected.seat) == (code, getattr(command, "seat", None))
    assert told == nothing | says
    assert set(rejected.data()) == {"code"} | set(says)
    assert rejected.sentence == SENTENCES[code]


def test_every_code_but_those_of_a_bid_s_form_is_among_them():
    formal = {Reject.MALFORMED_BID, Reject.BID_REFUSED}
    assert {code for _, _, code, _ in REFUSALS} == set(Reject) - formal


@pytest.mark.parametrize(
    ("game", "move"),
    [
        (TO_DEAL, None),
        (AUCTION, Expected(Seat(0), "bid")),
        (BLIND, Expected(Seat(2), "bid")),
        (SWAP, Expected(Seat(0), "pass")),
        (RETURN, Expected(Seat(2), "pass")),
        (LEAD, Expected(Seat(0), "play")),
        (FOLLOW, Expected(Seat(1), "play")),
        (OVER, None),
    ],
)
def test_a_game_waits_for_one_kind_of_move_and_offers_nothing_else(game, move):
    assert expected(game) == move
    kind = None if move is None else move.kind
    if kind != "play":
        assert legal_cards(game) == Mask(0)
    if kind != "bid":
        assert legal_bids(game) == ()


def test_before_the_first_hand_any_seat_may_deal_but_there_are_only_four():
    first = new_game(DENIRO)
    assert isinstance(first, AwaitingDeal)
    assert refused(first, DealHand(1, Seat(4), FOUR)).code is Reject.WRONG_DEALER
    assert refused(first, DealHand(1, Seat(-1), FOUR)).code is Reject.WRONG_DEALER
