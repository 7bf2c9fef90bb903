"""Whole games for tests, drawn from a seed, Blind Nil and swaps included."""

from __future__ import annotations

import random
from collections.abc import Iterator

from spades_rules import (
    DECKS,
    AwaitingDeal,
    Command,
    DealHand,
    Ended,
    Event,
    Game,
    HandScored,
    LookAtCards,
    PassCards,
    PlaceBid,
    PlayCard,
    Ruleset,
    Seat,
    cards_in,
    decide,
    expected,
    hand_of,
    legal_bids,
    legal_cards,
    mask_of,
    new_game,
    replay,
    view,
)

Step = tuple[Game, Command, tuple[Event, ...]]


def random_deal(game: AwaitingDeal, chance: random.Random) -> DealHand:
    deck = list(cards_in(DECKS[game.ruleset.deck]))
    chance.shuffle(deck)
    four = [mask_of(deck[seat::4]) for seat in range(4)]
    dealer = Seat(chance.randrange(4)) if game.dealer is None else game.dealer
    return DealHand(game.hand_no, dealer, (four[0], four[1], four[2], four[3]))


def random_move(game: Game, chance: random.Random) -> Command:
    """Any legal command, each kind as likely as a wild player would have it."""
    if isinstance(game, AwaitingDeal):
        return random_deal(game, chance)
    turn = expected(game)
    assert turn is not None
    if turn.kind == "play":
        return PlayCard(turn.seat, chance.choice(list(cards_in(legal_cards(game)))))
    if turn.kind == "pass":
        held = list(cards_in(hand_of(game, turn.seat)))
        return PassCards(turn.seat, mask_of(chance.sample(held, 2)))
    if view(game, turn.seat).may_look and chance.random() < 0.5:
        return LookAtCards(turn.seat)
    bids = legal_bids(game)
    return PlaceBid(turn.seat, chance.choice(bids[:6]))


def random_game(ruleset: Ruleset, *, seed: int, hands_max: int = 64) -> Iterator[Step]:
    """Each state of a random game with the command that follows it and that command's events."""
    chance = random.Random(seed)
    game: Game = new_game(ruleset)
    hands = 0
    while not isinstance(game, Ended) and hands < hands_max:
        command = random_move(game, chance)
        events = decide(game, command)
        yield game, command, events
        game = replay(game, events)
        hands += sum(isinstance(event, HandScored) for event in events)
