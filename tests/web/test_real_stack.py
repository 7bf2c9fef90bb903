"""The page before the real gateway, table, wallet, clock and bots."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from spades_local.testing import Namespace
from tests.processes import ServiceProcess
from tests.web.conftest import Visitor
from tests.web.playing import (
    bid,
    bid_in_turn,
    end_of_hand,
    play_card,
    play_hand_by_keyboard,
    play_out,
    play_tricks,
    press,
    swap,
)
from tests.web.test_access import COVERED, PICTURES

pytestmark = [pytest.mark.real, pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]

SERVICES = ("wallet", "clock", "table", "bot", "lobby")
QUICK = {"SPADES_BOT_PACE_MS": "20", "SPADES_LOBBY_QUEUE_PATIENCE_MS": "3000"}
HANDS_MAX = 12
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


def _check(page: Page, found: str) -> None:
    page.click("[data-action=menu]")
    page.click("[data-page=check]")
    page.wait_for_selector(f"[data-check={found}]")


def test_a_hand_by_keyboard_alone_and_its_deal_true_and_tampered(visit: Visit) -> None:
    page = visit().play_now()
    play_hand_by_keyboard(page)
    _check(page, "ok")
    assert page.locator("[data-step^=own_seed]").count() == 1
    # A server that tells another secret afterwards: after a reload the page knows only what it is told.
    page.route("**/v1/games/*/events*", _another_secret)
    page.reload()
    page.wait_for_selector(".hand-end table.sheet")
    _check(page, "bad")
    assert "fingerprint" in page.locator(".check-result").inner_text()
    page.keyboard.press("Escape")
    page.click("[data-action=ready]")
    page.wait_for_selector("[data-phase=playing]")
    assert "hand 2" in page.locator(".bar-title").inner_text()


def _another_secret(route: Route) -> None:
    told = route.fetch().json()
    for event in told["events"]:
        if event["type"] == "deal_revealed":
            event["secret"] = "ab" * 32
    route.fulfill(json=told)


def _play_badly(page: Page, value: int) -> bool:
    """A hand by Blind Nil where it is open, else with this bid; whether it was open."""
    page.wait_for_selector("[data-bid]")
    blind = page.locator("[data-bid=blind_nil]").count() > 0
    bid(page, "blind_nil" if blind else value)
    if blind:
        swap(page)
        page.wait_for_selector(".hand.is-own-turn")
    for _ in range(13):
        page.wait_for_selector(".hand.is-own-turn")
        assert page.evaluate(COVERED) == []
        play_card(page)
    end_of_hand(page)
    return blind


@pytest.mark.parametrize(
    ("width", "height", "touch"), [(1280, 800, False), (390, 844, True)], ids=["mouse at 1280", "touch at 390"]
)
def test_a_whole_coin_game_with_blind_nil_is_played_and_paid(
    visit: Visit, width: int, height: int, touch: bool
) -> None:
    page = visit(width, height, has_touch=touch, reduced_motion="reduce").sign_up(f"Rosa {width}")
    page.get_by_text("Club", exact=True).first.click()
    press(page, "[data-stake='100']")
    page.wait_for_selector("[data-phase=playing]")
    expect(page.locator(".bar-turn .countdown, .bar-turn span").first).to_be_visible()
    blind: list[bool] = []
    for _ in range(HANDS_MAX):
        # Ten is never made. Once is enough to fall behind, and twice ends the game at the Club's floor.
        blind.append(_play_badly(page, 10 if any(blind) or not blind else 3))
        if page.locator(".game-end").count():
            break
        press(page, "[data-action=ready]")
    assert any(blind), "a team that is 100 behind gets its cards face down"
    assert min(page.evaluate(PICTURES)) > 5
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


def test_two_people_at_a_private_table_talk_part_and_meet_again(visit: Visit) -> None:
    host = visit().home()
    host.get_by_text("Club", exact=True).first.click()
    host.click("[data-action=open-private]")
    host.click("[data-sit='0']")
    host.wait_for_selector("[data-action=start]")
    friend = visit(390, 844, has_touch=True).page
    friend.goto(host.locator(".invite input").input_value())
    friend.click("[data-sit='2']")
    expect(host.locator("[data-seat='2'] .seat-name")).not_to_have_text("Empty seat")
    host.click("[data-action=start]")
    friend.wait_for_selector("[data-phase=playing]")
    friend.click("[data-action=talk]")
    friend.click("[data-phrase=good_luck]")
    expect(host.locator(".bubble")).to_have_text("Good luck!")
    address = friend.url
    friend.goto("about:blank")
    host.wait_for_selector("[data-notice=gone]")
    friend.goto(address)
    host.wait_for_selector("[data-notice=back]")
    # Ten each can never be made, and puts the team under the Club's floor.
    bid_in_turn((host, friend), 10)
    play_out(host, friend)
    for page in (host, friend):
        page.wait_for_selector(".game-end")
    friend.click("[data-action=again]")
    friend.wait_for_selector("[data-phase=seating]")
    host.wait_for_selector("[data-rematch]")
    host.click("[data-action=again]")
    host.wait_for_selector("[data-phase=seating]")
    assert host.url == friend.url
    expect(friend.locator(".seat:not(.is-empty)")).to_have_count(2)
    friend.click("[data-action=start]")
    for page in (host, friend):
        page.wait_for_selector("[data-phase=playing]")
    friend.click("[data-action=leave]")
    friend.click("[data-action=confirm-leave]")
    friend.wait_for_selector("[data-action=play-now]")
    host.wait_for_selector("[data-notice=bot_took_seat]")


def test_the_queue_brings_one_to_a_table_with_bots(visit: Visit) -> None:
    page = visit().sign_up("Quentin")
    page.click("[data-action=queue]")
    page.click("[data-action=accept-bots]")
    page.wait_for_selector("[data-phase=playing]")
    assert "stake 20" in page.locator(".bar-title").inner_text()


def test_account_and_statistics_are_those_of_the_real_gateway(visit: Visit) -> None:
    visitor = visit()
    page = visitor.sign_up("Greta")
    page.click("[data-action=account]")
    form = page.locator("form[aria-label='Change the password']")
    form.locator("[name=password]").fill("a long password")
    form.locator("[name=new_password]").fill("a longer password")
    form.locator("button").click()
    expect(form.locator(".done")).to_be_visible()
    form = page.locator("form[aria-label='Delete the account']")
    form.locator("[name=password]").fill("a longer password")
    form.locator("[name=sure]").check()
    form.locator("button").click()
    page.wait_for_selector("form[aria-label='Sign in']")
    page.goto(f"{visitor.url}/#/statistics")
    page.wait_for_selector("[data-deals]")


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
