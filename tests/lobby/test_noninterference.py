"""Two deals that are alike for one seat: what that seat is sent is the same, to the byte.

The second deal is the first with cards renamed that the seat never saw: not in its hand, not passed to or by it, not
played. Both worlds have the same clock, ids and commitments, so whatever differs in a frame would be a card that
leaked, be it by a frame's length. With Blind Nil and its swap in the first hand, and a connection that comes back in
the middle. `SPADES_PAIRS` says how many.
"""

import os
from random import Random

import pytest

import spades_rules as rules
from spades_events import RulesetChoice, commands
from tests.lobby.fanout import Line
from tests.lobby.worlds import PLAYERS, WATCHER, World, asked_in, renamed, script, seated

PAIRS = int(os.environ.get("SPADES_PAIRS", "1000"))
SHARDS = 4
RULESETS = (
    RulesetChoice(name="club"),
    RulesetChoice(name="jokers", options={"blind_nil": True, "swap": True}),
    RulesetChoice(name="classic", options={"blind_nil": True, "swap": True}),
)


def known(world: World, seat: int | None) -> rules.Mask:
    """Every card that the seat ever held, passed or saw played."""
    seen = rules.NO_CARDS if seat is None else world.hands[seat]
    for step in world.steps:
        match step.move:
            case rules.PassCards(by, cards) if seat is not None and rules.partner_of(by) == seat:
                seen = rules.Mask(seen | cards)
            case rules.PlayCard(_, card):
                seen = rules.Mask(seen | rules.mask_of([card]))
            case _:
                pass
    return seen


def other_world(draw: Random, world: World, seat: int | None) -> World:
    """The same to this seat: unknown cards change their names within their suits, so that all stays legal."""
    seen = known(world, seat)
    names = {card: card for hand in world.hands for card in rules.cards_in(hand)}
    for suit in rules.SUITS:
        unknown = [card for card in names if rules.mask_of([card]) & suit & ~seen]
        names |= dict(zip(unknown, draw.sample(unknown, len(unknown)), strict=True))
    hands = tuple(renamed(hand, names) for hand in world.hands)
    return World(hands, tuple(step.renamed(names) for step in world.steps))


async def frames_of(world: World, choice: RulesetChoice, viewers: tuple[str, ...], comes_back: int) -> dict[str, Line]:
    """Play the world; a viewer's connection comes back behind so many steps."""
    fanout = await seated(world, choice)
    lines = {account: fanout.watch(account) for account in viewers}
    await fanout.run()
    fanout.ask("ann", commands.StartGame())
    await fanout.run()
    for at, (account, command) in enumerate(asked_in(world)):
        if at == comes_back:
            await fanout.run()
            for line in lines.values():
                line.viewer.rejoin()
            await fanout.run()
        fanout.ask(account, command)
    await fanout.run()
    await fanout.stop()
    return lines


@pytest.mark.parametrize("shard", range(SHARDS))
async def test_what_a_seat_is_sent_does_not_depend_on_what_it_may_not_know(shard: int) -> None:
    differing = 0
    for number in range(shard, PAIRS, SHARDS):
        draw = Random(number)
        choice = RULESETS[number // 5 % len(RULESETS)]
        seat = None if number % 5 == 4 else number % 5
        world = script(draw, choice, draw.randrange(4, 40))
        other = other_world(draw, world, seat)
        comes_back = draw.randrange(len(world.steps))
        viewer = WATCHER if seat is None else PLAYERS[seat]
        mine, theirs = [(await frames_of(one, choice, (viewer,), comes_back))[viewer] for one in (world, other)]
        assert [frame["type"] for frame in mine.frames].count("hand_dealt") == 1
        assert mine.texts == theirs.texts, f"pair {number}: seat {seat} can tell the two deals apart"
        # Every step was obeyed, so the frames are those of the whole script.
        made = sum(frame["type"] in ("bid_made", "cards_passed", "card_played") for frame in mine.frames)
        assert made == sum(not isinstance(step.move, rules.LookAtCards) for step in world.steps), f"pair {number}"
        differing += world != other
    # A pair of one and the same deal would show nothing.
    assert differing >= PAIRS // SHARDS * 0.9


async def test_the_others_can_tell_the_two_deals_apart() -> None:
    """That the comparison sees a difference where there is one."""
    draw = Random(0)
    world = script(draw, RULESETS[0], 20)
    other = other_world(draw, world, 0)
    lines = [await frames_of(one, RULESETS[0], PLAYERS, 0) for one in (world, other)]
    alike = [lines[0][account].texts == lines[1][account].texts for account in PLAYERS]
    assert alike[0]
    assert not all(alike)
