"""Settlement cases against the real wallet on a real PostgreSQL: `python -m tests.wallet.conformance FILE`.

The file has the form of `tests/cases/settlement.json`. Every case is a game told to the wallet's
processor as the worker tells it, and judged by the balances in the ledger. Exit 1 on any difference.
"""

from dataclasses import dataclass
from typing import Any

from tests.wallet.games import CoinGame


@dataclass(frozen=True, kw_only=True)
class Case:
    """A game and what each account has to gain or lose in it."""

    name: str
    fee: int
    game: CoinGame
    nets: dict[str, int]


def cases_in(rows: list[dict[str, Any]]) -> list[Case]:
    """The cases of a file; an account that a case does not name neither gains nor loses."""
    return [_case(number, row) for number, row in enumerate(rows)]


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
