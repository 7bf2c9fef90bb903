"""Whole games at the fake table, played by judgement alone: logs for the page's reducer."""

from __future__ import annotations

import asyncio
from typing import Any

from spades_rules import Auction, LookAtCards, PassCards, PlaceBid, Seat, card_name, card_names, judge, view
from tests.web.fake_table import FakeTable, Frame, Pace


def new_table(ruleset: str, scores: tuple[int, int], people: int, options: dict[str, Any]) -> FakeTable:
    table = FakeTable(
        table_id="11111111-2222-3333-4444-555555555555",
        host="p0",
        kind="practice",
        choice={"name": ruleset, "options": options},
        stake_coins=0,
        clock_ms=None,
        bots_welcome=True,
        pace=Pace(bot_ms=0),
        start_scores=scores,
    )
    for seat in range(people):
        table.take_seat(f"p{seat}", seat, None)
    return table


def _frame_of(table: FakeTable, seat: int, *, blind: bool) -> Frame:
    """The seat's move as its page would send it."""
    assert table.turn is not None
    turn_id = table.turn["turn_id"]
    command = judge(view(table.game, Seat(seat)))
    if blind and isinstance(table.game, Auction) and seat in table.game.face_down:
        command = PlaceBid(Seat(seat), "blind_nil")
    match command:
        case LookAtCards():
            return {"type": "look_at_cards"}
        case PlaceBid():
            return {"type": "bid", "turn_id": turn_id, "bid": command.bid}
        case PassCards():
            return {"type": "pass_cards", "turn_id": turn_id, "cards": card_names(command.cards)}
        case _:
            return {"type": "play_card", "turn_id": turn_id, "card": card_name(command.card)}  # type: ignore[union-attr]


def _act(table: FakeTable, blind_seat: int | None) -> None:
    if table.phase == "between_hands":
        for seat in range(4):
            holder = table.seats[seat]
            if holder and holder["account_id"] != "bot" and table.phase == "between_hands":
                table.hand_ready(holder["account_id"])
        return
    assert table.turn is not None
    seat = table.turn["seat"]
    holder = table.seats[seat]
    assert holder is not None
    if holder["account_id"] == "bot":
        return
    frame = _frame_of(table, seat, blind=seat == blind_seat)
    if frame["type"] == "look_at_cards":
        table.look(holder["account_id"])
    else:
        table.move(holder["account_id"], frame)


async def recorded(
    ruleset: str,
    *,
    scores: tuple[int, int] = (0, 0),
    people: int = 4,
    hands: int = 1,
    blind_seat: int | None = None,
    options: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A game's frames for each seat and a watcher, with snapshots taken after every answer."""
    table = new_table(ruleset, scores, people, options or {})
    accounts = [f"p{seat}" for seat in range(people)] + ["watcher"]
    snapshots: dict[str, dict[str, Frame]] = {account: {} for account in accounts}

    def note() -> None:
        for account in accounts:
            snapshots[account][str(len(table.log))] = table.snapshot(account)

    note()
    table.start("p0")
    note()
    while table.phase != "ended" and table.game.hand_no <= hands:
        length = len(table.log)
        _act(table, blind_seat)
        if len(table.log) == length:
            # A bot's turn: its timer fires in the loop.
            await asyncio.sleep(0)
        else:
            note()
    return {
        "table_id": table.table_id,
        "views": [
            {
                "me": account,
                "frames": [table.frame(at, table.seat_of(account)) for at in range(len(table.log))],
                "snapshots": snapshots[account],
            }
            for account in accounts
        ],
    }
