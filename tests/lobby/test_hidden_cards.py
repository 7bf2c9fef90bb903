"""No frame ever holds a card that its seat may not know: four seats and a watcher, every frame of whole games.

The real table's records through the real fan-out, in one process. `SPADES_HIDDEN_GAMES=100` plays more.
"""

import os
import random
import re
from typing import Any

import msgspec
import pytest

import spades_rules as rules
from spades_events import TableKind, commands, events
from spades_events.events import TableEvent
from tests.lobby.fanout import Fanout, Line

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


class Game:
    """One table, its five viewers, and players who know only their own frames."""

    def __init__(self, number: int) -> None:
        self.draw = random.Random(number)
        self.table_id = TABLE.format(number)
        self.fanout = Fanout(self.table_id, number)
        self.lines: dict[str, Line] = {}
        self.ruleset = RULESETS[number % len(RULESETS)]
        self._answered = dict.fromkeys(PLAYERS, 0)
        self._turn_ids: dict[int, str] = {}

    async def play(self) -> None:
        await self.fanout.worker.take()
        self.fanout.ask("ann", commands.OpenTable(kind=TableKind.PRIVATE, ruleset=self.ruleset))
        for seat, account in enumerate(PLAYERS):
            self.fanout.ask(account, commands.TakeSeat(seat=seat))
        await self.fanout.run()
        self.lines = {account: self.fanout.watch(account) for account in (*PLAYERS, "eve")}
        await self.fanout.run()
        self.fanout.ask("ann", commands.StartGame())
        await self.fanout.run()
        for _ in range(20_000):
            if self.lines["eve"].frames[-1]["type"] == "game_over":
                break
            await self.move()
        await self.fanout.stop()

    async def move(self) -> None:
        if self.draw.random() < 0.02:
            # A connection is lost and comes back: a snapshot in the middle of everything.
            self.draw.choice(list(self.lines.values())).viewer.rejoin()
        for seat, account in enumerate(PLAYERS):
            frames = self.lines[account].frames
            news = frames[self._answered[account] :]
            self._answered[account] = len(frames)
            for command in self.answers_to(seat, news):
                self.fanout.ask(account, command)
        await self.fanout.run()

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
        for frame in self.lines[PLAYERS[seat]].frames:
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
    # A game without a swap shows little, so another is played, too.
    for again in range(GAMES_WITHOUT_A_SWAP_MAX):
        game = Game(number + 1_000 * again)
        await game.play()
        facts = game.fanout.worker.public(game.table_id)
        for account, line in game.lines.items():
            check(game, facts, PLAYERS.index(account) if account in PLAYERS else None, line)
        if any(isinstance(fact, events.CardsPassed) for fact in facts):
            return
    raise AssertionError("no game with a swap")


def check(game: Game, facts: list[TableEvent], seat: int | None, line: Line) -> None:
    frames = line.frames
    known = knowledge(facts, game.table_id, seat)
    assert {"snapshot", "hand_dealt", "card_played"} <= {frame["type"] for frame in frames}
    # Who comes back with the very last card is shown the end in the snapshot, and not told of it again.
    assert any(frame["type"] == "game_over" or frame.get("phase") == "ended" for frame in frames)
    for frame, text in zip(frames, line.texts, strict=True):
        assert ("you" in frame) <= (seat is not None)
        shown = set(CARD.findall(text.decode()))
        assert shown <= known[frame["seq"]], f"seat {seat} was shown {shown - known[frame['seq']]} in {frame}"
