"""A page, a browser and a gateway in memory behind it, for the tests of the web client."""

import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.web.fake_gateway import WEB, FakeGateway
from tests.web.fake_table import FakeTable, Pace

T = TypeVar("T")
ROOT = WEB.parents[2]
WAIT_MS = 20_000
expect.set_options(timeout=WAIT_MS)

# Without these Chromium asks for hosts of its own, which a closed network refuses many times over.
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def node() -> str:
    """The Node.js of the machine, or the one that the virtual environment brings."""
    found = shutil.which("node") or shutil.which("node", path=str(ROOT / ".venv" / "bin"))
    if found is None:
        pytest.skip("there is no Node.js")
    return found


@pytest.fixture(scope="session")
def web() -> Path:
    """The page's folder, set up."""
    ran = subprocess.run([node(), str(WEB / "setup.mjs")], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return WEB


# One a file: while it runs, its event loop keeps other tests of this thread from running theirs.
@pytest.fixture(scope="module")
def browser(web: Path) -> Iterator[Browser]:
    chromium = os.environ.get("SPADES_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        yield launched
        launched.close()


class RunningGateway:
    """A gateway in a thread of its own; `run` reaches into its loop."""

    def __init__(self) -> None:
        self.fake = FakeGateway(Pace(bot_ms=15))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        config = uvicorn.Config(
            self.fake.app(),
            host="127.0.0.1",
            port=self.port,
            log_level="error",
            ws="websockets-sansio",
            timeout_graceful_shutdown=1,
        )
        self.server = uvicorn.Server(config)
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self.server.serve())

    def start(self) -> None:
        self.thread.start()
        while not self.server.started:
            assert self.thread.is_alive(), "the gateway did not start"
            self.thread.join(0.01)

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(WAIT_MS / 1000)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run a coroutine in the gateway's own loop and return its result."""

        async def call() -> T:
            return await work()

        return asyncio.run_coroutine_threadsafe(call(), self.loop).result(WAIT_MS / 1000)

    @property
    def table(self) -> FakeTable:
        """The newest table."""
        return list(self.fake.tables.values())[-1]


@pytest.fixture
def gateway() -> Iterator[RunningGateway]:
    running = RunningGateway()
    running.start()
    yield running
    running.stop()


class Visitor:
    """A browser of one person, and what went wrong in its console."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.context = context
        self.url = url
        self.page: Page = context.new_page()
        self.errors: list[str] = []
        self.page.set_default_timeout(WAIT_MS)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._heard)
        self.page.on("response", self._answered)

    def _heard(self, message: Any) -> None:
        # A refusal that a test provokes is also a console line; what counts is what the page did.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.errors.append(message.text)

    def _answered(self, response: Any) -> None:
        if response.status >= 500 or (response.status >= 400 and "/v1/" not in response.url):
            self.errors.append(f"{response.status} {response.url}")

    def home(self) -> Page:
        self.page.goto(self.url)
        self.page.wait_for_selector("[data-action=play-now]")
        return self.page

    def play_now(self, ruleset: str = "deniro", *, clock: bool = False) -> Page:
        page = self.home()
        page.get_by_text(ruleset, exact=True).first.click() if ruleset != "deniro" else None
        if clock:
            page.check("[name=clock]")
        page.click("[data-action=play-now]")
        page.wait_for_selector("[data-phase=playing]")
        return page

    def sign_up(self, name: str = "Rosa") -> Page:
        page = self.home()
        page.get_by_role("button", name="I am new here").click()
        page.fill("[name=name]", name)
        page.fill("[name=password]", "a long password")
        page.get_by_role("button", name="Sign up").click()
        page.click("[data-action=noted]")
        page.wait_for_selector(".balance[data-coins='1000']")
        return page


@pytest.fixture
def visit(browser: Browser, gateway: RunningGateway) -> Iterator[Callable[..., Visitor]]:
    """Make browsers of people; at the end none may have had an error."""
    visitors: list[Visitor] = []

    def make(width: int = 1280, height: int = 800, **options: Any) -> Visitor:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        visitors.append(Visitor(context, gateway.url))
        return visitors[-1]

    yield make
    for visitor in visitors:
        with contextlib.suppress(Exception):
            visitor.context.close()
    assert [visitor.errors for visitor in visitors] == [[] for _ in visitors]
