"""The wallet's decisions know no clock, no chance, no outside, and no fraction of a coin."""

import ast
from pathlib import Path

import pytest

import spades_wallet

PURE = ("ledger", "settlement", "decision", "accounts", "domain")
ALLOWED = {
    "collections",
    "dataclasses",
    "enum",
    "hashlib",
    "types",
    "typing",
    "spades_events",
    *(f"spades_wallet.{name}" for name in PURE),
}


def tree_of(name: str) -> ast.Module:
    return ast.parse((Path(spades_wallet.__file__).parent / f"{name}.py").read_text())


@pytest.mark.parametrize("name", PURE)
def test_a_decision_imports_values_only(name: str) -> None:
    for node in ast.walk(tree_of(name)):
        match node:
            case ast.Import(names=names):
                modules = [alias.name for alias in names]
            case ast.ImportFrom(module=module):
                modules = [module or ""]
            case _:
                continue
        for found in modules:
            assert found in ALLOWED or found.partition(".")[0] in ALLOWED, found


@pytest.mark.parametrize("name", PURE)
def test_coins_are_whole_numbers(name: str) -> None:
    for node in ast.walk(tree_of(name)):
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float))
        assert not isinstance(node, ast.Div)
        assert not (isinstance(node, ast.Name) and node.id in {"float", "round", "Decimal"})
