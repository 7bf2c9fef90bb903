"""No frame ever holds a card that its seat may not know: four seats and a watcher, every frame of whole games.

The real table's records through the real fan-out, in one process. `SPADES_HIDDEN_GAMES=100` plays more.
"""

import asyncio
import json
import os
import random
import re
from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import msgspec
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

import spades_rules as rules
from spades_events import Topic, commands, events
from spades_events.events import TableEvent
from spades_events.private import Rejection
from spades_lobby.desk import Answers, Desk
from spades_lobby.feeds import Viewer
from spades_lobby.hub import Hub
from spades_lobby.namebook import Names
from spades_lobby.settings import LobbySettings
from spades_runtime import Input, Output
from tests.table.fake_worker import PART, FakeWorker

pytestmark = [pytest.mark.asyncio]

GAMES = int(os.environ.get("SPADES_HIDDEN_GAMES", "3"))
GAMES_WITHOUT_A_SWAP_MAX = 8
PLAYERS = ("ann", "bob", "cat", "dan")
TABLE = "00000000-0000-0000-0000-{:012d}"
CARD = re.compile(r'"([2-9TJQKA][CDHS]|LJ|BJ)"')
RULESETS = (
    commands.RulesetChoice(name="club"),
    commands.RulesetChoice(name="jokers", options={"blind_nil": True, "swap": True}),
    commands.RulesetChoice(name="classic", options={"blind_nil": True, "swap": True}),
)


class Read(NamedTuple):
    """A record as a consumer reads it."""

    topic: str
    partition: int
    offset: int
    key: bytes
    value: bytes
    headers: tuple[tuple[str, bytes], ...]


class Recorder:
    """A connection that keeps every frame, and may be told to come back in the middle."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.frames: list[dict[str, Any]] = []

    def send_later(self, frame: bytes) -> None:
        # An unmasked frame's head is 2, 4 or 10 bytes (RFC 6455, 5.2).
        head = {126: 4, 127: 10}.get(frame[1], 2)
        self.frames.append(json.loads(frame[head:]))

    def ask_snapshot(self, viewer: Viewer) -> None:
        self.hub.ask_snapshot(viewer)

    def no_snapshot(self, viewer: Viewer, rejection: Rejection) -> None:
        raise AssertionError(rejection)

    def table_silent(self, viewer: Viewer) -> None:
        raise AssertionError("the table is silent")

    def played_elsewhere(self, viewer: Viewer) -> None:
        raise AssertionError("played elsewhere")


class Wire:
    """The desk and the log in one: what is sent goes into the table's next poll."""

    def __init__(self) -> None:
        self.worker = FakeWorker()
        self.waiting: deque[Input] = deque()

    async def send(
        self, topic: Topic, key: str, actor: str, command_id: str, command: msgspec.Struct, *_: object
    ) -> None:
        assert topic is Topic.TABLE_COMMANDS
        self.waiting.append(self.worker.command(key, actor, command, command_id))

    def part_of(self, key: str) -> int:
        return PART


class NoNames(Names):
    async def load(self, account_ids: Iterable[str]) -> None:
        """Everybody is called by their account."""

    def of(self, account_ids: Iterable[str]) -> dict[str, str]:
        return {one: one for one in account_ids}


class Game:
    """One table, its five viewers, and players who know only their own frames."""

    def __init__(self, number: int) -> None:
        self.draw = random.Random(number)
        self.table_id = TABLE.format(number)
        self.wire = Wire()
        settings = LobbySettings.model_validate(
            {"kafka_bootstrap": "nowhere:1", "database_url": "postgresql://nowhere"}
        )
        desk, engine = cast(Desk, self.wire), cast(AsyncEngine, None)
        self.hub = Hub(settings, desk, Answers(), NoNames(engine), lambda: 0.0)
        self.recorders = {account: Recorder(self.hub) for account in (*PLAYERS, "eve")}
        self.viewers: list[Viewer] = []
        self.ruleset = RULESETS[number % len(RULESETS)]
        self._answered = dict.fromkeys(PLAYERS, 0)
        self._turn_ids: dict[int, str] = {}

    async def play(self) -> None:
        await self.wire.worker.take()
        await self.ask("ann", commands.OpenTable(kind="private", ruleset=self.ruleset))  # type: ignore[arg-type]
        for seat, account in enumerate(PLAYERS):
            await self.ask(account, commands.TakeSeat(seat=seat))
        feed = self.hub.feed(self.table_id)
        for account, recorder in self.recorders.items():
            viewer = Viewer(feed, f"c-{account}", account, recorder)
            feed.add(viewer)
            self.viewers.append(viewer)
            self.hub.ask_snapshot(viewer, claims=True)
        await self.run()
        await self.ask("ann", commands.StartGame())
        for _ in range(20_000):
            if any(frame["type"] == "game_over" for frame in self.recorders["eve"].frames):
                break
            await self.move()
        await self.hub.reader.stop()

    async def ask(self, account: str, command: msgspec.Struct) -> None:
        self.wire.waiting.append(self.wire.worker.command(self.table_id, account, command))
        await self.run()

    async def run(self) -> None:
        """Until nothing is on its way any more."""
        await settle(self.hub)
        while self.wire.waiting:
            inputs = list(self.wire.waiting)
            self.wire.waiting.clear()
            self.wire.worker.now_ms += 50
            outputs = await self.wire.worker.poll(*inputs)
            await self.hub.dispatch({self.hub_part(topic): records for topic, records in by_topic(outputs).items()})
            await settle(self.hub)

    def hub_part(self, topic: str) -> Any:
        return self.hub.reader.parts(PART, topic)[0]

    async def move(self) -> None:
        if self.draw.random() < 0.02:
            # A connection is lost and comes back: a snapshot in the middle of everything.
            self.draw.choice(self.viewers).rejoin()
        for account, recorder in self.recorders.items():
            if account in PLAYERS:
                news = recorder.frames[self._answered[account] :]
                self._answered[account] = len(recorder.frames)
                for command in self.answers_to(PLAYERS.index(account), news):
                    self.wire.waiting.append(self.wire.worker.command(self.table_id, account, command))
        await self.run()

    def answers_to(self, seat: int, news: list[dict[str, Any]]) -> list[msgspec.Struct]:
        turn, ready = None, False
        for frame in news:
            match frame["type"]:
                case "turn_started":
                    turn = (frame["turn_id"], frame["kind"], frame["you"]) if frame["seat"] == seat else None
                case "cards_seen" if frame["seat"] == seat:
                    # The look was the answer to a bid's turn, which goes on with the cards turned up.
                    turn = (self._turn_ids[seat], "bid", frame["you"])
                case "snapshot":
                    mine = frame["turn"] and frame["turn"]["seat"] == seat
                    turn = (frame["turn"]["turn_id"], frame["turn"]["kind"], frame["view"]) if mine else None
                    # Who was away when the hand was scored is still waited for.
                    ready = frame["phase"] == "between_hands" and seat not in frame["ready"]
                case "hand_scored":
                    turn, ready = None, True
                case _:
                    pass
        if turn is not None:
            self._turn_ids[seat] = turn[0]
        if ready:
            return [commands.ReadyForNextHand()]
        return [] if turn is None else [self.command(seat, *turn)]

    def command(self, seat: int, turn_id: str, kind: str, you: dict[str, Any]) -> msgspec.Struct:
        match kind:
            case "bid":
                # One team bids far too high: behind, it gets its cards face down and bids blind.
                legal = you["legal_bids"] or []
                wanted = "blind_nil" if "blind_nil" in legal and seat == 0 else (7 if seat % 2 == 0 else 2)
                if wanted not in legal:
                    return commands.LookAtCards(hand_no=int(turn_id.split(":")[0]))
                return commands.PlaceBid(turn_id=turn_id, bid=wanted)
            case "pass":
                cards = self.draw.sample(self.hand(seat), 2)
                return commands.PassCards(turn_id=turn_id, cards=(cards[0], cards[1]))
            case _:
                return commands.PlayCard(turn_id=turn_id, card=self.draw.choice(you["legal_cards"]))

    def hand(self, seat: int) -> list[str]:
        """What the seat holds during the swap, from its own frames."""
        held: list[str] = []
        for frame in self.recorders[PLAYERS[seat]].frames:
            cards = frame.get("you", {}).get("cards") or []
            match frame["type"]:
                case "snapshot":
                    held = (frame["view"] or {}).get("hand") or []
                case "hand_dealt" | "cards_seen":
                    held = list(cards) or held
                case "cards_passed":
                    gives = frame["from_seat"] == seat
                    held = [card for card in held if card not in cards] if gives else [*held, *cards]
                case _:
                    pass
        return held


async def settle(hub: Hub) -> None:
    """Let what the hub sends in the background be sent."""
    while hub._tasks:
        await asyncio.sleep(0)


def by_topic(outputs: Iterable[Output]) -> dict[str, list[Read]]:
    found: dict[str, list[Read]] = {}
    for offset, one in enumerate(outputs):
        record = Read(one.topic, one.part, offset, one.key.encode(), one.value, tuple(one.headers))
        found.setdefault(one.topic, []).append(record)
    return found


def knowledge(facts: list[TableEvent], table_id: str, seat: int | None) -> list[set[str]]:
    """What this seat may know of the running hand at each version, from what the game was, not from any frame."""
    revealed = {fact.hand_no: fact for fact in facts if isinstance(fact, events.DealRevealed)}
    known: list[set[str]] = [set()]
    dealt: list[set[str]] = []
    swaps: list[set[str]] = []
    for fact in facts:
        now = known[-1]
        match fact:
            case events.HandDealt():
                dealt, swaps = truth(revealed[fact.hand_no], table_id)
                now = set() if seat is None or seat in fact.face_down else dealt[seat]
            case events.CardsSeen() if fact.seat == seat:
                now = now | dealt[seat]
            case events.CardsPassed():
                cards = swaps.pop(0)
                now = now | cards if fact.to_seat == seat else now
            case events.CardPlayed():
                now = now | {fact.card}
            case events.DealRevealed():
                now = set().union(*dealt)
            case _:
                pass
        known.append(now)
    return known


def truth(revealed: events.DealRevealed, table_id: str) -> tuple[list[set[str]], list[set[str]]]:
    """The hands as dealt, and the pairs of cards that were passed, in their order."""
    secret = bytes.fromhex(revealed.secret)
    hands = rules.deal_hands(secret, table_id, revealed.hand_no, revealed.dealer, revealed.deck_id, rules.NO_SEEDS)
    swaps = [set(cards) for swap in revealed.swaps for cards in (swap.passed, swap.returned) if cards]
    return [set(rules.card_names(hand)) for hand in hands], swaps


@pytest.mark.parametrize("number", range(GAMES))
async def test_no_frame_holds_a_card_that_its_seat_may_not_know(number: int) -> None:
    for _ in range(GAMES_WITHOUT_A_SWAP_MAX):
        game = Game(number)
        await game.play()
        facts = game.wire.worker.public(game.table_id)
        for account, recorder in game.recorders.items():
            check(game, facts, PLAYERS.index(account) if account in PLAYERS else None, recorder.frames)
        if any(isinstance(fact, events.CardsPassed) for fact in facts):
            return
    raise AssertionError("games without a swap show less than they should")


def check(game: Game, facts: list[TableEvent], seat: int | None, frames: list[dict[str, Any]]) -> None:
    known = knowledge(facts, game.table_id, seat)
    assert {"snapshot", "hand_dealt", "card_played"} <= {frame["type"] for frame in frames}
    # Who comes back with the very last card is shown the end in the snapshot, and not told of it again.
    assert any(frame["type"] == "game_over" or frame.get("phase") == "ended" for frame in frames)
    for frame in frames:
        assert ("you" in frame) <= (seat is not None)
        shown = set(CARD.findall(json.dumps(frame)))
        assert shown <= known[frame["seq"]], f"seat {seat} was shown {shown - known[frame['seq']]} in {frame}"
