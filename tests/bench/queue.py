"""A thousand players enter the queue: when does the last of them sit? `python -m tests.bench.queue`.

All five services as processes. The players' accounts get their password from elsewhere and their coins from the
wallet itself. Each sits when the queue says so and the table's own events do; nobody may sit twice.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psycopg
import uvloop

from spades_client import Account, Gateway
from spades_events import CE_TYPES, events
from spades_local.testing import Namespace, serve_infra
from tests.bench.goals import Goal, tell
from tests.flow.services import Services, running

LIMIT_S = 180.0
LOOK_EVERY_S = 0.05
SEATED_S_MAX = 5.0
WANTED = {"ruleset": "deniro", "stake_coins": 10}


class Queue:
    """What the gateway's database says of the players."""

    def __init__(self, services: Services) -> None:
        self._database = psycopg.connect(services.namespace.databases["lobby"].owner_url, autocommit=True)

    def make_accounts(self) -> None:
        """Of all guests; the gateway asks the wallet to open what has a password."""
        self._database.execute("UPDATE account SET password = 'none' WHERE password IS NULL")

    def count(self, query: str) -> int:
        row = self._database.execute(query.encode()).fetchone()
        assert row is not None
        return int(row[0])

    def taken(self) -> Counter[str]:
        """How often each account took a seat, as the tables' events have it."""
        rows = self._database.execute(
            "SELECT body->'holder'->>'account_id' FROM game_event WHERE type = %s", (CE_TYPES[events.SeatTaken],)
        )
        return Counter(row[0] for row in rows)

    async def until(self, query: str, wanted: int, what: str) -> float:
        """When this count was reached."""
        ends_s = time.perf_counter() + LIMIT_S
        while (found := await asyncio.to_thread(self.count, query)) < wanted:
            if time.perf_counter() > ends_s:
                raise SystemExit(f"{what}: {found} of {wanted} after {LIMIT_S:.0f} s")
            await asyncio.sleep(LOOK_EVERY_S)
        return time.perf_counter()


async def enter(services: Services, players: int) -> tuple[float, float, Counter[str], set[str]]:
    """Seconds that all joins took and from the last one to the last seat; who sat how often, and who should."""
    queue = Queue(services)
    async with Gateway(services.address) as gateway:
        people: list[Account] = await asyncio.gather(*(gateway.guest() for _ in range(players)))
        queue.make_accounts()
        await queue.until("SELECT count(*) FROM account WHERE wallet_open", players, "open wallets")
        started_s = time.perf_counter()
        await asyncio.gather(*(person.post("/v1/queue", WANTED) for person in people))
        joined_s = time.perf_counter()
        seated_s = await queue.until("SELECT count(*) FROM queued WHERE state = 'seated'", players, "seated")
    return joined_s - started_s, seated_s - joined_s, queue.taken(), {person.account_id for person in people}


async def main(players: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        with serve_infra(Path(folder)) as infra:
            namespace = Namespace(infra, Path(folder))
            try:
                with running(namespace, Path(folder)) as services:
                    joining_s, seating_s, taken, people = await enter(services, players)
            finally:
                namespace.drop()
    twice = sum(count > 1 for count in taken.values())
    print(f"{players} players joined in {joining_s:.1f} s; the last sat {seating_s:.1f} s after the last join")
    print(f"{len(people & set(taken))} of them took a seat, {twice} more than once")
    tell([Goal("last seat s", round(seating_s, 2), SEATED_S_MAX)])
    return 0 if twice == 0 and people <= set(taken) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--players", type=int, default=1_000)
    sys.exit(uvloop.run(main(parser.parse_args().players)))
