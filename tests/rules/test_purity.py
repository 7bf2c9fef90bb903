"""The rules are pure: no clock, no chance, no JSON, no waiting, nothing from outside Python."""

import ast
import sys
import tomllib
from pathlib import Path

import pytest

import spades_rules

SOURCE = Path(spades_rules.__file__).parent
FILES = sorted(SOURCE.glob("*.py"))
PROJECT = SOURCE.parents[1] / "pyproject.toml"

FORBIDDEN = {
    *("time", "datetime", "random", "secrets", "uuid", "json", "pickle", "asyncio", "threading"),
    *("socket", "os", "io", "pathlib", "subprocess", "logging", "urllib", "http", "tempfile"),
}
FORBIDDEN_CALLS = {"open", "print", "input", "id", "hash", "exec", "eval"}
HASHING = {"deal.py", "deal_check.py"}


def imported(tree: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_module_reads_a_clock_chance_or_anything_outside(path):
    tree = ast.parse(path.read_text())
    names = imported(tree)
    assert not names & FORBIDDEN
    assert names <= {*sys.stdlib_module_names, "spades_rules"}
    if path.name not in HASHING:
        assert not names & {"hashlib", "hmac"}
    calls = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert not calls & FORBIDDEN_CALLS


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_module_works_with_fractions_of_a_point(path):
    """Floats are for judging hands; a score is made of whole numbers."""
    judging = ("judge", "worth", "sight")
    if path.stem.startswith(judging):
        return
    floats = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, float)
    ]
    assert not floats


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_says_in_its_first_line_what_it_is_and_stays_short(path):
    text = path.read_text()
    assert ast.get_docstring(ast.parse(text))
    assert len(text.splitlines()) <= 400


def test_the_rules_depend_on_nothing():
    project = tomllib.loads(PROJECT.read_text())["project"]
    assert project["dependencies"] == []
    assert project["requires-python"] == ">=3.11"


def test_everything_public_is_there_and_named_once():
    assert len(set(spades_rules.__all__)) == len(spades_rules.__all__)
    assert all(hasattr(spades_rules, name) for name in spades_rules.__all__)
