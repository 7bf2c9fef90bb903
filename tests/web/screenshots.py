"""Pictures of every state of the page, to be looked at.

python -m tests.web.screenshots FOLDER [WIDTHxHEIGHT ...]
"""

import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from spades_lobby.games import fairness
from spades_lobby.rest import routes_statistics
from spades_rules import deal_hands
from tests.web.conftest import CHROMIUM_FLAGS, RunningGateway, Visitor
from tests.web.fake_table import Pace
from tests.web.playing import bid, bid_in_turn, play_card, play_hand, play_tricks, press_card

SIZES = ("320x568", "390x844", "768x1024", "1280x800")
WHOLE = ("home", "rule", "stat")
Shoot = Callable[..., None]


def _hand(visitor: Visitor, gateway: RunningGateway, shoot: Shoot) -> None:
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
        page.wait_for_function("!document.querySelector('dialog').textContent.includes('One moment')")
        shoot(f"04-menu-{name}")
    page.keyboard.press("Escape")
    refused = page.locator(".hand .card.is-refused")
    if refused.count():
        press_card(page, refused.first)
        shoot("05-refused")
    gateway.run(gateway.fake.drop_sockets)
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


def _blind_nil(visitor: Visitor, gateway: RunningGateway, shoot: Shoot) -> None:
    gateway.fake.start_scores = (150, 280)
    page = visitor.play_now("Club")
    page.wait_for_selector("[data-bid=blind_nil]:not([aria-disabled])")
    page.click("[data-bid=blind_nil]")
    shoot("09-face-down")
    page.click("[data-action=bid]")
    page.wait_for_selector("[data-action=pass]")
    for number in (0, 1):
        press_card(page, page.locator(".hand [data-card]").nth(number))
    shoot("10-swap")
    gateway.fake.pace.bots_wait_at = "play"
    page.click("[data-action=pass]")
    page.wait_for_selector(".new-mark")
    shoot("11-new-cards")


def _coins(visitor: Visitor, gateway: RunningGateway, shoot: Shoot) -> None:
    gateway.fake.start_scores = (480, 490)
    page = visitor.sign_up()
    shoot("12-home-account")
    page.click("[data-action=account]")
    page.wait_for_selector(".one-thing")
    shoot("13-account")
    page.keyboard.press("Escape")
    page.click("[data-action=queue]")
    gateway.fake.people.bots_offered = True
    page.wait_for_selector("[data-action=accept-bots]")
    page.locator("[data-queue]").scroll_into_view_if_needed()
    shoot("14-queue")
    page.click("[data-action=stop-waiting]")
    page.click("[data-stake='50']")
    page.wait_for_selector("[data-phase=playing]")
    bid(page, 3)
    play_card(page)
    page.wait_for_selector(".hand.is-own-turn")
    shoot("15-coins")
    play_tricks(page, 12)
    page.wait_for_selector(".hand-end .countdown, .game-end")
    while gateway.table.seen().phase != "ended":
        page.click("[data-action=ready]")
        play_hand(page)
    page.wait_for_selector(".payout")
    shoot("16-end-of-game")
    page.locator(".game-end").get_by_role("link", name="Home").click()
    page.get_by_role("link", name="Replay").click()
    page.wait_for_selector(".replay")
    for _ in range(12):
        page.click("[data-action=on]")
    page.get_by_text("All hands open").click()
    shoot("17-replay")
    page.goto(f"{visitor.url}/#/rules/club")
    page.wait_for_selector("h1")
    shoot("18-rules")
    page.goto(f"{visitor.url}/#/statistics")
    page.wait_for_selector(".measure")
    shoot("19-statistics")


def _company(visitor: Visitor, gateway: RunningGateway, shoot: Shoot) -> None:
    page = visitor.home()
    page.click("[data-action=open-private]")
    page.wait_for_selector("[data-sit]")
    shoot("20-seating")
    page.click("[data-sit='0']")
    friend = Visitor(visitor.page.context.browser.new_context(), visitor.url).page  # type: ignore[union-attr]
    friend.goto(page.locator(".invite input").input_value())
    friend.click("[data-sit='2']")
    page.wait_for_selector("[data-seat='2']:not(.is-empty)")
    shoot("21-waiting")
    page.click("[data-action=start]")
    bid_in_turn((page, friend), 3)
    friend.click("[data-action=talk]")
    friend.click("[data-phrase=good_luck]")
    page.wait_for_selector(".bubble")
    shoot("22-bubble")
    page.click("[data-action=talk]")
    shoot("23-talk")
    page.keyboard.press("Escape")
    friend.goto("about:blank")
    page.wait_for_selector("[data-notice=gone]")
    shoot("24-gone")
    friend.context.close()


def _statistics() -> dict[str, object]:
    seeds = [bytes(32)] * 4
    deals = [deal_hands(bytes(32), f"g{n}", 1, n % 4, 0, seeds) for n in range(900)]
    deck = routes_statistics.deck_view(0, Counter(seen for hands in deals for seen in fairness.seen_in(0, hands)))
    return {"deals": deck.deals, "decks": [deck.model_dump()]}


def _tour(browser: Browser, folder: Path, size: str, scheme: str) -> None:
    width, _, height = size.partition("x")
    for tour in (_hand, _blind_nil, _coins, _company):
        gateway = RunningGateway()
        gateway.start()
        gateway.fake.pace = Pace(bot_ms=60)
        gateway.fake.statistics = _statistics()
        context = browser.new_context(
            viewport={"width": int(width), "height": int(height)},
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce",
        )
        visitor = Visitor(context, gateway.url)

        def shoot(name: str, page: Page = visitor.page) -> None:
            page.screenshot(path=folder / f"{name}-{size}-{scheme}.png", full_page=name[3:7] in WHOLE)

        tour(visitor, gateway, shoot)
        context.close()
        gateway.stop()
        assert visitor.errors == []


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_FLAGS)
        for size in sys.argv[2:] or SIZES:
            for scheme in ("light", "dark"):
                _tour(browser, folder, size, scheme)
        browser.close()


if __name__ == "__main__":
    main()
