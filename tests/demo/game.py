"""One game from its opening to its end, and the plan of who plays what and how."""

import asyncio
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from spades_client import Acked, Gateway, Rejected
from tests.demo.player import Manner, Player

UNDER_WAY = frozenset({"starting", "wrong_phase"})
STAKES = (10, 20, 50, 100, 200)
Options = dict[str, int | bool]
_ALL: Options = {"blind_nil": True, "swap": True}
# The hosts' options of each rule set, from one game of it to the next.
RULESETS: dict[str, tuple[Options, ...]] = {
    "deniro": ({},),
    "classic": (_ALL, {"nil": 50, "target": 250, "blind_nil": True}, {}, _ALL),
    "bicycle": (_ALL, _ALL, {}),
    "club": ({},),
    "jokers": (_ALL, {"blind_nil": True}, {}, _ALL),
}
_S, _L, _Q, _D = Manner.STEADY, Manner.LEAVES, Manner.SILENT, Manner.DROPS
# Kind of table, and one person a seat; bots take the others.
TABLES: tuple[tuple[str, tuple[Manner, ...]], ...] = (
    ("practice", (_S, _D, _S, _S)),
    ("coins", (_S,)),
    ("online", (_S, _D)),
    ("online", (_S, _S, _S, _L)),
    ("coins", (_Q,)),
    ("practice", (_S,)),
    ("online", (_S, _Q, _D)),
    ("coins", (_L,)),
    ("practice", (_S, _L)),
    ("online", (_D, _S, _S, _D)),
    ("coins", (_D,)),
    ("online", (_L, _L, _S)),
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be played."""

    number: int
    kind: str
    ruleset: str
    options: Options
    stake_coins: int
    manners: tuple[Manner, ...]


def plans(games: int, ruleset: str | None) -> Iterator[Plan]:
    """A mix of kinds, people and manners; every rule set, or one."""
    names = [name for name in RULESETS if ruleset in (None, name)]
    for number in range(games):
        kind, manners = TABLES[number % len(TABLES)]
        name = names[number % len(names)]
        options = RULESETS[name][number // len(names) % len(RULESETS[name])]
        stake_coins = 0 if kind == "practice" else STAKES[number % len(STAKES)]
        yield Plan(number + 1, kind, name, options, stake_coins, manners)


@dataclass(slots=True)
class Played:
    """How a game went, as its people saw it."""

    plan: Plan
    table_id: str = ""
    players: list[Player] = field(default_factory=list)
    scores: tuple[int, int] = (0, 0)
    end_reason: str | None = None
    is_over: bool = False
    took_s: float = 0.0
    faults: list[str] = field(default_factory=list)

    @property
    def moves(self) -> list[Acked]:
        """Every acknowledged move of its people."""
        return [acked for player in self.players for acked in player.journal]

    @property
    def hands(self) -> int:
        return max((player.hands for player in self.players), default=0)

    @property
    def blind_offers(self) -> int:
        """Turns at which its people were offered Blind Nil and answered in time."""
        return sum(player.blind_offers for player in self.players)


async def enter(gateway: Gateway, played: Played) -> None:
    """Bring a game's people: guests, or accounts with coins."""
    chance = random.Random(played.plan.number)
    played.players = [Player(gateway, manner, chance) for manner in played.plan.manners]
    with_coins = played.plan.stake_coins > 0
    await asyncio.gather(*(player.enter(with_coins=with_coins) for player in played.players))


async def play(played: Played) -> None:
    """Play a game to its end; what went wrong stands in `played.faults`."""
    plan, started_s = played.plan, time.monotonic()
    host = played.players[0]
    played.table_id = await host.account.open_table(_table(plan))
    price_coins = plan.stake_coins + (plan.stake_coins + 9) // 10 if plan.stake_coins else 0
    async with asyncio.TaskGroup() as tasks:
        for player in played.players:
            tasks.create_task(player.play(played.table_id, price_coins))
        await asyncio.gather(*(player.seated.wait() for player in played.players))
        if plan.kind == "practice" or (plan.kind == "online" and len(played.players) < 4):
            await _start(host, played)
    seen = host.socket.seen
    assert seen is not None
    played.scores, played.end_reason, played.is_over = seen.scores, seen.end_reason, seen.ended
    played.took_s = time.monotonic() - started_s
    for player in played.players:
        played.faults += player.faults


def _table(plan: Plan) -> dict[str, Any]:
    return {
        "kind": plan.kind,
        "ruleset": {"name": plan.ruleset, "options": plan.options},
        "stake_coins": plan.stake_coins,
        "bots_welcome": True,
    }


async def _start(host: Player, played: Played) -> None:
    try:
        await host.socket.command("start")
    except Rejected as rejected:
        # A table that started while the answer was lost is as good.
        if rejected.code not in UNDER_WAY:
            played.faults.append(str(rejected))
