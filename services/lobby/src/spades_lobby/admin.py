"""`python -m spades_lobby.admin`: what operators may do, from a shell on the machine.

It asks an admin port with an operator's token and prints the answer: exit 0 done, 1 refused, 2 not reached. Beside
the local stack it finds both by itself, in the stack's folder; elsewhere they are `--at` (or SPADES_ADMIN_AT) and
SPADES_OPERATOR_TOKEN. `parked` and `redrive` are asked of a worker: `--of table`, `wallet` or `clock`.
"""

import json
import os
import re
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NoReturn
from uuid import uuid4

import httpx
import typer

from spades_runtime.operators import new_operator

LIMIT_S: Final = 40.0
ABOUT: Final = (
    "What operators may do, at an admin port, with an operator's token in SPADES_OPERATOR_TOKEN. "
    "Where the local stack runs here, or in SPADES_STATE_DIR, both are found by themselves."
)
_NOBODY: Final = (
    "no operator's token: set SPADES_OPERATOR_TOKEN. `python -m spades_lobby.admin operator NAME` makes one, "
    "and the line for the services' SPADES_OPERATORS_FILE that lets it in; the local stack makes both by itself."
)
_NO_ADDRESS: Final = (
    "no admin port: say --at http://127.0.0.1:PORT (or SPADES_ADMIN_AT). Beside the local stack it is found "
    "by itself, if the stack runs (`make status`) and this is its folder (or SPADES_STATE_DIR names it)."
)
_HINTS: Final = {
    "not_an_operator": "This port's SPADES_OPERATORS_FILE has no line for this token.",
    "no_operators": "This process has no SPADES_OPERATORS_FILE, so nobody may.",
}
app = typer.Typer(no_args_is_help=True, add_completion=False, help=ABOUT)

At = Annotated[
    str | None,
    typer.Option(envvar="SPADES_ADMIN_AT", help="The admin port's address, http://127.0.0.1:PORT."),
]
Worker = Literal["table", "wallet", "clock"]
Of = Annotated[Worker, typer.Option(help="The worker of the local stack, where no address is said.")]


@app.command()
def operator(name: str) -> None:
    """Make a token for a new operator: it is shown once; its line goes into SPADES_OPERATORS_FILE."""
    try:
        token, line = new_operator(name)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    typer.echo(f"token (keep it secret): {token}\nline for the file:      {line}")


@app.command()
def drain(*, at: At = None, end: Annotated[bool, typer.Option(help="Take people in again.")] = False) -> None:
    """Send this gateway's people to others."""
    _ask("DELETE" if end else "POST", at, "/admin/drain")


@app.command()
def game(
    table_id: str, *, at: At = None, after: Annotated[int | None, typer.Option(help="Its events behind this.")] = None
) -> None:
    """Show a game, or its public events."""
    of = f"/admin/games/{_segment(table_id)}"
    _ask("GET", at, of if after is None else f"{of}/events?after={after}")


@app.command()
def cancel(table_id: str, reason: str, *, at: At = None) -> None:
    """End a game; those who stayed get everything back."""
    _ask("POST", at, f"/admin/games/{_segment(table_id)}/cancel", {"reason": reason})


@app.command()
def grant(
    account_id: str,
    coins: int,
    reason: str,
    *,
    at: At = None,
    key: Annotated[str, typer.Option(help="The ticket's number: the same again grants nothing more.")] = "",
) -> None:
    """Give coins to an account id, with a reason that stands in the ledger."""
    key = key or uuid4().hex
    typer.echo(f"key {key}", err=True)
    _ask("POST", at, "/admin/grants", {"account_id": account_id, "amount_coins": coins, "reason": reason}, key)


@app.command()
def reports(*, at: At = None, about: str = "", cursor: str = "") -> None:
    """What players reported, the newest first."""
    asked = {name: value for name, value in (("about", about), ("cursor", cursor)) if value}
    _ask("GET", at, f"/admin/reports?{httpx.QueryParams(asked)}")


@app.command()
def parked(*, at: At = None, of: Of = "table", after: str = "") -> None:
    """What a worker has set aside."""
    _ask("GET", at, f"/admin/parked?{httpx.QueryParams({'after': after} if after else {})}", of=of)


@app.command()
def redrive(topic: str, partition: int, offset: int, *, at: At = None, of: Of = "table") -> None:
    """Have a worker judge again what it set aside."""
    _ask("POST", at, f"/admin/parked/{_segment(topic)}/{partition}/{offset}/redrive", of=of)


def _segment(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,80}", text):
        raise typer.BadParameter("that is no id")
    return text


def _ask(
    method: str,
    at: str | None,
    path: str,
    body: dict[str, Any] | None = None,
    key: str | None = None,
    of: str = "lobby",
) -> NoReturn:
    at = (at or _local_address(of) or _not_reached(_NO_ADDRESS)).rstrip("/")
    token = os.environ.get("SPADES_OPERATOR_TOKEN") or _local_token() or _not_reached(_NOBODY)
    headers = {"Authorization": f"Bearer {token}"}
    if key is not None:
        headers["Idempotency-Key"] = key
    try:
        answer = httpx.request(method, at + path, json=body, headers=headers, timeout=LIMIT_S)
    except httpx.InvalidURL:
        _not_reached(f"{at} is no address; an admin port's is http://127.0.0.1:PORT.")
    except httpx.HTTPError as error:
        _not_reached(f"no answer from {at} ({type(error).__name__}); `make status` names the local stack's ports.")
    try:
        said = answer.json()
        typer.echo(json.dumps(said, indent=2, ensure_ascii=False))
    except ValueError:
        said = None
        typer.echo(answer.text.strip())
    if not answer.is_success:
        _hint(path, answer.status_code, said.get("code") if isinstance(said, dict) else None)
    raise typer.Exit(0 if answer.is_success else 1)


def _hint(path: str, status: int, code: str | None) -> None:
    if code in _HINTS:
        typer.echo(_HINTS[code], err=True)
    elif status == 404 and path.startswith("/admin/parked?"):
        typer.echo(
            "This port sets nothing aside: ask the table's, the wallet's or the clock's (--of, or --at).", err=True
        )
    elif status == 404 and code is None:
        typer.echo("This port has no such thing: is it the lobby's?", err=True)


def _not_reached(why: str) -> NoReturn:
    typer.echo(f"not reached: {why}", err=True)
    raise typer.Exit(2)


def _local_folder() -> Path:
    return Path(os.environ.get("SPADES_STATE_DIR") or ".spades")


def _local_address(service: str) -> str | None:
    """The admin port of this service of the stack that runs here, if one does."""
    try:
        port = json.loads((_local_folder() / "state.json").read_text("utf-8"))["children"][service]["port"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return f"http://127.0.0.1:{port}"


def _local_token() -> str | None:
    """The token that the local stack made for who runs it."""
    try:
        return (_local_folder() / "operator-token").read_text("utf-8").strip()
    except (OSError, ValueError):
        return None


if __name__ == "__main__":
    app()
