"""`python -m tests.demo --games 20 [--ruleset deniro] [--kills wallet:20,clock:20]`

Exit 0 only if every check holds.
"""

import asyncio
import contextlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from spades_client import Gateway, SpadesError
from tests.demo import report
from tests.demo.checks import Streams, audit
from tests.demo.crowd import TABLES, hundred_tables
from tests.demo.game import RULESETS, Plan, Played, enter, plans, play
from tests.demo.kills import Killer, parsed
from tests.demo.stack import STATE, NotStarted, Stack, running

AT_ONCE_MAX = 100
WIDTH = 160


def main(
    games: Annotated[int, typer.Option(min=1, max=10_000)] = 20,
    ruleset: Annotated[str, typer.Option(help="One rule set instead of all.")] = "",
    kills: Annotated[str, typer.Option(help="kill -9 meanwhile: wallet:20,clock:20")] = "",
    state: Annotated[Path, typer.Option(help="The stack's folder.")] = STATE,
) -> None:
    """Play whole games through the public interface, then check every promise."""
    if ruleset and ruleset not in RULESETS:
        raise typer.BadParameter(f"there is no rule set {ruleset}")
    try:
        wanted = parsed(kills)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    # Into a file the rows would be cut to 80 columns.
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    try:
        holds = asyncio.run(_demo(console, list(plans(games, ruleset or None)), wanted, state))
    except NotStarted as problem:
        console.print(str(problem), markup=False)
        holds = False
    raise typer.Exit(0 if holds else 1)


async def _demo(console: Console, planned: list[Plan], wanted: dict[str, int], state: Path) -> bool:
    started_s = time.monotonic()
    async with running(state) as stack:
        console.print(f"stack at {stack.address}, ready after {time.monotonic() - started_s:.0f} s")
        async with Gateway(stack.address) as gateway:
            killer = Killer(stack, wanted)
            games = await _play_all(console, planned, gateway, killer)
            sizes = await hundred_tables(gateway, lambda: asyncio.to_thread(stack.resident_bytes))
            holds = await _check(console, stack, games, killer)
    _figures(console, games, sizes)
    console.print(f"{len(games)} games in {time.monotonic() - started_s:.0f} s with start and stop")
    return holds


async def _play_all(console: Console, planned: list[Plan], gateway: Gateway, killer: Killer) -> list[Played]:
    games = [Played(plan) for plan in planned]
    gate = asyncio.Semaphore(AT_ONCE_MAX)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("people", total=len(games))

        async def play_one(played: Played) -> None:
            async with gate:
                try:
                    if played.players:
                        await play(played)
                except* Exception as group:  # noqa: BLE001 - shown as this game's fault; the others go on
                    played.faults += [repr(error) for error in group.exceptions]
            progress.advance(task)

        async def tell() -> None:
            while True:
                moves = sum(len(player.move_s) for played in games for player in played.players)
                ended = sum(killer.done.values())
                progress.update(
                    task, description=f"games, {moves} cards by people" + (f", {ended} kills" if ended else "")
                )
                await asyncio.sleep(0.5)

        # First of all the people: their passwords would cost the games of others dearly.
        await asyncio.gather(*(_enter(gateway, played) for played in games))
        telling = asyncio.create_task(tell())
        killing = asyncio.create_task(killer.run())
        await asyncio.gather(*(play_one(played) for played in games))
        # Kills still due come now: what they break is checked all the same.
        await killing
        telling.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await telling
    return games


async def _enter(gateway: Gateway, played: Played) -> None:
    try:
        await enter(gateway, played)
    except SpadesError as error:
        played.players.clear()
        played.faults.append(str(error))


async def _check(console: Console, stack: Stack, games: Sequence[Played], killer: Killer) -> bool:
    streams = Streams()
    await streams.read(stack)
    totals = streams.verifier.totals()
    console.print(report.games_table(games, streams.verifier.tables, streams.blind))
    in_order, said = await audit(stack)
    journal = [acked for played in games for acked in played.moves]
    compared = sum(player.socket.compared for played in games for player in played.players)
    resends = sum(player.socket.resends for played in games for player in played.players)
    own = [f"game {played.plan.number}: {fault}" for played in games for fault in played.faults]
    results = [
        report.check_line(
            console,
            "streams replay legally and deals verify",
            streams.faults,
            f"{totals.games} games, {totals.hands} hands dealt again, {totals.records} events",
        ),
        report.check_line(
            console,
            "every game has its end, every coin game is settled once",
            streams.unfinished(games),
            f"{totals.finished} ended, {totals.settled} of {totals.coin_games} settled",
        ),
        report.check_line(console, "the ledger sums to zero", [] if in_order else [said], said),
        report.check_line(
            console,
            "every acknowledged move stands in its stream exactly once",
            streams.missing(journal),
            f"{len(journal)} moves",
        ),
        report.check_line(
            console,
            "where Blind Nil was offered to people it was bid",
            streams.unbid(games),
            streams.blind_nil_line(games),
        ),
        report.check_line(
            console,
            "nobody was told anything wrong",
            own,
            f"frames and snapshots agree ({compared} compared), {resends} commands sent again",
        ),
    ]
    if killer.wanted:
        ended = ", ".join(f"{name} {number}" for name, number in killer.done.items())
        console.print(f"killed: {ended}; restarts: {stack.restarts()}")
    return all(results)


def _figures(console: Console, games: Sequence[Played], sizes: dict[str, int]) -> None:
    moves_s = [seconds for played in games for player in played.players for seconds in player.move_s]
    p50_ms, p99_ms = report.percentile_ms(moves_s, 0.5), report.percentile_ms(moves_s, 0.99)
    console.print(f"a move at the WebSocket: p50 {p50_ms:.1f} ms, p99 {p99_ms:.1f} ms ({len(moves_s)} cards)")
    console.print(f"memory at {TABLES} live tables: {report.memory_line(sizes)}")


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(main)
    app()
