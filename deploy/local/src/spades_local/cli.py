"""`spades-local`: up, infra, stop, reset, status."""

import asyncio
import contextlib
import os
import shutil
import sys
import zlib
from collections.abc import Coroutine, Iterator
from functools import partial
from typing import Annotated, Any

import typer

from spades_local import postgres, probing, record, stack
from spades_local.environment import SERVICES
from spades_local.places import Places, find_places
from spades_local.problems import Problem
from spades_local.record import Record
from spades_local.supervisor import Supervisor

NAME_WIDTH = 8
NOT_READY = 3
LEFT_ALONE = "whoever supervised these is gone: `make stop` ends them, `make play` starts anew"
COLOURS = ("cyan", "green", "yellow", "blue", "magenta", "bright_cyan", "bright_green")

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Runs the whole system on one machine.",
)


@app.command()
def up() -> None:
    """Start everything and supervise it until Ctrl-C."""
    places = find_places()
    _run(stack.run(places, tell, partial(stack.begin_all, places, tell)))


@app.command()
def infra(
    until_stdin_closes: Annotated[
        bool, typer.Option(help="Stop when standard input closes, as when the parent dies.")
    ] = False,
) -> None:
    """Start only PostgreSQL and Kafka; their addresses are in env.sh in the state folder."""
    places = find_places()
    _run(_infra(places, until_stdin_closes=until_stdin_closes))


@app.command()
def stop() -> None:
    """Stop what runs and what a crash left."""
    if not stack.stop(find_places(), tell):
        tell("stack", "nothing runs here")


@app.command()
def reset() -> None:
    """Stop, then wipe both stores together."""
    places = find_places()
    stack.stop(places, tell)
    if not places.state.exists():
        tell("stack", "there is nothing to wipe")
        return

    with _told(), record.only_one(places):
        # First what may fail: games without the key that seals them could not go on.
        asyncio.run(stack.wipe_given())
        for folder in (postgres.data_folder(places), places.kafka, places.logs):
            shutil.rmtree(folder, ignore_errors=True)
        made = (places.secrets, places.seal_key, places.operators, places.operator_token)
        for file in (*made, places.record, places.env, places.given):
            file.unlink(missing_ok=True)
    tell("stack", "every game and coin is gone")


@app.command()
def status() -> None:
    """Say what runs, where, since when. Exit code 3 if the stack is not ready."""
    places = find_places()
    known = record.load(places.record)
    if not record.is_held(places):
        left = record.left_running(known)
        for name in left:
            tell(name, f"runs, process {known.children[name].pid}")
        tell("stack", LEFT_ALONE if left else "nothing runs here")
        raise typer.Exit(NOT_READY)
    unready = asyncio.run(_unready(known))
    for name, running in known.children.items():
        alive = "runs" if record.still_runs(running) else "is down"
        against = f"; not ready: {unready[name]}" if name in unready else ""
        tell(name, f"{alive}, process {running.pid}, port {running.port}, {running.restarts} restarts{against}")
    if not known.ready or unready:
        tell("stack", f"not ready {known.address or 'yet'}")
        raise typer.Exit(NOT_READY)
    tell("stack", f"ready {known.address or ''}")


async def _unready(known: Record) -> dict[str, str]:
    """What each service that does not serve now says against it."""
    asked = {name: running.port for name, running in known.children.items() if name in SERVICES and running.port}
    answers = await asyncio.gather(*(probing.why_unready(port) for port in asked.values()))
    return {name: why for name, why in zip(asked, answers, strict=True) if why is not None}


def tell(name: str, text: str) -> None:
    """One prefixed line; colours only where a person looks."""
    colour = COLOURS[zlib.crc32(name.encode()) % len(COLOURS)]
    prefix = typer.style(f"{name:>{NAME_WIDTH}} |", fg=colour)
    # The terminal may be gone already; that is no reason not to drain.
    with contextlib.suppress(OSError):
        typer.echo(f"{prefix} {text}")


def main() -> None:
    """The command's entry."""
    app()


async def _infra(places: Places, *, until_stdin_closes: bool) -> None:
    until = asyncio.Event()
    if until_stdin_closes:
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), partial(_at_end, until))

    async def begin(supervisor: Supervisor, known: Record) -> None:
        here = await stack.begin_servers(places, tell, supervisor, known)
        tell("stack", f"ready: Kafka at {here.bootstrap}; `source {places.env}` to use both")

    await stack.run(places, tell, begin, until)


def _at_end(until: asyncio.Event) -> None:
    if not os.read(sys.stdin.fileno(), 4096):
        until.set()
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())


def _run(work: Coroutine[Any, Any, None]) -> None:
    with _told():
        asyncio.run(work)


@contextlib.contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except Problem as problem:
        typer.secho(str(problem), fg="red", err=True)
        raise typer.Exit(1) from None
