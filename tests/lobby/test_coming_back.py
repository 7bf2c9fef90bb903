"""Who drops the connection behind any frame of a hand, and comes back by another gateway, ends as who never dropped."""

from random import Random

import pytest

import spades_rules as rules
from spades_client import Seen
from spades_events import RulesetChoice, commands
from tests.lobby.fanout import Fanout
from tests.lobby.worlds import HAND, PLAYERS, WATCHER, World, asked_in, script, seated

RULESET = RulesetChoice(name="classic", options={"blind_nil": True, "swap": True})
BIDDER = rules.Seat(0)


class Client:
    """One person who folds what comes, behind whichever gateway; drops their line behind one frame, or never."""

    def __init__(self, fanout: Fanout, account: str, drops_behind: int | None) -> None:
        self._fanout = fanout
        self._account = account
        self._drops_behind = drops_behind
        self._gateway = 0
        self._line = fanout.watch(account)
        self._read = 0
        self.told = 0
        self.seen: Seen | None = None

    async def read(self) -> None:
        """Take every frame, up to the one behind which the line is cut: what came with it is lost."""
        while self._read < len(self._line.frames):
            frame = self._line.frames[self._read]
            self._read += 1
            self.told += 1
            if frame["type"] == "snapshot":
                self.seen = Seen(frame, self._account)
            elif "seq" in frame:
                assert self.seen is not None
                # Raises where it does not follow the one before.
                self.seen.fold(frame)
            if self.told == self._drops_behind:
                await self._come_back()

    async def _come_back(self) -> None:
        self._fanout.drop(self._line)
        self._gateway = 1 - self._gateway
        self._line, self._read = self._fanout.watch(self._account, self._gateway), 0
        await self._fanout.run()


async def played(world: World, account: str, drops_behind: int | None) -> Client:
    """The whole hand, one move after the other, as this person saw it."""
    fanout = await seated(world, RULESET, gateways=2)
    # Somebody else watches at either gateway, so that both read the table all the time.
    others = [fanout.watch("fay", gateway) for gateway in range(2)]
    client = Client(fanout, account, drops_behind)
    await fanout.run()
    await client.read()
    fanout.ask("ann", commands.StartGame())
    await fanout.run()
    await client.read()
    for by, command in asked_in(world):
        fanout.ask(by, command)
        await fanout.run()
        await client.read()
    await fanout.stop()
    assert others[0].frames[-1] == others[1].frames[-1]
    return client


def hand_with_a_swap() -> World:
    for seed in range(100):
        world = script(Random(seed), RULESET, HAND)
        passers = [step.seat for step in world.steps if isinstance(step.move, rules.PassCards)]
        if passers == [BIDDER, rules.partner_of(BIDDER)]:
            return world
    raise AssertionError("no such hand")


@pytest.mark.parametrize(
    ("account", "each"),
    [(PLAYERS[BIDDER], 1), (PLAYERS[2], 3), (WATCHER, 5)],
    ids=["bidder", "partner", "watcher"],
)
async def test_whoever_drops_behind_any_frame_ends_as_one_who_never_dropped(account: str, each: int) -> None:
    world = hand_with_a_swap()
    steady = await played(world, account, None)
    assert steady.seen is not None
    assert (steady.seen.phase, steady.seen.hand_no) == ("between_hands", 1)
    for behind in range(1, steady.told + 1, each):
        client = await played(world, account, behind)
        assert client.seen is not None
        assert client.seen.differs_from(steady.seen) == [], f"behind frame {behind}"
        ends = [(one.seq, one.phase, one.scores, one.seat, one.hand_no) for one in (client.seen, steady.seen)]
        assert ends[0] == ends[1], f"behind frame {behind}"
