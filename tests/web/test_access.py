"""The page for everybody: keyboard alone, screen reader, every width, dark and light, nothing covered."""

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page

from tests.web.conftest import RunningGateway, Visitor
from tests.web.fake_table import Pace
from tests.web.playing import bid, play_card, play_hand, play_hand_by_keyboard

pytestmark = pytest.mark.browser
Visit = Callable[..., Visitor]

SIZES = [(320, 568), (390, 844), (768, 1024), (1280, 800)]
WCAG = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}}


def violations(page: Page) -> list[str]:
    # A policy without inline scripts stays in force: Playwright's own evaluation is outside of it.
    found: Any = Axe().run(page, options=WCAG).response["violations"]
    return [
        f"{one['id']}: {node['target']} {node.get('failureSummary', '')[:200]}"
        for one in found
        for node in one["nodes"]
    ]


def still(page: Page) -> None:
    """Wait until nothing moves: a colour on its way is no colour."""
    page.evaluate("Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => 0)))")


# No colour depends on the width, so dark is looked at once on a phone and once on a wide screen.
@pytest.mark.parametrize(
    ("width", "height", "scheme"), [*((*size, "light") for size in SIZES), (390, 844, "dark"), (1280, 800, "dark")]
)
def test_axe_finds_nothing(visit: Visit, gateway: RunningGateway, width: int, height: int, scheme: str) -> None:
    gateway.fake.pace = Pace(bot_ms=40)
    page = visit(width, height, color_scheme=scheme, reduced_motion="reduce").home()
    found = {"home": violations(page)}
    page.click("[data-action=play-now]")
    page.wait_for_selector("[data-action=bid]")
    found["bidding"] = violations(page)
    bid(page)
    play_card(page)
    page.wait_for_selector(".hand.is-own-turn")
    found["play"] = violations(page)
    for name in ("rules", "trick", "sheet", "check", "settings", "keys"):
        page.click("[data-action=menu]") if name == "rules" else None
        page.click(f"[data-page={name}]")
        still(page)
        found[f"menu {name}"] = violations(page)
    page.keyboard.press("Escape")
    for _ in range(12):
        play_card(page)
    page.wait_for_selector(".hand-end")
    found["end of hand"] = violations(page)
    page.click("[data-action=menu]")
    page.click("[data-page=check]")
    page.wait_for_selector("[data-check=ok]")
    found["check"] = violations(page)
    assert {place: lines for place, lines in found.items() if lines} == {}


@pytest.mark.parametrize("page_name", ["rules/club", "rules/jokers", "testing"])
def test_axe_finds_nothing_on_the_pages_of_words(visit: Visit, page_name: str) -> None:
    visitor = visit(390, 844)
    visitor.page.goto(f"{visitor.url}/#/{page_name}")
    visitor.page.wait_for_selector("h1")
    assert violations(visitor.page) == []


COVERED = """() => {
  const missing = [];
  const probe = (element, x, y, name) => {
    const top = document.elementFromPoint(x, y);
    if (!top || !(element === top || element.contains(top))) {
      const over = top ? top.className.baseVal ?? top.className : 'nothing';
      missing.push(`${name} at ${Math.round(x)},${Math.round(y)} covered by ${over}`);
    }
  };
  for (const card of document.querySelectorAll('.hand [data-card]')) {
    const box = card.getBoundingClientRect();
    // The index in the corner is what tells a card.
    probe(card, box.left + Math.min(14, box.width / 4), box.top + 24, `hand ${card.dataset.card}`);
  }
  const cards = [...document.querySelectorAll('.trick-card')];
  for (const card of cards) {
    const face = card.querySelector('svg');
    face.style.pointerEvents = 'auto';
    const box = card.getBoundingClientRect();
    probe(card, box.left + 8, box.top + 12, `trick ${card.dataset.card}`);
    if (box.left < 0 || box.right > innerWidth || box.top < 0) missing.push(`trick ${card.dataset.card} outside`);
  }
  const hand = document.querySelector('.hand');
  const seat = document.querySelector('.seat.is-south');
  const boxes = [...cards, ...document.querySelectorAll('.seat'), document.querySelector('.corner')];
  for (const one of cards) for (const other of boxes) {
    if (one === other || cards.includes(other)) continue;
    const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
    if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1) {
      missing.push(`trick ${one.dataset.card} over ${other.className}`);
    }
  }
  const [handTop, seatBottom] = [hand.getBoundingClientRect().top, seat.getBoundingClientRect().bottom];
  if (handTop < seatBottom - 20) missing.push('hand over own seat');
  if (document.documentElement.scrollWidth > innerWidth) missing.push('the page scrolls sideways');
  return missing;
}"""


@pytest.mark.parametrize(("width", "height"), [*SIZES, (568, 320), (1024, 600)])
def test_hand_and_trick_never_cover_each_other(visit: Visit, gateway: RunningGateway, width: int, height: int) -> None:
    gateway.fake.pace = Pace(bot_ms=60)
    page = visit(width, height, reduced_motion="reduce").play_now()
    bid(page)
    for _ in range(6):
        page.wait_for_selector(".hand.is-own-turn")
        assert page.evaluate(COVERED) == []
        play_card(page)


PICTURES = "[...document.querySelectorAll('svg, img')].map((picture) => picture.getBoundingClientRect().width)"


def test_pictures_have_a_size(visit: Visit) -> None:
    page = visit().play_now()
    page.wait_for_selector(".hand [data-card]")
    sizes = page.evaluate(PICTURES)
    assert sizes
    assert min(sizes) > 5


def test_a_hand_is_played_by_keyboard_alone(visit: Visit, gateway: RunningGateway) -> None:
    visitor = visit()
    page = visitor.home()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement?.dataset.action") == "play-now":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-action=bid]")
    while page.locator(".bid-number.is-picked[data-bid='10']").count() == 0:
        # Two digits are one number within a second, which a busy machine may miss.
        page.keyboard.type("10")
    page.wait_for_function("document.querySelector('#live').textContent.includes('10.')")
    play_hand_by_keyboard(page)


def test_keys_tell_whose_turn_bids_score_and_last_trick(visit: Visit) -> None:
    page = visit().play_now()
    bid(page)
    play_card(page)
    page.wait_for_selector(".hand.is-own-turn")
    page.keyboard.press("t")
    page.wait_for_function("document.querySelector('#live').textContent.includes('Your turn.')")
    page.keyboard.press("v")
    page.wait_for_function("/You 3, took/.test(document.querySelector('#live').textContent)")
    for key, words in (("r", "Last trick"), ("p", "Score sheet"), ("?", "Keys")):
        page.keyboard.press(key)
        page.wait_for_selector(f"dialog[aria-label='{words}']")
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="detached")


def test_no_key_is_lost_however_fast_it_comes(visit: Visit) -> None:
    page = visit().play_now()
    bid(page)
    play_card(page)
    page.wait_for_selector(".hand.is-own-turn")
    # Each key the moment the page has changed: faster than any hand.
    page.evaluate(
        """() => {
          const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
          const titles = () => document.querySelector("dialog")?.getAttribute("aria-label") ?? "none";
          window.seen = ["none"];
          new MutationObserver(() => {
            if (titles() === window.seen.at(-1)) return;
            window.seen.push(titles());
            if (window.seen.length === 2) document.querySelector("dialog[open] [aria-label=Close]").click();
            if (window.seen.length === 3) press("p");
            if (window.seen.length === 4) press("?");
          }).observe(document.body, { childList: true, subtree: true, attributes: true });
          press("r");
        }"""
    )
    page.wait_for_selector("dialog[aria-label='Keys'] .keys")
    assert page.evaluate("window.seen") == ["none", "Last trick", "none", "Score sheet", "Keys"]


def test_the_live_region_speaks_plays_and_tricks(visit: Visit, gateway: RunningGateway) -> None:
    gateway.fake.pace = Pace(bot_ms=120)
    page = visit().play_now()
    page.evaluate(
        """() => { window.heard = []; new MutationObserver((changes) => { for (const change of changes)
        for (const node of change.addedNodes) window.heard.push(node.textContent); })
        .observe(document.querySelector('#live'), {childList: true}); }"""
    )
    play_hand(page)
    heard = page.evaluate("window.heard")
    assert sum(line.endswith(("take trick 13.", "takes trick 13.")) for line in heard) == 1
    assert sum(" of " in line for line in heard) >= 45
    assert any(line.startswith("Hand 1 scored: we ") for line in heard)


MOVED = """() => { window.moved = [];
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput)
  window.moved.push(entry.sources.map((one) => one.node?.className ?? one.node?.nodeName).join(", ")); })
  .observe({type: 'layout-shift', buffered: false}); }"""


@pytest.mark.parametrize("width", [390, 1280])
def test_cards_move_by_transform_and_opacity_alone(visit: Visit, gateway: RunningGateway, width: int) -> None:
    gateway.fake.pace = Pace(bot_ms=120)
    page = visit(width, 800).play_now()
    # Who only watches touches nothing, so nothing is forgiven as an answer to a touch.
    watcher = visit(width, 800).page
    watcher.goto(page.url)
    bid(page)
    # Who leads has no trick to look at before.
    play_card(page)
    for one in (page, watcher):
        one.wait_for_selector(".trick")
        one.evaluate(MOVED)
    for _ in range(4):
        play_card(page)
    page.wait_for_selector(".hand.is-own-turn")
    assert [one.evaluate("window.moved") for one in (page, watcher)] == [[], []]
