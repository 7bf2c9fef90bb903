"""The `spades` command. Results on standard output, progress on standard error; 0 well, 1 a fault, 2 wrong usage."""

import asyncio
import os
import re
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn, TypeVar

import msgspec
import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn

from spades_replay import show, sources
from spades_replay.faults import Fault, Illegal, NoSource
from spades_replay.verify import Totals, Verifier

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Read, replay and verify the record of games.")
replay_app = typer.Typer(no_args_is_help=True, help="Replay games from their public events.")
app.add_typer(replay_app, name="replay")

T = TypeVar("T")
EXIT_FAULT: Final = 1
EXIT_USAGE: Final = 2
_POSITION: Final = re.compile(r"hand=(\d{1,2})(?:,trick=(\d{1,2}))?")

Source = Annotated[
    str | None,
    typer.Option(
        envvar="SPADES_REPLAY_SOURCE",
        help="kafka://HOST:PORT or kafka://HOST:PORT/PREFIX, postgresql://…, a folder, a file or - (CloudEvents, or a "
        "game's events as the gateway gives them); else the Kafka that SPADES_KAFKA_BOOTSTRAP names, or that of the "
        "local stack.",
    ),
]


@replay_app.command()
def verify(
    source: Source = None,
    *,
    all_games: Annotated[bool, typer.Option("--all", help="Every game there is.")] = False,
    game: Annotated[str | None, typer.Option(help="Only this game.")] = None,
    keep_going: Annotated[bool, typer.Option(help="List every fault instead of stopping at the first.")] = False,
) -> None:
    """Replay every stream, deal every hand again, recompute scores and payouts; exit 1 at the first bad hand."""
    if all_games == (game is not None):
        _usage("say --all or --game ID")
    faults, totals = _run(_verified(_source(source), game, keep_going=keep_going))
    if game is not None and not totals.games and not faults:
        _usage("no such game here")
    for fault in faults:
        typer.echo(fault)
    typer.echo(
        f"{totals.games} games ({totals.finished} finished), {totals.hands} hands dealt again, "
        f"{totals.settled} of {totals.coin_games} coin games settled, {totals.accounts} accounts, "
        f"{totals.records} events: {f'{len(faults)} FAULTS' if faults else 'all in order'}"
    )
    if totals.unreadable:
        typer.echo(f"{totals.unreadable} games were cancelled because their deal could not be read: not checked")
    raise typer.Exit(EXIT_FAULT if faults else 0)


@replay_app.command(name="game")
def show_game(
    game_id: Annotated[str, typer.Argument(help="The game's id, which is its table's.")],
    source: Source = None,
    to: Annotated[str | None, typer.Option(help="hand=3 (its end) or hand=3,trick=7 (as trick 7 was taken).")] = None,
    as_seat: Annotated[int | None, typer.Option("--as", min=0, max=3, help="Only what this seat saw.")] = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="One line of JSON.")] = False,
) -> None:
    """Show a game as it stood at one moment, or as one seat saw it."""
    hand_no, trick_no = _position(to)
    moment = _run(_moment(_source(source), game_id, hand_no, trick_no))
    game = moment.game()
    if moment.last_play is None:
        values = show.as_values(game, as_seat)
    else:
        values = show.at_the_end(moment.last_play, game, as_seat)
    if hand_no is None and values["end_reason"] is None and moment.table.ended is not None:
        values["end_reason"] = moment.table.ended.reason
    typer.echo(show.as_json(values) if json else show.as_words(values))


async def _verified(source: str, game: str | None, *, keep_going: bool) -> tuple[list[Fault], Totals]:
    verifier = Verifier(has_all_games=game is None)
    faults: list[Fault] = []
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("reading")
        async for record in sources.read(source, game):
            fault = verifier.feed(record)
            if fault is not None:
                faults.append(fault)
                if not keep_going:
                    return faults, verifier.totals()
            if verifier.records % 1_000 == 0:
                progress.update(task, description=f"{verifier.records} events, {len(verifier.tables)} games")
    faults += verifier.finish()
    return faults, verifier.totals()


async def _moment(source: str, game_id: str, hand_no: int | None, trick_no: int | None) -> show.Moment:
    moment = show.Moment(game_id, hand_no=hand_no, trick_no=trick_no)
    async for record in sources.read(source, game_id):
        if record.topic == "table.events" and moment.feed(record):
            break
    moment.game()
    return moment


def _run(work: Coroutine[Any, Any, T]) -> T:
    try:
        return asyncio.run(work)
    except NoSource as error:
        _usage(str(error))
    except Illegal as error:
        typer.echo(str(error))
        raise typer.Exit(EXIT_FAULT) from error


def _source(given: str | None) -> str:
    if given:
        return given
    bootstrap = os.environ.get("SPADES_KAFKA_BOOTSTRAP") or _local_bootstrap()
    if not bootstrap:
        _usage("say --source, set SPADES_KAFKA_BOOTSTRAP, or start the local stack here")
    return f"kafka://{bootstrap}/{os.environ.get('SPADES_TOPIC_PREFIX', sources.DEFAULT_PREFIX)}"


def _local_bootstrap() -> str | None:
    """The Kafka of the stack that runs in this folder, if one does."""
    state = Path(os.environ.get("SPADES_STATE_DIR") or ".spades") / "state.json"
    try:
        bootstrap: str | None = msgspec.json.decode(state.read_bytes(), type=dict[str, Any]).get("bootstrap")
    except (OSError, msgspec.DecodeError):
        return None
    return bootstrap


def _position(text: str | None) -> tuple[int | None, int | None]:
    if text is None:
        return None, None
    found = _POSITION.fullmatch(text)
    if not found or not 1 <= int(found[1]) <= 64 or (found[2] and int(found[2]) > 13):
        _usage("--to takes hand=1…64 and trick=0…13: hand=3,trick=7")
    return int(found[1]), int(found[2]) if found[2] else None


def _usage(text: str) -> NoReturn:
    typer.echo(text, err=True)
    raise typer.Exit(EXIT_USAGE)


def main() -> None:
    """The entry point of `spades`."""
    app()


if __name__ == "__main__":
    main()
