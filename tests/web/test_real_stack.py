"""The page before the real gateway, table, wallet, clock and bots."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from spades_local.testing import Namespace
from tests.processes import ServiceProcess
from tests.web.conftest import Visitor
from tests.web.playing import bid, bid_in_turn, play_card, play_hand, play_tricks

pytestmark = [pytest.mark.real, pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]

SERVICES = ("wallet", "clock", "table", "bot", "lobby")
QUICK = {"SPADES_BOT_PACE_MS": "20"}
HANDS_MAX = 30
Visit = Callable[..., Visitor]


@dataclass(frozen=True)
class Stack:
    address: str
    lobby: ServiceProcess


@pytest.fixture(scope="module")
def stack(web: Path, module_namespace: Namespace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    module_namespace.create_topics(partitions=2)
    module_namespace.migrate("lobby", "table", "wallet", "clock")
    logs = tmp_path_factory.mktemp("logs")
    with ExitStack() as running:
        for name in SERVICES:
            env = module_namespace.service_env(name, **QUICK)
            process = running.enter_context(ServiceProcess(name, env, logs / name))
        yield Stack(f"http://127.0.0.1:{env['SPADES_LOBBY_PORT']}", process)


@pytest.fixture
def visit(browser: Browser, stack: Stack) -> Iterator[Visit]:
    visitors: list[Visitor] = []

    def make(width: int = 1280, height: int = 800, **options: Any) -> Visitor:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        visitors.append(Visitor(context, stack.address))
        return visitors[-1]

    yield make
    errors = [visitor.errors for visitor in visitors]
    for visitor in visitors:
        visitor.context.close()
    assert errors == [[] for _ in visitors]


def test_a_guest_plays_a_hand_and_checks_its_deal(visit: Visit) -> None:
    page = visit().play_now()
    bid(page, 4)
    expect(page.locator(".seat.is-south .seat-bid")).to_have_text("Bid 4 · 0")
    play_tricks(page)
    page.wait_for_selector(".hand-end table.sheet")
    page.click("[data-action=menu]")
    page.click("[data-page=check]")
    page.wait_for_selector("[data-check=ok]")
    assert page.locator("[data-step^=own_seed]").count() == 1
    page.keyboard.press("Escape")
    page.reload()
    page.wait_for_selector(".hand-end table.sheet")
    page.click("[data-action=ready]")
    page.wait_for_selector("[data-phase=playing]")
    assert "hand 2" in page.locator(".bar-title").inner_text()


@pytest.mark.parametrize(
    ("width", "height", "touch"), [(1280, 800, False), (390, 844, True)], ids=["mouse at 1280", "touch at 390"]
)
def test_a_whole_coin_game_is_played_and_paid(visit: Visit, width: int, height: int, touch: bool) -> None:
    page = visit(width, height, has_touch=touch).sign_up(f"Rosa {width}")
    page.get_by_text("Classic", exact=True).first.click()
    page.select_option("[name=target]", "200")
    page.click("[data-stake='100']")
    page.wait_for_selector("[data-phase=playing]")
    expect(page.locator(".bar-turn .countdown, .bar-turn span").first).to_be_visible()
    for _ in range(HANDS_MAX):
        play_hand(page)
        if page.locator(".game-end").count():
            break
        page.click("[data-action=ready]")
    page.wait_for_selector(".payout")
    net = int(page.locator(".payout").get_attribute("data-net") or 0)
    assert abs(net) == 100
    assert ("You won" if net > 0 else "You lost") in page.locator(".game-end h2").inner_text()
    page.locator(".game-end").get_by_role("link", name="Home").click()
    page.wait_for_selector(f".balance[data-coins='{1000 + net}']")
    page.get_by_role("link", name="Replay").first.click()
    page.wait_for_selector(".replay")
    page.keyboard.press("End")
    page.click("[data-action=on]")


def test_leaving_a_coin_game_costs_what_was_told(visit: Visit) -> None:
    page = visit().sign_up("Leah")
    page.click("[data-stake='100']")
    page.wait_for_selector("[data-phase=playing]")
    expect(page.locator(".bar-turn .countdown")).to_have_text(re.compile(r"[01]:\d\d"))
    page.click("[data-action=leave]")
    assert "110 coins" in page.locator("dialog").inner_text()
    page.click("[data-action=confirm-leave]")
    page.wait_for_selector(".balance[data-coins='890']")


def test_two_people_at_a_private_table(visit: Visit) -> None:
    host = visit().home()
    host.click("[data-action=open-private]")
    host.click("[data-sit='0']")
    host.wait_for_selector("[data-action=start]")
    friend = visit(390, 844, has_touch=True).page
    friend.goto(host.locator(".invite input").input_value())
    friend.click("[data-sit='1']")
    expect(host.locator("[data-seat='1'] .seat-name")).not_to_have_text("Empty seat")
    host.click("[data-action=start]")
    for page in (host, friend):
        page.wait_for_selector("[data-phase=playing]")
    bid_in_turn((host, friend))
    for page in (host, friend):
        page.wait_for_selector(".trick")
    friend.click("[data-action=leave]")
    friend.click("[data-action=confirm-leave]")
    friend.wait_for_selector("[data-action=play-now]")
    host.wait_for_selector("[data-notice=bot_took_seat]")
    play_tricks(host, host.locator(".hand [data-card]").count())
    host.wait_for_selector(".hand-end table.sheet")


def test_a_killed_gateway_comes_back_and_the_hand_goes_on(visit: Visit, stack: Stack) -> None:
    page = visit().play_now()
    bid(page)
    play_tricks(page, 3)
    page.wait_for_selector(".hand.is-own-turn")
    mark = page.evaluate("window.mark = Math.random()")
    stack.lobby.kill()
    page.wait_for_selector(".toast.is-lost")
    stack.lobby.start()
    play_tricks(page, 10)
    page.wait_for_selector(".hand-end table.sheet")
    assert page.evaluate("window.mark") == mark


def test_a_second_device_takes_the_seat_and_the_first_can_take_it_back(visit: Visit) -> None:
    first = visit()
    page = first.play_now()
    bid(page)
    play_card(page)
    second = visit(390, 844)
    second.context.add_cookies(first.context.cookies())  # type: ignore[arg-type]
    second.page.add_init_script("localStorage.setItem('spades.here-before', 'yes')")
    second.page.goto(page.url)
    play_card(second.page)
    page.get_by_role("button", name="Play here").click()
    play_card(page)
