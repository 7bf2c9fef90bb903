"""Scripted hands of the real table: the deal and all moves are given, so the same script makes the same records."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import msgspec

import spades_rules as rules
from spades_events import RulesetChoice, TableKind, commands
from tests.lobby.fanout import Fanout

PLAYERS = ("ann", "bob", "cat", "dan")
WATCHER = "eve"
TABLE = "00000000-0000-0000-0000-000000000001"
BEHIND = (-200, 0)
"""The scores at which the first hand begins: seats 0 and 2 may bid Blind Nil."""
VERSION_1 = rules.rules_for(rules.RULES_VERSION)
DEALER = rules.Seat(3)
HAND = 64
"""More moves than a hand has."""


@dataclass(frozen=True)
class Step:
    """What one seat does; a renaming of cards makes the other world's step of it."""

    seat: rules.Seat
    move: rules.Command

    def renamed(self, names: dict[rules.Card, rules.Card]) -> "Step":
        match self.move:
            case rules.PassCards(seat, cards):
                return Step(seat, rules.PassCards(seat, renamed(cards, names)))
            case rules.PlayCard(seat, card):
                return Step(seat, rules.PlayCard(seat, names[card]))
            case _:
                return self


@dataclass(frozen=True)
class World:
    hands: rules.Hands
    steps: tuple[Step, ...]


def behind(ruleset: rules.Ruleset) -> rules.AwaitingDeal:
    return replace(rules.new_game(ruleset), scores=BEHIND)


def script(draw: Random, choice: RulesetChoice, moves_max: int) -> World:
    """A deal, and its hand up to so many moves."""
    deck = list(rules.cards_in(rules.DECKS[rules.ruleset_stamped(choice.name, choice.options).deck]))
    draw.shuffle(deck)
    hands = tuple(rules.mask_of(deck[at : at + 13]) for at in range(0, 52, 13))
    game: Any = behind(rules.ruleset_stamped(choice.name, choice.options))
    game = rules.replay(game, rules.decide(game, rules.DealHand(1, DEALER, hands)))
    steps: list[Step] = []
    while len(steps) < moves_max and (expected := rules.expected(game)) is not None and expected.kind != "deal":
        for move in moves(draw, game, expected):
            steps.append(Step(expected.seat, move))
            game = rules.replay(game, rules.decide(game, move))
    return World(hands, tuple(steps))


def moves(draw: Random, game: Any, expected: rules.Expected) -> list[rules.Command]:
    seat, legal = expected.seat, rules.view(game, expected.seat)
    if expected.kind == "play":
        return [rules.PlayCard(seat, draw.choice(list(rules.cards_in(rules.legal_cards(game)))))]
    if expected.kind == "pass":
        hand = list(rules.cards_in(rules.hand_of(game, seat)))
        return [rules.PassCards(seat, rules.mask_of(draw.sample(hand, 2)))]
    if legal.may_look and draw.random() < 0.5:
        return [rules.PlaceBid(seat, rules.BLIND_NIL)]
    look: list[rules.Command] = [rules.LookAtCards(seat)] if legal.may_look else []
    return [*look, rules.PlaceBid(seat, draw.choice((1, 2, 3, 4, rules.NIL)))]


def renamed(cards: rules.Mask, names: dict[rules.Card, rules.Card]) -> rules.Mask:
    return rules.mask_of(names[card] for card in rules.cards_in(cards))


def rules_of(world: World) -> rules.Rules:
    """The rules, but for the deal and the scores at its beginning."""
    return replace(VERSION_1, new_game=behind, deal_hands=lambda *_: world.hands, first_dealer=lambda *_: DEALER)


async def seated(world: World, choice: RulesetChoice, *, gateways: int = 1) -> Fanout:
    """The four at their table; with its start the world's deal is dealt."""
    fanout = Fanout(TABLE, 1, rules=rules_of(world), gateways=gateways)
    await fanout.worker.take()
    fanout.ask("ann", commands.OpenTable(kind=TableKind.PRIVATE, ruleset=choice))
    for seat, account in enumerate(PLAYERS):
        fanout.ask(account, commands.TakeSeat(seat=seat))
    await fanout.run()
    return fanout


def asked_in(world: World) -> Iterator[tuple[str, msgspec.Struct]]:
    """Who sends what, in its order."""
    turn = 1
    for step in world.steps:
        yield PLAYERS[step.seat], in_words(step.move, f"1:{turn}")
        turn += not isinstance(step.move, rules.LookAtCards)


def in_words(move: rules.Command, turn_id: str) -> msgspec.Struct:
    match move:
        case rules.LookAtCards():
            return commands.LookAtCards(hand_no=1)
        case rules.PlaceBid(bid=bid):
            return commands.PlaceBid(turn_id=turn_id, bid=rules.bid_wire(bid))
        case rules.PassCards(cards=cards):
            first, second = rules.card_names(cards)
            return commands.PassCards(turn_id=turn_id, cards=(first, second))
        case rules.PlayCard(card=card):
            return commands.PlayCard(turn_id=turn_id, card=rules.card_name(card))
        case _:
            raise AssertionError(move)
