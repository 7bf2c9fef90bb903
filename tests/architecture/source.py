"""The members of the workspace and what their modules import, read without running them."""

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SERVICES = ("bot", "clock", "lobby", "table", "wallet")


@dataclass(frozen=True)
class Module:
    """One source file of a member."""

    path: Path
    name: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text(), str(self.path))

    @cached_property
    def imports(self) -> frozenset[str]:
        """Full names of all imported modules, wherever in the file the import stands."""
        return frozenset(self._imports())

    @property
    def roots(self) -> frozenset[str]:
        return frozenset(name.partition(".")[0] for name in self.imports)

    @cached_property
    def strings(self) -> frozenset[str]:
        """Every string in it."""
        constants = (node.value for node in ast.walk(self.tree) if isinstance(node, ast.Constant))
        return frozenset(value for value in constants if isinstance(value, str))

    def _imports(self) -> Iterator[str]:
        package = self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                parts = package.split(".")
                base = ".".join(parts[: len(parts) - node.level + 1]) if node.level else ""
                module = ".".join(part for part in (base, node.module) if part)
                yield module
                # `from package import module` imports that module too.
                yield from (f"{module}.{alias.name}" for alias in node.names)


@dataclass(frozen=True)
class Member:
    """One library, service or tool of the workspace."""

    folder: Path

    @property
    def package(self) -> str:
        return str(self.project["name"]).replace("-", "_")

    @cached_property
    def project(self) -> dict[str, object]:
        text = (self.folder / "pyproject.toml").read_text()
        project: dict[str, object] = tomllib.loads(text)["project"]
        return project

    @property
    def declared(self) -> frozenset[str]:
        """The distributions it says it needs, normalised, without versions and extras."""
        needs = self.project.get("dependencies", [])
        assert isinstance(needs, list)
        return frozenset(distribution(need) for need in needs)

    @cached_property
    def modules(self) -> tuple[Module, ...]:
        source = self.folder / "src"
        return tuple(
            Module(path, _module_name(path.relative_to(source)))
            for path in sorted((source / self.package).rglob("*.py"))
        )


def distribution(requirement: str) -> str:
    """The normalised name in a requirement such as `psycopg[binary]>=3`."""
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match, requirement
    return re.sub(r"[-_.]+", "-", match[0]).lower()


def members() -> tuple[Member, ...]:
    """Every member, libraries first."""
    found = [*ROOT.glob("libs/*/pyproject.toml"), *ROOT.glob("services/*/pyproject.toml")]
    return tuple(Member(path.parent) for path in [*sorted(found), ROOT / "deploy/local/pyproject.toml"])


def member(package: str) -> Member:
    """The member with this package."""
    return next(each for each in members() if each.package == package)


def _module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
