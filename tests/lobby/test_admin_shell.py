"""The operators' shell, where no server is needed."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spades_lobby.admin import app
from spades_local.credentials import ensure_operator
from spades_local.places import Places
from spades_local.ports import any_free
from spades_local.record import Record, Running, save
from spades_runtime.operators import name_of


class AdminPort:
    """An admin port that notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self.answers = 200
        noted = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                noted.asked.append((self.command, self.path, self.headers["Authorization"].removeprefix("Bearer ")))
                self.send_response(noted.answers)
                self.end_headers()
                self.wfile.write(b"{}")

            do_GET = do_POST  # noqa: N815 - the server asks for this name

            def log_message(self, *_: object) -> None:
                """Nothing on the terminal."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.number = self.server.server_address[1]


@pytest.fixture
def port() -> Iterator[AdminPort]:
    made = AdminPort()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def test_a_new_operators_line_lets_their_token_in(tmp_path: Path) -> None:
    said = CliRunner().invoke(app, ["operator", "ada"])
    assert said.exit_code == 0
    first, second = said.output.splitlines()
    token, line = first.rpartition(" ")[2], second.partition(":")[2].strip()
    file = tmp_path / "operators"
    file.write_text(line)
    assert name_of(file, token) == "ada"


@pytest.mark.parametrize(
    "arguments",
    [
        ["operator", "Ada L"],
        ["cancel", "../wallet", "why"],
        ["game", "a/b"],
        ["redrive", "table.commands/1", "0", "0"],
        ["redrive", "table.commands", "0", "x"],
        ["grant", "ada", "many", "why"],
    ],
    ids=repr,
)
def test_what_cannot_be_asked_is_a_wrong_usage(arguments: list[str]) -> None:
    said = CliRunner().invoke(app, arguments, env={"SPADES_ADMIN_AT": "http://127.0.0.1:1"})
    assert said.exit_code == 2
    assert "not reached" not in said.output


def test_a_port_where_nobody_answers_is_said() -> None:
    at = f"http://127.0.0.1:{any_free()}"
    asked = (["drain"], ["game", "t"], ["cancel", "t", "why"], ["grant", "a", "5", "why"], ["reports"], ["parked"])
    for arguments in asked:
        said = CliRunner().invoke(app, arguments, env={"SPADES_ADMIN_AT": at, "SPADES_OPERATOR_TOKEN": "x"})
        assert (said.exit_code, f"not reached: no answer from {at}" in said.output) == (2, True), arguments


def test_what_is_missing_is_said_with_the_way_to_get_it(tmp_path: Path) -> None:
    nowhere = {"SPADES_STATE_DIR": str(tmp_path), "SPADES_OPERATOR_TOKEN": "", "SPADES_ADMIN_AT": ""}
    said = CliRunner().invoke(app, ["drain"], env=nowhere)
    assert (said.exit_code, "--at http://127.0.0.1:PORT" in said.output) == (2, True)
    said = CliRunner().invoke(app, ["drain"], env=nowhere | {"SPADES_ADMIN_AT": "http://127.0.0.1:1"})
    assert (said.exit_code, "SPADES_OPERATOR_TOKEN" in said.output) == (2, True)
    said = CliRunner().invoke(app, ["drain", "--at", "http://:x"], env=nowhere | {"SPADES_OPERATOR_TOKEN": "x"})
    assert (said.exit_code, "is no address" in said.output) == (2, True)


def test_beside_the_local_stack_port_and_token_are_found(tmp_path: Path, port: "AdminPort") -> None:
    ports = {"lobby": port.number, "table": port.number}
    children = {name: Running(pid=1, started_s=0, argv=[], port=number) for name, number in ports.items()}
    places = Places(state=tmp_path, cache=tmp_path)
    save(places.record, Record(children=children))
    ensure_operator(places.operators, places.operator_token)
    env = {"SPADES_STATE_DIR": str(tmp_path), "SPADES_OPERATOR_TOKEN": "", "SPADES_ADMIN_AT": ""}
    said = CliRunner().invoke(app, ["drain"], env=env)
    assert said.exit_code == 0, said.output
    method, path, token = port.asked[-1]
    assert (method, path) == ("POST", "/admin/drain")
    assert name_of(places.operators, token) is not None
    # Where nothing is set aside, and what a worker does not know.
    port.answers = 404
    said = CliRunner().invoke(app, ["parked"], env=env)
    assert (said.exit_code, "--of" in said.output) == (1, True)
    assert [path for _, path, _ in port.asked][-1].startswith("/admin/parked")
    said = CliRunner().invoke(app, ["parked", "--of", "clock"], env=env)
    assert (said.exit_code, "no admin port" in said.output) == (2, True)
