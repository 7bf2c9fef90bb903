"""Whole games at the fake table, played by judgement alone: logs for the page's reducer."""

from typing import Any

from spades_events import commands
from spades_events.commands import OpenTable
from spades_events.values import RulesetChoice, TableKind
from spades_table.phases import BetweenHands, Ended, Playing
from tests.web.fake_table import FakeTable, Frame

TABLE_ID = "11111111-2222-3333-4444-555555555555"


def _step(table: FakeTable, blind_seat: int | None) -> None:
    """One move on the merits, or one more who is ready for the next hand."""
    if isinstance(table.table, BetweenHands):
        ready = table.table.ready
        waiting = next(account for seat, account in table.people().items() if seat not in ready)
        table.ask(waiting, commands.ReadyForNextHand())
        return
    turn = table.playing.turn
    assert turn is not None
    if turn.seat == blind_seat and turn.seat in getattr(table.game, "face_down", ()):
        table.ask(table.people()[turn.seat], commands.PlaceBid(turn_id=turn.turn_id, bid="blind_nil"))
    else:
        table.move()


def recorded(
    ruleset: str,
    *,
    scores: tuple[int, int] = (0, 0),
    people: int = 4,
    hands: int = 1,
    blind_seat: int | None = None,
    options: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A game's frames for each seat and a watcher, with snapshots taken after every answer."""
    choice = RulesetChoice(name=ruleset, options=options or {})
    opening = OpenTable(kind=TableKind.PRACTICE, ruleset=choice, bots_welcome=True)
    table = FakeTable(TABLE_ID, "p0", opening, scores=scores)
    accounts = [f"p{seat}" for seat in range(people)] + ["watcher"]
    snapshots: dict[str, dict[str, Frame]] = {account: {} for account in accounts}

    def note() -> None:
        for account in accounts:
            snapshots[account][str(len(table.log))] = table.snapshot(account)

    for seat in range(people):
        table.ask(f"p{seat}", commands.TakeSeat(seat=seat))
    if scores == (0, 0):
        # No event tells of a game that begins in its middle: it is folded from the first deal on.
        note()
    table.ask("p0", commands.StartGame())
    note()
    while not isinstance(table.table, Ended) and table.game.hand_no <= hands:
        assert isinstance(table.table, Playing | BetweenHands)
        _step(table, blind_seat)
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
