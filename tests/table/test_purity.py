"""The domain takes time and chance as values: it imports neither, and no IO."""

import ast
from pathlib import Path

import pytest

import spades_table

FOLDER = Path(spades_table.__file__).parent
EDGE = {
    "__init__",
    "__main__",
    "answering",
    "app",
    "handlers",
    "judgement",
    "loading",
    "memory",
    "metrics",
    "reading",
    "settings",
    "store",
    "wire",
}
"""What stands between the domain and the worker; every other module is domain."""

DOMAIN = sorted(path for path in FOLDER.glob("*.py") if path.stem not in EDGE)
ALLOWED = {"collections", "functools", "msgspec", "spades_events", "spades_rules", "types", "typing"}


@pytest.mark.parametrize("path", DOMAIN, ids=lambda path: path.stem)
def test_a_domain_module_imports_no_time_no_chance_and_no_io(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        for name in names:
            package, _, module = name.partition(".")
            if package == "spades_table":
                assert module not in EDGE, name
            else:
                assert package in ALLOWED, name


def test_no_domain_module_waits() -> None:
    for path in DOMAIN:
        assert not any(
            isinstance(node, ast.AsyncFunctionDef | ast.Await) for node in ast.walk(ast.parse(path.read_text()))
        )
