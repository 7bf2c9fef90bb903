"""Who may know of whom: the arrows of the design, enforced."""

import ast
import sys
from importlib.metadata import packages_distributions

import pytest

from tests.architecture.source import SERVICES, Member, Module, distribution, member, members

SERVICE_PACKAGES = frozenset(f"spades_{service}" for service in SERVICES)
EVERYTHING = pytest.mark.parametrize("each", members(), ids=lambda each: each.package)

LOBBY_LAYERS = ("people", "games", "live", "tables", "socket", "rest", "operators", "app")

# The rules run in a replay, a bot and a test alike: nothing that reads a clock, a disk or a dice.
RULES_MAY_IMPORT = frozenset(
    {
        "__future__",
        "abc",
        "bisect",
        "collections",
        "dataclasses",
        "enum",
        "functools",
        "hashlib",
        "hmac",
        "itertools",
        "math",
        "operator",
        "re",
        "types",
        "typing",
    }
)

# What a decision may not come from: it must be the same at every replay.
NOT_IN_A_DOMAIN = frozenset(
    {
        *("time", "datetime", "random", "secrets", "os", "platform"),
        *("asyncio", "threading", "multiprocessing", "concurrent", "subprocess", "socket"),
        *("io", "pathlib", "shutil", "tempfile", "logging", "sys", "json"),
        *("aiokafka", "faststream", "psycopg", "sqlalchemy", "alembic", "httpx", "starlette"),
        *("fastapi", "uvicorn", "structlog", "prometheus_client", "opentelemetry"),
        *("cryptography", "uuid_utils", "spades_runtime"),
    }
)


def test_the_rules_import_nothing_but_a_few_modules_of_python() -> None:
    found = {
        (module.name, root)
        for module in member("spades_rules").modules
        for root in module.roots - RULES_MAY_IMPORT - {"spades_rules"}
    }
    assert found == set()


def test_the_rules_need_no_package() -> None:
    assert member("spades_rules").declared == set()


def test_the_runtime_knows_no_card_no_contract_and_no_service() -> None:
    ours = {"spades_rules", "spades_events", "spades_replay", "spades_client", "spades_local", *SERVICE_PACKAGES}
    assert _imported(member("spades_runtime"), ours) == set()


def test_the_contracts_know_only_the_rules() -> None:
    ours = {"spades_runtime", "spades_replay", "spades_client", "spades_local", *SERVICE_PACKAGES}
    assert _imported(member("spades_events"), ours) == set()


def test_the_replay_knows_no_service() -> None:
    ours = {"spades_runtime", "spades_client", "spades_local", *SERVICE_PACKAGES}
    assert _imported(member("spades_replay"), ours) == set()


def test_the_client_knows_the_rules_and_nothing_from_behind_the_public_interface() -> None:
    ours = {"spades_events", "spades_runtime", "spades_replay", "spades_local", *SERVICE_PACKAGES}
    assert _imported(member("spades_client"), ours) == set()


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_knows_no_other_service(service: str) -> None:
    others = (SERVICE_PACKAGES - {f"spades_{service}"}) | {"spades_local", "spades_replay", "spades_client"}
    assert _imported(member(f"spades_{service}"), others) == set()


def test_the_parts_of_the_gateway_know_only_those_below_them() -> None:
    def layer(name: str) -> int | None:
        part = next(iter(name.removeprefix("spades_lobby.").split(".")))
        return LOBBY_LAYERS.index(part) if name.startswith("spades_lobby.") and part in LOBBY_LAYERS else None

    upward = {
        (module.name, name)
        for module in member("spades_lobby").modules
        for name in module.imports
        if (below := layer(module.name)) is not None and (above := layer(name)) is not None and below < above
    }
    assert upward == set()


@pytest.mark.parametrize("service", ["clock", "wallet"])
def test_neither_clock_nor_wallet_knows_the_game(service: str) -> None:
    assert _imported(member(f"spades_{service}"), {"spades_rules"}) == set()


def test_the_supervisor_knows_the_services_only_by_their_names() -> None:
    assert _imported(member("spades_local"), SERVICE_PACKAGES) == set()


@pytest.mark.parametrize("service", SERVICES)
def test_a_domain_reads_no_clock_no_dice_and_does_no_io(service: str) -> None:
    found = {
        (module.name, root)
        for module in _domain(member(f"spades_{service}"))
        for root in module.roots & NOT_IN_A_DOMAIN
    }
    assert found == set()


@pytest.mark.parametrize("service", SERVICES)
def test_a_domain_derives_its_ids_and_draws_none(service: str) -> None:
    # uuid5 is a hash of names; all else in that module is a clock, a network card or a dice.
    pure = {"uuid.UUID", "uuid.uuid5"}
    found = {
        (module.name, name)
        for module in _domain(member(f"spades_{service}"))
        for name in module.imports
        if name.startswith("uuid.") and not name.startswith("uuid.NAMESPACE_") and name not in pure
    }
    plainly = {
        module.name
        for module in _domain(member(f"spades_{service}"))
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Import) and any(alias.name == "uuid" for alias in node.names)
    }
    assert (found, plainly) == (set(), set())


@pytest.mark.parametrize("service", SERVICES)
def test_a_domain_waits_for_nothing_and_opens_nothing(service: str) -> None:
    found = {
        (module.name, node.lineno, type(node).__name__)
        for module in _domain(member(f"spades_{service}"))
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Await | ast.AsyncFunctionDef | ast.AsyncFor | ast.AsyncWith)
        or (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in {"open", "print", "input", "exec", "eval"}
        )
    }
    assert found == set()


@EVERYTHING
def test_a_member_declares_every_package_it_imports(each: Member) -> None:
    provided_by = packages_distributions()
    imported = {root for module in each.modules for root in module.roots - sys.stdlib_module_names - {each.package}}
    missing = {
        root for root in imported if not {distribution(name) for name in provided_by.get(root, [root])} & each.declared
    }
    assert missing == set(), f"add to {each.folder.name}/pyproject.toml"


@EVERYTHING
def test_a_member_declares_no_member_it_does_not_import(each: Member) -> None:
    imported = {root for module in each.modules for root in module.roots}
    ours = {name for name in each.declared if name.startswith("spades-")}
    unused = {name for name in ours if name.replace("-", "_") not in imported}
    assert not each.modules or unused == set()


@EVERYTHING
def test_a_member_declares_no_package_it_does_not_use(each: Member) -> None:
    provides: dict[str, set[str]] = {}
    for root, names in packages_distributions().items():
        for name in names:
            provides.setdefault(distribution(name), set()).add(root)
    # Some are asked for by name: a program in a wheel, a server's module for a protocol.
    parts = {part for module in each.modules for name in module.imports for part in name.split(".")}
    used = parts | {text for module in each.modules for text in module.strings}
    unused = {name for name in each.declared if not name.startswith("spades-") and not provides[name] & used}
    assert not each.modules or unused == set(), f"take out of {each.folder.name}/pyproject.toml"


def _imported(each: Member, forbidden: frozenset[str] | set[str]) -> set[tuple[str, str]]:
    return {(module.name, root) for module in each.modules for root in module.roots & set(forbidden)}


def _domain(service: Member) -> tuple[Module, ...]:
    """domain.py and whatever of the same service it imports, directly or not."""
    by_name = {module.name: module for module in service.modules}
    waiting = [f"{service.package}.domain"]
    seen: dict[str, Module] = {}
    while waiting:
        name = waiting.pop()
        if name in by_name and name not in seen:
            seen[name] = by_name[name]
            waiting += by_name[name].imports
    return tuple(seen.values())
