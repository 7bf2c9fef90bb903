"""The operators' shell, where no server is needed."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from spades_lobby.admin import app
from spades_local.ports import any_free
from spades_runtime.operators import name_of


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
        assert (said.exit_code, "not reached" in said.output) == (2, True), arguments
