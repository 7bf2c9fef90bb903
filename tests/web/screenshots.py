"""Pictures of every state of the page, to be looked at.

python -m tests.web.screenshots FOLDER [WIDTHxHEIGHT ...]
"""

import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.web.conftest import CHROMIUM_FLAGS, RunningGateway, Visitor
from tests.web.fake_table import Pace
from tests.web.playing import bid, play_card, play_hand, play_tricks

SIZES = ("320x568", "390x844", "768x1024", "1280x800")
CHROMIUM = "/usr/bin/chromium"


def _hand(visitor: Visitor, shoot: Callable[[str], None]) -> None:
    page = visitor.home()
    shoot("01-home")
    page.click("[data-action=play-now]")
    page.wait_for_selector("[data-action=bid]")
    page.click("[data-bid='4']")
    shoot("02-bidding")
    bid(page, 4)
    play_tricks(page, 4)
    page.wait_for_selector(".hand.is-own-turn")
    shoot("03-trick")
    for number, name in enumerate(("rules", "trick", "sheet", "check", "settings", "keys")):
        page.click("[data-action=menu]") if number == 0 else None
        page.click(f"[data-page={name}]")
        shoot(f"04-menu-{name}")
    page.keyboard.press("Escape")
    refused = page.locator(".hand .card.is-refused")
    if refused.count():
        refused.first.click(force=True, position={"x": 10, "y": 16})
        shoot("05-refused")
    play_tricks(page, 9)
    page.wait_for_selector(".hand-end .countdown")
    shoot("06-end-of-hand")
    page.click("[data-action=menu]")
    page.click("[data-page=check]")
    page.wait_for_selector("[data-check=ok]")
    shoot("07-checked")
    page.keyboard.press("Escape")
    page.click("[data-action=leave]")
    shoot("08-leave")


def _blind_nil(visitor: Visitor, shoot: Callable[[str], None]) -> None:
    page = visitor.play_now("Club")
    page.wait_for_selector("[data-bid=blind_nil]:not([aria-disabled])")
    page.click("[data-bid=blind_nil]")
    shoot("09-face-down")
    page.click("[data-action=bid]")
    page.wait_for_selector("[data-action=pass]")
    for number in (0, 1):
        page.locator(".hand [data-card]").nth(number).click(position={"x": 10, "y": 16})
    shoot("10-swap")
    page.click("[data-action=pass]")
    page.wait_for_selector(".new-mark")
    shoot("11-new-cards")


def _coins(visitor: Visitor, gateway: RunningGateway, shoot: Callable[[str], None]) -> None:
    page = visitor.sign_up()
    shoot("12-home-account")
    page.click("[data-stake='50']")
    page.wait_for_selector("[data-phase=playing]")
    play_card_after_bid(page)
    shoot("13-coins")
    play_tricks(page, 12)
    page.wait_for_selector(".hand-end .countdown, .game-end")
    while gateway.table.seen().phase != "ended":
        page.click("[data-action=ready]")
        play_hand(page)
    page.wait_for_selector(".payout")
    shoot("14-end-of-game")
    page.locator(".game-end").get_by_role("link", name="Home").click()
    page.get_by_role("link", name="Replay").click()
    page.wait_for_selector(".replay")
    for _ in range(12):
        page.click("[data-action=on]")
    page.get_by_text("All hands open").click()
    shoot("15-replay")
    page.goto(f"{visitor.url}/#/rules/club")
    page.wait_for_selector("h1")
    shoot("16-rules")


def play_card_after_bid(page: Page) -> None:
    bid(page, 3)
    play_card(page)
    page.wait_for_selector(".hand.is-own-turn")


def _tour(browser: Browser, folder: Path, size: str, scheme: str) -> None:
    width, _, height = size.partition("x")
    for tour in ("hand", "blind nil", "coins"):
        gateway = RunningGateway()
        gateway.start()
        gateway.fake.pace = Pace(bot_ms=120)
        context = browser.new_context(
            viewport={"width": int(width), "height": int(height)},
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce",
        )
        visitor = Visitor(context, gateway.url)

        def shoot(name: str, page: Page = visitor.page) -> None:
            page.screenshot(path=folder / f"{name}-{size}-{scheme}.png", full_page=name[3:7] in ("home", "rule"))

        if tour == "hand":
            _hand(visitor, shoot)
        elif tour == "blind nil":
            gateway.fake.start_scores = (0, 150)
            _blind_nil(visitor, shoot)
        else:
            gateway.fake.start_scores = (480, 490)
            _coins(visitor, gateway, shoot)
        context.close()
        gateway.stop()
        assert visitor.errors == []


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        for number, size in enumerate(sys.argv[2:] or SIZES):
            _tour(browser, folder, size, "dark" if number % 2 else "light")
        browser.close()


if __name__ == "__main__":
    main()
