"""How fast the rules are, in CPU time of one core: `make bench-rules`.

Every figure is the best of several rounds, beside a bare loop of Python in the same run, so that a
slow or busy machine is seen to be one. The last line says which goals were met; none is a test.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from spades_rules import (
    DECKS,
    PRESETS,
    AwaitingDeal,
    Card,
    DealHand,
    Game,
    PlaceBid,
    Play,
    PlayCard,
    Seat,
    View,
    cards_in,
    decide,
    evolve,
    expected,
    judge,
    mask_of,
    new_game,
    ruleset,
    view,
)
from spades_rules.simulate import DICE_SIDES, Table, play_out

ROUNDS = 5
HANDS = 150
PLAYOUTS = 400
DECISION_HANDS = 60


def main() -> None:
    goals = [
        loop_figure(),
        decide_figure(),
        simulate_figure(),
        judge_figure(),
    ]
    met = [goal for goal in goals if goal[2] is True]
    missed = [f"{name} ({figure}, {wanted})" for name, figure, ok, wanted in goals if ok is False]
    listed = f": {', '.join(missed)}" if missed else ""
    print(f"goals: {len(met)} met, {len(missed)} missed{listed}")


Figure = tuple[str, str, bool | None, str]


def shown(name: str, figure: str, ok: bool | None, wanted: str) -> Figure:
    print(f"{name:<34} {figure:>22}   {wanted}")
    return name, figure, ok, wanted


def cpu_seconds(work: Callable[[], int]) -> tuple[float, int]:
    """The least CPU time that the work took, and how many steps it counted."""
    best, steps = 1e9, 0
    for _ in range(ROUNDS):
        before = time.process_time()
        steps = work()
        best = min(best, time.process_time() - before)
    return best, steps


def loop_figure() -> Figure:
    def bare() -> int:
        total = 0
        for number in range(2_000_000):
            total ^= number
        return 2_000_000

    seconds, steps = cpu_seconds(bare)
    return shown("bare loop", f"{steps / seconds / 1e6:,.1f} M steps/s", None, "for comparison")


def dealt_hand(chance: random.Random) -> Game:
    start = new_game(ruleset("deniro"))
    deck = list(cards_in(DECKS[0]))
    chance.shuffle(deck)
    four = [mask_of(deck[seat::4]) for seat in range(4)]
    deal = DealHand(1, Seat(chance.randrange(4)), (four[0], four[1], four[2], four[3]))
    game: Game = start
    for event in decide(start, deal):
        game = evolve(game, event)
    return game


def recorded_moves(seed: int) -> tuple[Game, list[PlaceBid | PlayCard]]:
    """A random hand's moves, chosen beforehand: choosing them is not the rules' work."""
    chance = random.Random(seed)
    start = game = dealt_hand(chance)
    moves: list[PlaceBid | PlayCard] = []
    while not isinstance(game, AwaitingDeal):
        turn = expected(game)
        assert turn is not None
        if isinstance(game, Play):
            legal = view(game, turn.seat).legal_cards
            move: PlaceBid | PlayCard = PlayCard(turn.seat, _card(chance.choice(legal)))
        else:
            move = PlaceBid(turn.seat, chance.randint(1, 5))
        moves.append(move)
        for event in decide(game, move):
            game = evolve(game, event)
    return start, moves


def _card(name: str) -> Card:
    from spades_rules import parse_card

    return parse_card(name)


def decide_figure() -> Figure:
    recorded = [recorded_moves(seed) for seed in range(HANDS)]

    def fold() -> int:
        count = 0
        for start, moves in recorded:
            game = start
            for move in moves:
                for event in decide(game, move):
                    game = evolve(game, event)
            count += len(moves)
        return count

    seconds, moves = cpu_seconds(fold)
    rate = moves / seconds
    return shown("decide and evolve, whole hands", f"{rate:,.0f} moves/s", rate >= 100_000, "goal >= 100,000")


def simulate_figure() -> Figure:
    chance = random.Random(7)
    tables = []
    for _ in range(PLAYOUTS):
        deck = list(range(52))
        chance.shuffle(deck)
        masks = [sum(1 << card for card in deck[seat::4]) for seat in range(4)]
        tables.append(masks)
    dice = [chance.randrange(DICE_SIDES) for _ in range(52)]

    def run() -> int:
        for masks in tables:
            play_out(Table(masks, leader=0), dice)
        return 52 * len(tables)

    seconds, moves = cpu_seconds(run)
    rate = moves / seconds
    return shown("simulation, random playouts", f"{rate:,.0f} moves/s", rate >= 600_000, "goal >= 600,000")


def views_of_hands() -> list[View]:
    """Every decision that the computer players meet in some hands of every preset."""
    views = []
    for number in range(DECISION_HANDS):
        chance = random.Random(number)
        rules = ruleset(list(PRESETS)[number % len(PRESETS)])
        deck = list(cards_in(DECKS[rules.deck]))
        chance.shuffle(deck)
        four = [mask_of(deck[seat::4]) for seat in range(4)]
        game: Game = new_game(rules)
        command: object = DealHand(1, Seat(0), (four[0], four[1], four[2], four[3]))
        while True:
            for event in decide(game, command):  # type: ignore[arg-type]
                game = evolve(game, event)
            turn = expected(game)
            if turn is None:
                break
            seen = view(game, turn.seat)
            views.append(seen)
            command = judge(seen)
    return views


def judge_figure() -> Figure:
    views = views_of_hands()
    best = [1e9] * len(views)
    for _ in range(3):
        for at, seen in enumerate(views):
            before = time.process_time_ns()
            judge(seen)
            best[at] = min(best[at], (time.process_time_ns() - before) / 1000)
    best.sort()
    p50, p99 = best[len(best) // 2], best[len(best) * 99 // 100]
    return shown(
        "judgement, p99 of a decision",
        f"{p99:,.0f} us (p50 {p50:,.0f})",
        p99 <= 500,
        "goal <= 500 us",
    )


if __name__ == "__main__":
    main()
