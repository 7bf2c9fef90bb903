"""The interface holds to its own document: whatever is sent, no 5xx, and every answer is one that it describes.

Requests are made up from the document, good ones and bad ones, always the same ones.
`SPADES_SCHEMA_EXAMPLES=200` makes more of each.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS
from sqlalchemy import text

from spades_lobby import openapi
from spades_local.testing import Namespace
from tests.lobby.conftest import House, house
from tests.lobby.judged_table import JudgedTable

pytestmark = [
    pytest.mark.real,
    pytest.mark.asyncio(loop_scope="module"),
    # Its own doing; the seed is fixed all the same.
    pytest.mark.filterwarnings("ignore:Do not use the `random` module"),
]

EXAMPLES = int(os.environ.get("SPADES_SCHEMA_EXAMPLES", "12"))
ANSWER_S = 30.0
PROMISES = [
    check
    for check in CHECKS.get_all()
    if check.__name__
    in {
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_schema_conformance",
        "response_headers_conformance",
    }
]
FREE = {
    f"lobby_rate_{what}": "1000000/minute"
    for what in (
        *("requests", "sessions", "accounts", "passwords", "recoveries", "tokens"),
        *("tables", "talk", "reports", "wrong_codes"),
    )
}
PASSWORD = PasswordHash((Argon2Hasher(),)).hash("correct horse")
DOCUMENT = openapi.document()
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
OPERATIONS = [
    (method.upper(), path)
    for path, operations in DOCUMENT["paths"].items()
    for method in operations
    if method in ("get", "post", "put", "patch", "delete")
]


@dataclass(frozen=True)
class Place:
    """A gateway with something in it."""

    lobby: House
    tables: tuple[str, ...]
    """One that seats, one that plays, one that has ended."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place(lobby_namespace: Namespace) -> AsyncIterator[Place]:
    async with house(lobby_namespace, table_of=JudgedTable, **FREE) as lobby, lobby.player() as host:
        await host.guest()
        tables = []
        for steps in range(3):
            table_id = await host.open_table()
            seat = f"/v1/tables/{table_id}/seats/0"
            asked = (
                ("PUT", seat),
                ("POST", f"/v1/tables/{table_id}/start"),
                ("DELETE", f"{seat}?confirm_price_coins=0"),
            )
            for method, path in asked[: steps + 1]:
                assert (await host.http.request(method, path)).status_code == 200
            tables.append(table_id)
        yield Place(lobby, tuple(tables))


async def account_at(lobby: House) -> str:
    """The token of a fresh account, whose password took its time only once."""
    async with lobby.player() as player:
        await player.guest()
        async with lobby.gateway.engine.begin() as db:
            await db.execute(
                text("UPDATE account SET password = :password, wallet_open = true WHERE account_id = :id"),
                {"id": player.account_id, "password": PASSWORD},
            )
        return player.token


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=lambda part: part)
async def test_an_operation_holds_to_the_document(place: Place, method: str, path: str) -> None:
    token = await account_at(place.lobby)
    cases = st.one_of(SCHEMA[path][method].as_strategy(generation_mode=mode) for mode in GenerationMode)

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases, table=st.sampled_from(("", *place.tables)))
    def holds(case: Case, table: str) -> None:
        if table and "table_id" in (case.path_parameters or {}):
            case.path_parameters["table_id"] = table
        case.headers["Authorization"] = f"Bearer {token}"
        response = case.call(base_url=place.lobby.address, timeout=ANSWER_S)
        case.validate_response(response, checks=PROMISES)

    await asyncio.to_thread(holds)
