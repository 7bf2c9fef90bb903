"""The settlement rulings, recomputed from the table's last event alone."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from spades_events import BOT_ACCOUNT
from spades_events.events import GameEnded, SeatResult, TableCancelled
from spades_replay import fee_of, nets_of

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "cases" / "settlement.json").read_text("utf-8"))


def ended(case: dict[str, Any]) -> GameEnded | TableCancelled:
    seats = tuple(
        SeatResult(
            seat=seat,
            account_id=f"u{seat}" if seat in case["humans"] and seat not in case["leaves"] else BOT_ACCOUNT,
            reservation_id=f"t:{seat}:1" if seat in case["humans"] else None,
            leaver=f"u{seat}" if seat in case["leaves"] else None,
        )
        for seat in range(4)
    )
    how, *winner = case["end"]
    if how == "cancelled":
        return TableCancelled(reason="not_started", stake_coins=case["stake"], seats=seats)
    reason = {"win": "target"}.get(how, how)
    return GameEnded(
        winner=winner[0] if winner else None,
        reason=reason,
        scores=(0, 0),
        hands=9,
        stake_coins=case["stake"],
        seats=seats,
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_worked_case_comes_out(case: dict[str, Any]) -> None:
    assert fee_of(case["stake"]) == case["fee"]
    assert nets_of(ended(case)) == {account: net for account, net in case["net"].items() if net}


@pytest.mark.parametrize("stake", [1, 9, 10, 11, 100, 999])
def test_nobody_who_stays_gains_or_loses_by_a_leaver(stake: int) -> None:
    ways = [["win", 0], ["win", 1], ["draw"], ["cancelled"]]
    for people in range(1, 5):
        for humans in itertools.combinations(range(4), people):
            for leavers in range(people):
                for leaves in itertools.combinations(humans, leavers):
                    for end in ways:
                        with_leavers = nets_of(ended({"stake": stake, "humans": humans, "leaves": leaves, "end": end}))
                        without = nets_of(ended({"stake": stake, "humans": humans, "leaves": (), "end": end}))
                        assert sum(with_leavers.values()) == 0
                        for seat in set(humans) - set(leaves):
                            assert with_leavers.get(f"u{seat}", 0) == without.get(f"u{seat}", 0)
                        for seat in leaves:
                            assert with_leavers[f"u{seat}"] == -(stake + fee_of(stake))
