"""Settlement cases against the real wallet on a real PostgreSQL: `python -m tests.wallet.conformance FILE`.

The file has the form of `tests/cases/settlement.json`. Every case is a game told to the wallet's
processor as the worker tells it, and judged by the balances in the ledger. Exit 1 on any difference, 2
where the file holds no cases.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spades_events.commands import GrantCoins, OpenAccount
from spades_events.wallet import Settlement, WalletEvent
from spades_local.testing import Namespace, serve_infra
from spades_wallet.accounts import GRANT_COINS_MAX
from spades_wallet.settlement import deposit_coins
from tests.wallet.desk import Desk, balances, desk_at
from tests.wallet.games import CoinGame


@dataclass(frozen=True, kw_only=True)
class Case:
    """A game and what each account has to gain or lose in it."""

    name: str
    fee: int
    game: CoinGame
    nets: dict[str, int]


def cases_in(rows: list[dict[str, Any]], first: int = 0) -> list[Case]:
    """The cases of a file, at tables numbered from `first`; an account that a case does not name moves nothing."""
    return [_case(number, row) for number, row in enumerate(rows, first)]


def _case(number: int, row: dict[str, Any]) -> Case:
    table = f"case{number}"
    game = CoinGame(
        table=table,
        stake=row["stake"],
        people=tuple(row["humans"]),
        leaves=tuple(row["leaves"]),
        end=tuple(row["end"]),
    )
    silent = {game.name(seat): 0 for seat in game.people} | {"house": 0, "fees": 0}
    named = {
        (game.name(int(account[1:])) if account.startswith("u") else account): coins
        for account, coins in row["net"].items()
    }
    return Case(name=row["name"], fee=row["fee"], game=game, nets=silent | named)


async def differences(desk: Desk, case: Case) -> list[str]:
    """Play the case and say where the wallet differs from it; empty: it does not."""
    people = [case.game.name(seat) for seat in case.game.people]
    rich = GrantCoins(amount_coins=GRANT_COINS_MAX, reason="to play this case")
    await desk.handle(*(desk.command(name, wish) for name in people for wish in (OpenAccount(), rich)))
    before = await balances(desk.db, people)
    told: list[WalletEvent] = []
    for fact in case.game.facts():
        told += await desk.tell(case.game, fact)
    after = await balances(desk.db, people)
    moved = {account: after[account] - before[account] for account in case.nets}
    found = [_difference("the ledger", moved, case.nets)]
    settlements = [event for event in told if isinstance(event, Settlement)]
    if len(settlements) != 1:
        found.append(f"settled {len(settlements)} times")
    for settlement in settlements:
        payouts = {payout.account_id: payout.net_coins for payout in settlement.payouts}
        found.append(_difference("Settlement", dict.fromkeys(case.nets, 0) | payouts, case.nets))
    fee = deposit_coins(case.game.stake)
    if fee != case.fee:
        found.append(f"the fee is {fee}, expected {case.fee}")
    escrow = await desk.db.execute(
        "SELECT coalesce(sum(balance), 0)::bigint FROM account WHERE table_id = %s", [case.game.table]
    )
    if await escrow.fetchone() != (0,):
        found.append("coins are left in escrow")
    return [text for text in found if text]


def _difference(who: str, found: dict[str, int], expected: dict[str, int]) -> str:
    wrong = {account: coins for account, coins in found.items() if coins != expected.get(account, 0)}
    return f"{who} says {wrong}, expected {expected}" if wrong else ""


async def judged(namespace: Namespace, cases: list[Case]) -> int:
    """Judge every case and print a line each; how many differ."""
    failed = 0
    async with desk_at(namespace) as desk:
        for case in cases:
            found = await differences(desk, case)
            failed += bool(found)
            print("WRONG" if found else "ok   ", case.name, *found, sep="  ")
    print(f"{len(cases)} cases, {failed} differ")
    return failed


def main(arguments: list[str]) -> int:
    """Run the cases of one file; 0 if the wallet settles all of them as they say, 1 if not, 2 if it is no such file."""
    parser = argparse.ArgumentParser(prog="python -m tests.wallet.conformance", description=__doc__)
    parser.add_argument("file", type=Path)
    file: Path = parser.parse_args(arguments).file
    try:
        cases = cases_in(json.loads(file.read_text()))
    except (OSError, ValueError, KeyError, TypeError) as error:
        parser.error(f"{file} holds no cases: {type(error).__name__} {error}")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        with serve_infra(Path(folder)) as infra:
            namespace = Namespace(infra, Path(folder))
            try:
                namespace.migrate("wallet")
                return 1 if asyncio.run(judged(namespace, cases)) else 0
            finally:
                namespace.drop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
