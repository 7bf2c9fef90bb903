"""The page's files: types, tags, policy; nothing of its workshop."""

import base64
import hashlib
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from spades_lobby.problems import Problem, response
from spades_lobby.rest.guard import App
from spades_lobby.rest.web import Page, policy

IMPORT_MAP = '{"imports":{"preact":"/vendor/preact.mjs"}}'
INDEX = (
    f'<!doctype html><script type="importmap">{IMPORT_MAP}</script><script type="module" src="/app/main.js"></script>'
)


@pytest.fixture
def page(tmp_path: Path) -> App:
    for name, text in {
        "index.html": INDEX,
        "app/main.js": "export {}",
        "vendor/preact.mjs": "export {}",
        "icon.svg": "<svg/>",
        "package.json": "{}",
        "tests/a.mjs": "secret",
        "node_modules/x/index.js": "secret",
        ".hidden/x.js": "secret",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    async def on_problem(_: object, problem: Exception) -> object:
        assert isinstance(problem, Problem)
        return response(problem, "ref")

    return Starlette(routes=[Mount("/", Page(tmp_path))], exception_handlers={Problem: on_problem})  # type: ignore[dict-item]


async def get(page: App, path: str, **headers: str) -> httpx.Response:
    transport = httpx.ASGITransport(app=page)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        return await client.get(path, headers=headers)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/app/main.js", "text/javascript; charset=utf-8"),
        ("/vendor/preact.mjs", "text/javascript; charset=utf-8"),
        ("/icon.svg", "image/svg+xml"),
    ],
)
async def test_each_file_has_its_type_and_tag_and_is_asked_for_anew(page: App, path: str, kind: str) -> None:
    answer = await get(page, path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
    assert answer.headers["cache-control"] == "no-cache"
    again = await get(page, path, **{"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize(
    "path", ["/package.json", "/tests/a.mjs", "/node_modules/x/index.js", "/.hidden/x.js", "/none.js", "/app"]
)
async def test_the_workshop_is_not_served(page: App, path: str) -> None:
    answer = await get(page, path)
    assert answer.status_code in (404, 307)
    assert "secret" not in answer.text


async def test_the_policy_allows_our_own_files_and_the_import_map_as_it_is(page: App) -> None:
    given = (await get(page, "/")).headers["content-security-policy"]
    digest = base64.b64encode(hashlib.sha256(IMPORT_MAP.encode()).digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}'" in given
    assert "unsafe" not in given
    assert given.startswith("default-src 'none'")


def test_a_script_from_a_file_needs_no_hash() -> None:
    assert "sha256" not in policy('<script type="module" src="/app/main.js"></script>')
