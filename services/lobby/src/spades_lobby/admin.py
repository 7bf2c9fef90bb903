"""`python -m spades_lobby.admin`: what operators may do, from a shell on the machine.

It asks an admin port (`--at`, or SPADES_ADMIN_AT) with the operator's token in SPADES_OPERATOR_TOKEN, and
prints the answer. Exit 0 done, 1 refused, 2 not reached. `parked` and `redrive` are asked of a worker's
port: the table's, the wallet's, the clock's.
"""

import json
import os
import re
from typing import Annotated, Any, Final
from uuid import uuid4

import httpx
import typer

from spades_runtime.operators import new_operator

LIMIT_S: Final = 40.0
app = typer.Typer(no_args_is_help=True, add_completion=False, help="What operators may do.")

At = Annotated[str, typer.Option(envvar="SPADES_ADMIN_AT", help="The admin port's address, http://127.0.0.1:PORT.")]


@app.command()
def operator(name: str) -> None:
    """Make a token for a new operator: it is shown once; its line goes into SPADES_OPERATORS_FILE."""
    try:
        token, line = new_operator(name)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    typer.echo(f"token (keep it secret): {token}\nline for the file:      {line}")


@app.command()
def drain(at: At, *, end: Annotated[bool, typer.Option(help="Take people in again.")] = False) -> None:
    """Send this gateway's people to others."""
    _ask("DELETE" if end else "POST", at, "/admin/drain")


@app.command()
def game(
    at: At, table_id: str, *, after: Annotated[int | None, typer.Option(help="Its events behind this.")] = None
) -> None:
    """Show a game, or its public events."""
    of = f"/admin/games/{_segment(table_id)}"
    _ask("GET", at, of if after is None else f"{of}/events?after={after}")


@app.command()
def cancel(at: At, table_id: str, reason: str) -> None:
    """End a game; those who stayed get everything back."""
    _ask("POST", at, f"/admin/games/{_segment(table_id)}/cancel", {"reason": reason})


@app.command()
def grant(
    at: At,
    account_id: str,
    coins: int,
    reason: str,
    *,
    key: Annotated[str, typer.Option(help="The ticket's number: the same again grants nothing more.")] = "",
) -> None:
    """Give coins, with a reason that stands in the ledger."""
    key = key or uuid4().hex
    typer.echo(f"key {key}", err=True)
    _ask("POST", at, "/admin/grants", {"account_id": account_id, "amount_coins": coins, "reason": reason}, key)


@app.command()
def reports(at: At, *, about: str = "", cursor: str = "") -> None:
    """What players reported, the newest first."""
    asked = {name: value for name, value in (("about", about), ("cursor", cursor)) if value}
    _ask("GET", at, f"/admin/reports?{httpx.QueryParams(asked)}")


@app.command()
def parked(at: At, *, after: str = "") -> None:
    """What a worker has set aside."""
    _ask("GET", at, f"/admin/parked?{httpx.QueryParams({'after': after} if after else {})}")


@app.command()
def redrive(at: At, topic: str, partition: int, offset: int) -> None:
    """Have a worker judge again what it set aside."""
    _ask("POST", at, f"/admin/parked/{_segment(topic)}/{partition}/{offset}/redrive")


def _segment(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,80}", text):
        raise typer.BadParameter("that is no id")
    return text


def _ask(method: str, at: str, path: str, body: dict[str, Any] | None = None, key: str | None = None) -> None:
    headers = {"Authorization": f"Bearer {os.environ.get('SPADES_OPERATOR_TOKEN', '')}"}
    if key is not None:
        headers["Idempotency-Key"] = key
    try:
        answer = httpx.request(method, at.rstrip("/") + path, json=body, headers=headers, timeout=LIMIT_S)
    except httpx.HTTPError as error:
        typer.echo(f"not reached: {type(error).__name__}", err=True)
        raise typer.Exit(2) from None
    try:
        typer.echo(json.dumps(answer.json(), indent=2, ensure_ascii=False))
    except ValueError:
        typer.echo(answer.text.strip())
    raise typer.Exit(0 if answer.is_success else 1)


if __name__ == "__main__":
    app()
