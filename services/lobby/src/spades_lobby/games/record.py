"""A game's finished hands, told again in the rules' own events: for its record, and for one hand's page. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

import spades_rules as rules
from spades_events import events
from spades_lobby.domain import Game

KINDS = (
    *(events.HandDealt, events.BidMade, events.CardsPassed, events.CardPlayed, events.TrickTaken),
    *(events.HandScored, events.DealRevealed, events.GameEnded),
)
"""All that a record is made of."""


@dataclass(kw_only=True, slots=True)
class Hand:
    """One hand as its public events tell it; `revealed` once it is over."""

    hand_no: int
    dealt: events.HandDealt
    bids: list[events.BidMade] = field(default_factory=list)
    passes: list[events.CardsPassed] = field(default_factory=list)
    cards: list[events.CardPlayed] = field(default_factory=list)
    tricks: list[events.TrickTaken] = field(default_factory=list)
    scored: events.HandScored | None = None
    revealed: events.DealRevealed | None = None
    ended: events.GameEnded | None = None


def hands_of(facts: Iterable[msgspec.Struct]) -> list[Hand]:
    """The hands that these events, in their order, tell of."""
    hands: list[Hand] = []
    for fact in facts:
        if isinstance(fact, events.HandDealt):
            hands.append(Hand(hand_no=fact.hand_no, dealt=fact))
        elif hands:
            _add(hands[-1], fact)
    return hands


def _add(hand: Hand, fact: msgspec.Struct) -> None:
    match fact:
        case events.BidMade():
            hand.bids.append(fact)
        case events.CardsPassed():
            hand.passes.append(fact)
        case events.CardPlayed():
            hand.cards.append(fact)
        case events.TrickTaken():
            hand.tricks.append(fact)
        case events.HandScored():
            hand.scored = fact
        case events.DealRevealed():
            hand.revealed = fact
        case events.GameEnded():
            hand.ended = fact
        case _:
            pass


def dealt_hands(game: Game, hand: Hand) -> rules.Hands | None:
    """All four hands as they were dealt; None before the secret is revealed."""
    revealed = hand.revealed
    if revealed is None or game.seeds is None:
        return None
    return rules.deal_hands(
        bytes.fromhex(revealed.secret),
        game.table_id,
        hand.hand_no,
        revealed.dealer,
        revealed.deck_id,
        [bytes.fromhex(seed) for seed in game.seeds],
    )


def ptn_of(game: Game, hands: Sequence[Hand]) -> str:
    """The finished hands in PTN, the notation of records."""
    told: list[rules.Event] = []
    for hand in hands:
        told += _retold(game, hand)
    start = rules.new_game(rules.ruleset_stamped(game.ruleset.name, game.ruleset.options))
    return rules.write_ptn(start, told, {"Game": game.table_id})


def _retold(game: Game, hand: Hand) -> list[rules.Event]:
    dealt = dealt_hands(game, hand)
    if dealt is None:
        return []
    face_down = tuple(rules.Seat(seat) for seat in hand.dealt.face_down)
    told: list[rules.Event] = [rules.HandDealt(hand.hand_no, rules.Seat(hand.dealt.dealer), dealt, face_down)]
    told += _passes(hand)
    told += [rules.BidMade(rules.Seat(one.seat), one.bid) for one in hand.bids]
    told += [rules.CardPlayed(rules.Seat(one.seat), rules.parse_card(one.card)) for one in hand.cards]
    if hand.scored is not None:
        told.append(_scored(hand.scored))
    if hand.ended is not None:
        ended = hand.ended
        reason = next((one for one in rules.EndReason if one.value == ended.reason), None)
        if reason is not None:
            winner = None if ended.winner is None else rules.Team(ended.winner)
            told.append(rules.GameEnded(winner, reason, ended.scores))
    return told


def _passes(hand: Hand) -> list[rules.Event]:
    assert hand.revealed is not None
    found: list[rules.Event] = []
    for swap in hand.revealed.swaps:
        bidder, partner = rules.Seat(swap.bidder), rules.Seat((swap.bidder + 2) % 4)
        for giver, receiver, cards in ((bidder, partner, swap.passed), (partner, bidder, swap.returned)):
            if cards:
                found.append(rules.CardsPassed(giver, receiver, rules.parse_cards(" ".join(cards))))
    return found


def _scored(scored: events.HandScored) -> rules.Event:
    first, second = (
        rules.TeamScore(
            team=rules.Team(team),
            contract=one.contract,
            helping=one.tricks,
            score_before=one.score - one.delta,
            score_after=one.score,
            bags_before=one.bags,
            bags_after=one.bags,
            delta=one.delta,
            bag_penalties=one.bag_penalties,
            lines=(),
        )
        for team, one in enumerate(scored.teams)
    )
    return rules.HandScored(scored.hand_no, scored.bids, scored.tricks, (first, second), False)
