"""Bad requests get clear problems, never a 500; good ones come with their headers of safety."""

import asyncio
import gzip
import json
from typing import Any

import httpx
import pytest

from spades_lobby import asyncapi
from tests.lobby.conftest import House

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]

DENIRO = {"name": "deniro", "options": {}}
TABLE = "00000000-0000-4000-8000-000000000000"

BAD_BODIES = {
    "empty": b"",
    "not JSON": b"hello",
    "truncated": b'{"guest":tr',
    "array": b"[]",
    "null": b"null",
    "deep": b"[" * 10_000,
    "deep field": b'{"guest":' + b"[" * 10_000,
    "NaN": b'{"guest":NaN}',
    "lone surrogate": b'{"guest":true,"name":"\\ud800x"}',
    "NUL name": b'{"guest":true,"name":"a\\u0000b"}',
    "not UTF-8": b'{"guest":true,"name":"\xff\xfe"}',
    "guest of text": b'{"guest":"true"}',
    "guest of 1": b'{"guest":1}',
    "name of a number": b'{"guest":true,"name":3}',
    "extra field": b'{"guest":true,"admin":true}',
    "__proto__": b'{"guest":true,"__proto__":{}}',
    "long number": b'{"guest":' + b"1" * 10_000 + b"}",
    "right to left": '{"guest":true,"name":"\u202eadA"}'.encode(),
    "SQL": b'{"guest":true,"name":"x\'; DROP TABLE account;--"}',
    "HTML": b'{"guest":true,"name":"<script>x</script>"}',
}


@pytest.mark.parametrize("what", BAD_BODIES)
async def test_a_bad_body_is_a_clear_problem(lobby: House, what: str) -> None:
    async with lobby.player() as player:
        answer = await player.http.post(
            "/v1/sessions", content=BAD_BODIES[what], headers={"Content-Type": "application/json"}
        )
        assert answer.status_code in (400, 422)
        check_problem(answer)


def check_problem(answer: httpx.Response) -> None:
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert {"type", "title", "status", "detail", "code", "message", "ref"} <= body.keys()
    assert body["status"] == answer.status_code
    assert answer.headers["x-request-id"] == body["ref"]
    for leak in ("Traceback", "SELECT", "spades_lobby", "psycopg", "/work", "table.commands"):
        assert leak not in answer.text


@pytest.mark.parametrize(
    "table",
    [
        {"stake_coins": -100},
        {"stake_coins": 1.5},
        {"stake_coins": 2**63},
        {"stake_coins": "100"},
        {"stake_coins": True},
        {"stake_coins": 10, "kind": "practice"},
        {"kind": "poker"},
        {"kind": 3},
        {"clock_ms": 0},
        {"clock_ms": 1e9},
        {"ruleset": "deniro"},
        {"ruleset": {"name": "deniro", "options": {"target": "500"}}},
        {"ruleset": {"name": "deniro", "options": [1]}},
        {"ruleset": {"name": ""}},
        {"ruleset": {"name": "deniro", "options": {"": 1}}},
        {"ruleset": {"name": "deniro", "options": {f"option_{number}": 1 for number in range(17)}}},
        {"bots_welcome": 1},
        {"ruleset": {"name": "whist"}},
    ],
    ids=repr,
)
async def test_a_table_out_of_range_is_refused_with_its_field(lobby: House, table: dict[str, Any]) -> None:
    async with lobby.player() as player:
        await player.guest()
        body = {"kind": "coins", "ruleset": DENIRO} | table
        answer = await player.http.post("/v1/tables", json=body, headers={"Idempotency-Key": "k"})
        assert answer.status_code == 422
        check_problem(answer)
        assert answer.json()["field"]


@pytest.mark.parametrize(
    "path",
    [
        "/v1/tables/1",
        "/v1/tables/..%2f..%2fetc%2fpasswd",
        "/v1/tables/%00",
        f"/v1/tables/{TABLE}%00",
        f"/v1/tables/{TABLE}%0a",
        f"/v1/tables/{TABLE}",
        f"/v1/games/{TABLE}",
        f"/v1/games/{TABLE}/events",
        f"/v1/games/{TABLE}/hands/1/proof",
        "/v1/nothing",
        "/../settings.py",
        "/package.json",
        "/node_modules/preact/package.json",
        "/.git/config",
        "/app/%2e%2e/%2e%2e/pyproject.toml",
    ],
)
async def test_what_is_not_there_and_what_is_not_yours_is_the_same_404(lobby: House, path: str) -> None:
    async with lobby.player() as player:
        await player.guest()
        answer = await player.http.get(path)
        assert answer.status_code == 404, answer.text
        check_problem(answer)
        assert answer.json()["code"] == "not_found"


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=-1",
        "limit=1000000000",
        "limit=x",
        "cursor=x",
        "cursor=%00",
        "cursor=AAAA",
        "cursor=" + "A" * 500,
        "cursor=WyIxOTcwLTAxLTAxVDAwOjAwOjAwIiwieCJd",
        "kind=poker",
    ],
)
async def test_a_page_out_of_bounds_is_refused(lobby: House, query: str) -> None:
    async with lobby.player() as player:
        await player.guest()
        answer = await player.http.get(f"/v1/tables?{query}")
        assert answer.status_code in (400, 422)
        check_problem(answer)


async def test_a_body_is_bounded_typed_and_plain(lobby: House) -> None:
    async with lobby.player() as player:
        long = await player.http.post("/v1/sessions", json={"guest": True, "name": "x" * 100_000})
        assert (long.status_code, long.json()["code"]) == (413, "too_large")

        async def endless() -> Any:
            for _ in range(1_000):
                yield b" " * 1_000

        chunks = await player.http.post("/v1/sessions", content=endless(), headers={"Content-Type": "application/json"})
        assert (chunks.status_code, chunks.json()["code"]) == (413, "too_large")
        form = await player.http.post("/v1/sessions", data={"guest": "true"})
        assert (form.status_code, form.json()["code"]) == (415, "json_only")
        bomb = await player.http.post(
            "/v1/sessions",
            content=gzip.compress(b" " * 10_000_000),
            headers={"Content-Type": "application/json", "Content-Encoding": "gzip"},
        )
        assert (bomb.status_code, bomb.json()["code"]) == (415, "not_encoded")


async def test_a_header_of_64_kib_is_refused(lobby: House) -> None:
    host, port = lobby.address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET /v1/me HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 65_536 + b"\r\n\r\n")
    assert (await reader.readline()).split()[1] in (b"400", b"431")
    writer.close()


async def test_an_upgrade_that_is_none_is_refused(lobby: House) -> None:
    host, port = lobby.address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET /v1/ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n")
    assert (await reader.readline()).split()[1] in (b"400", b"426")
    writer.close()


@pytest.mark.parametrize("token", ["x", "A" * 43, "é", "A" * 5_000])
async def test_a_token_that_is_none_is_nobodys(lobby: House, token: str) -> None:
    async with lobby.player() as player:
        answer = await player.http.get("/v1/me", headers={"Authorization": f"Bearer {token}".encode()})
        assert (answer.status_code, answer.json()["code"]) == (401, "not_signed_in")
        check_problem(answer)


async def test_a_strange_page_may_not_send_requests(lobby: House) -> None:
    async with lobby.player() as player:
        for origin, status in ((lobby.address, 201), ("null", 403), ("http://evil.example", 403)):
            answer = await player.http.post("/v1/sessions", json={"guest": True}, headers={"Origin": origin})
            assert answer.status_code == status


async def test_a_method_that_is_not_there_is_said_to_be_none(lobby: House) -> None:
    async with lobby.player() as player:
        answer = await player.http.put("/v1/sessions", json={})
        assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")


async def test_answers_are_not_stored_and_not_guessed(lobby: House) -> None:
    async with lobby.player() as player:
        answer = await player.http.get("/v1/rulesets")
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert "server" not in answer.headers


async def test_the_interface_describes_itself(lobby: House) -> None:
    async with lobby.player() as player:
        document = (await player.http.get("/v1/openapi.json")).json()
        assert document["openapi"].startswith("3.1")
        for path in ("/v1/sessions", "/v1/tables", "/v1/tables/{table_id}/seats/{seat}", "/v1/ws-tickets"):
            assert path in document["paths"]
        opening = document["paths"]["/v1/tables"]["post"]
        [key] = [one for one in opening["parameters"] if one["name"] == "Idempotency-Key"]
        assert key["required"]
        assert opening["security"] == [{"token": []}, {"session": []}]
        assert set(document["components"]["securitySchemes"]) == {"token", "session"}
        assert "security" not in document["paths"]["/v1/rulesets"]["get"]
        frames = (await player.http.get("/v1/asyncapi.json")).json()
        assert frames == json.loads(asyncapi.FILE.read_text("utf-8"))
        refused = opening["responses"]["4XX"]
        assert list(refused["content"]) == ["application/problem+json"]


async def test_the_public_port_says_whether_it_is_ready(lobby: House) -> None:
    async with lobby.player() as player:
        assert (await player.http.get("/healthz")).status_code == 200
        assert (await player.http.get("/readyz")).status_code == 200
        assert (await player.http.get("/metrics")).status_code == 404
