"""What must hold when all games are over, read from the public streams and the wallet's own books."""

import asyncio
import os
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec
import psutil

from spades_client import Acked
from spades_events import Topic
from spades_replay import Record, Verifier, read
from spades_rules import BLIND_NIL
from tests.demo.game import Played
from tests.demo.stack import Stack

EVENT_OF = {
    "bid": ("spades.bid_made.v1", "bid"),
    "play_card": ("spades.card_played.v1", "card"),
    "pass_cards": ("spades.cards_passed.v1", "count"),
}

HAND_DEALT = "spades.hand_dealt.v1"

decode = msgspec.json.Decoder(dict[str, Any]).decode


@dataclass(slots=True)
class BlindNils:
    """What a table's stream tells of Blind Nil, by hand, so that a repeated record counts once."""

    face_down: set[int] = field(default_factory=set)
    bids: set[tuple[int, int]] = field(default_factory=set)
    passes: set[tuple[int, int]] = field(default_factory=set)

    def note(self, event_type: str, body: dict[str, Any]) -> None:
        if event_type == HAND_DEALT:
            if body["face_down"]:
                self.face_down.add(body["hand_no"])
            return
        hand_no = int(body["turn_id"].split(":")[0])
        if body.get("bid") == BLIND_NIL:
            self.bids.add((hand_no, body["seat"]))
        if "from_seat" in body:
            self.passes.add((hand_no, body["from_seat"]))

    @property
    def swaps(self) -> int:
        """Swaps played to their end: two passes each."""
        return len(self.passes) // 2


class Streams:
    """Everything the public topics hold, verified while it is read."""

    def __init__(self) -> None:
        # Every game is over and every wallet was asked: nothing may be waiting any more.
        self.verifier = Verifier(settling_ms_max=0)
        self.faults: list[str] = []
        self.blind: defaultdict[str, BlindNils] = defaultdict(BlindNils)
        self._moves: defaultdict[str, list[tuple[int, str, dict[str, Any]]]] = defaultdict(list)

    async def read(self, stack: Stack, prefix: str = "spades.") -> None:
        types = {HAND_DEALT, *(event_type for event_type, _ in EVENT_OF.values())}
        async for record in read(f"kafka://{stack.bootstrap}/{prefix}"):
            fault = self.verifier.feed(record)
            if fault is not None:
                self.faults.append(str(fault))
            if record.topic == Topic.TABLE_EVENTS and record.type in types:
                self._keep(record)
        self.faults += [str(fault) for fault in self.verifier.finish()]

    def _keep(self, record: Record) -> None:
        body = decode(record.body)
        self.blind[record.stream].note(record.type, body)
        moves = self._moves[record.stream]
        # A topic may repeat a record; the stream has it once.
        if all(version != record.version for version, *_ in moves[-200:]):
            moves.append((record.version, record.type, body))

    def missing(self, journal: Iterable[Acked]) -> list[str]:
        """Acknowledged moves that do not stand in their stream exactly once, where the answer said."""
        faults = []
        for acked in journal:
            if acked.kind not in EVENT_OF:
                continue
            event_type, name = EVENT_OF[acked.kind]
            found = [
                version
                for version, kind, body in self._moves[acked.table_id]
                if kind == event_type and body["turn_id"] == acked.turn_id and body[name] == acked.what
            ]
            if len(found) != 1 or not acked.first_seq <= found[0] <= acked.last_seq:
                faults.append(f"{acked} stands at {found}")
        return faults

    def unbid(self, games: Iterable[Played]) -> list[str]:
        """Games whose people had Blind Nil offered on their turn, in whose stream nobody bid it."""
        return [
            f"game {played.plan.number}: Blind Nil was offered {played.blind_offers} times and never bid"
            for played in games
            if played.blind_offers and not self.blind[played.table_id].bids
        ]

    def blind_nil_line(self, games: Iterable[Played]) -> str:
        """How much Blind Nil there was."""
        tables = [(self.blind[played.table_id], played) for played in games]
        face_down = sum(len(blind.face_down) for blind, _ in tables)
        bids = sum(len(blind.bids) for blind, _ in tables)
        swaps = sum(blind.swaps for blind, _ in tables)
        offers = sum(played.blind_offers for _, played in tables)
        return f"{face_down} hands dealt face down, {bids} blind bids, {swaps} swaps; {offers} offers answered"

    def unfinished(self, games: Iterable[Played]) -> list[str]:
        """Games of ours that the streams do not know, or do not know the end of."""
        faults = []
        for played in games:
            table = self.verifier.tables.get(played.table_id)
            if table is None or table.ended is None:
                faults.append(f"game {played.plan.number} has no end in its stream")
            elif played.plan.stake_coins and table.settled is None:
                faults.append(f"game {played.plan.number} was not settled")
        return faults


async def audit(stack: Stack) -> tuple[bool, str]:
    """Let the wallet's own auditor go over the ledger; whether it found all in order, and its last words."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "spades_wallet.audit"),
        # The environment of the running service: the auditor sees what the service sees.
        env={**os.environ, **psutil.Process(stack.pids()["wallet"]).environ()},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    lines = said.decode(errors="replace").strip().splitlines()
    return process.returncode == 0, lines[-1] if lines else ""
