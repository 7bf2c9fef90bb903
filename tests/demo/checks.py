"""What must hold when all games are over, read from the public streams and the wallet's own books."""

import asyncio
import os
import sys
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import msgspec
import psutil

from spades_events import Topic
from spades_replay import Record, Verifier, read
from tests.demo.game import Played
from tests.demo.player import Acked
from tests.demo.stack import Stack

EVENT_OF = {
    "bid": ("spades.bid_made.v1", "bid"),
    "play_card": ("spades.card_played.v1", "card"),
    "pass_cards": ("spades.cards_passed.v1", "count"),
}

decode = msgspec.json.Decoder(dict[str, Any]).decode


class Streams:
    """Everything the public topics hold, verified while it is read."""

    def __init__(self) -> None:
        # Every game is over and every wallet was asked: nothing may be waiting any more.
        self.verifier = Verifier(settling_ms_max=0)
        self.faults: list[str] = []
        self._moves: defaultdict[str, list[tuple[int, str, dict[str, Any]]]] = defaultdict(list)

    async def read(self, stack: Stack, prefix: str = "spades.") -> None:
        types = {event_type for event_type, _ in EVENT_OF.values()}
        async for record in read(f"kafka://{stack.bootstrap}/{prefix}"):
            fault = self.verifier.feed(record)
            if fault is not None:
                self.faults.append(str(fault))
            if record.topic == Topic.TABLE_EVENTS and record.type in types:
                self._keep(record)
        self.faults += [str(fault) for fault in self.verifier.finish()]

    def _keep(self, record: Record) -> None:
        moves = self._moves[record.stream]
        # A topic may repeat a record; the stream has it once.
        if all(version != record.version for version, *_ in moves[-200:]):
            moves.append((record.version, record.type, decode(record.body)))

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
