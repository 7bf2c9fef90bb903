"""A service's commands on the stack of this machine: they take what the service was given, all of it or nothing."""

import json
from pathlib import Path

import pytest

from spades_runtime import local_stack

URL = "SPADES_DATABASE_URL"


def given(folder: Path, text: str | None = None) -> dict[str, str]:
    stack = {"wallet": {URL: "postgresql://local", "SPADES_DATABASE_SCHEMA": "b_wallet"}}
    (folder / local_stack.GIVEN).write_text(json.dumps(stack) if text is None else text)
    return {"SPADES_STATE_DIR": str(folder)}


def test_without_an_address_the_local_stacks_is_taken(tmp_path: Path) -> None:
    environ = given(tmp_path)
    assert local_stack.adopt("wallet", URL, environ)
    assert (environ[URL], environ["SPADES_DATABASE_SCHEMA"]) == ("postgresql://local", "b_wallet")


def test_ones_own_address_keeps_the_local_stack_out_of_it(tmp_path: Path) -> None:
    environ = given(tmp_path) | {URL: "postgresql://own"}
    before = dict(environ)
    assert local_stack.adopt("wallet", URL, environ)
    assert environ == before


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "{}", '{"wallet": 3}', '{"wallet": {}}', '{"table": {}}'])
def test_where_no_stack_runs_nothing_is_found(tmp_path: Path, text: str) -> None:
    assert not local_stack.adopt("wallet", URL, given(tmp_path, text))
    assert not local_stack.adopt("wallet", URL, {"SPADES_STATE_DIR": str(tmp_path / "nowhere")})
