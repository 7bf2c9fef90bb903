"""judge: the computer player's move, on the merits and from the seat's own view alone."""

from __future__ import annotations

from spades_rules.bids import BLIND_NIL
from spades_rules.cards import DECKS, Mask, parse_cards
from spades_rules.commands import Command, LookAtCards, PassCards, PlaceBid, PlayCard
from spades_rules.judge_bid import judge_bid, would_bid_blind
from spades_rules.judge_play import judge_card
from spades_rules.judge_swap import cards_to_pass, cards_to_return
from spades_rules.presets import ruleset_stamped
from spades_rules.seats import Seat
from spades_rules.sight import sight_of
from spades_rules.view import View


def judge(view: View, *, by_clock: bool = False) -> Command:
    """The move of `view.seat`, whose turn it is, under any rule set.

    The same view always gives the same move.

    A seat whose cards lie face down looks, unless the game is so nearly lost that it bids Blind
    Nil; judged `by_clock`, for a player who ran out of time, it always looks, and the next view
    gives the bid. Raises ValueError when it is not that seat's turn.
    """
    if view.seat is None or view.turn_seat != view.seat:
        raise ValueError("there is no move to judge: it is another seat's turn")
    seat = Seat(view.seat)
    if view.turn_kind == "play":
        return PlayCard(seat, judge_card(sight_of(view)))
    rules = ruleset_stamped(view.preset, view.options)
    hand = parse_cards(view.hand)
    if view.turn_kind == "pass":
        unseen = Mask(DECKS[rules.deck] & ~hand)
        if view.swap_bidder == seat:
            return PassCards(seat, cards_to_pass(hand, unseen, rules.swap_cards))
        return PassCards(seat, cards_to_return(hand, rules.swap_cards))
    if view.may_look:
        if not by_clock and would_bid_blind(view, rules):
            return PlaceBid(seat, BLIND_NIL)
        return LookAtCards(seat)
    return PlaceBid(seat, judge_bid(view, rules, hand))
