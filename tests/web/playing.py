"""How a test plays at the page: as a person does, by what the page shows; by touch where there is a touch screen."""

import time
from collections.abc import Iterable

from playwright.sync_api import Locator, Page, Position

BIDDING_S_MAX = 60
SEEN_OF_A_CARD = """card => {
    const box = card.getBoundingClientRect();
    for (let y = 6; y < box.height; y += 4)
        for (let x = 6; x < box.width; x += 4)
            if (card.contains(document.elementFromPoint(box.x + x, box.y + y))) return {x, y};
    return null;
}"""


def press(page: Page, selector: str, position: Position | None = None) -> None:
    """Click, or tap."""
    touched = page.evaluate("'ontouchstart' in window")
    (page.tap if touched else page.click)(selector, position=position)


def press_card(page: Page, card: Locator) -> None:
    """Click a card of the fan, or tap it, where it is seen: its neighbours lie on it, and it is turned."""
    box = None
    while box != (box := card.bounding_box()):
        # It moves into its place.
        page.wait_for_timeout(50)
    seen = card.evaluate(SEEN_OF_A_CARD)
    assert seen, "no part of this card is seen"
    # A refused card is pressed all the same; to wait until it may be played would be for ever.
    touched = page.evaluate("'ontouchstart' in window")
    (card.tap if touched else card.click)(position=seen, force=True)


def bid(page: Page, value: int | str = 3) -> None:
    page.wait_for_selector(f"[data-bid='{value}']:not([aria-disabled])")
    press(page, f"[data-bid='{value}']")
    press(page, "[data-action=bid]")
    page.wait_for_selector("[data-action=bid]", state="detached")


def bid_in_turn(pages: Iterable[Page], value: int | str = 2) -> None:
    """Each of several people at one table bids once, whoever's turn comes first."""
    waiting, until = list(pages), time.monotonic() + BIDDING_S_MAX
    while waiting:
        for page in list(waiting):
            if page.locator("[data-action=bid]").count():
                bid(page, value)
                waiting.remove(page)
        assert time.monotonic() < until, "the turn never came"
        for page in waiting[:1]:
            page.wait_for_timeout(20)


def play_card(page: Page) -> str:
    """Play the first card that may be played; returns its name."""
    legal = ".hand.is-own-turn .card.is-legal"
    page.wait_for_selector(legal)
    name = page.locator(legal).first.get_attribute("data-card") or ""
    press_card(page, page.locator(f".hand [data-card='{name}']"))
    page.wait_for_selector(f".hand [data-card='{name}']", state="detached")
    return name


def play_tricks(page: Page, count: int = 13) -> list[str]:
    return [play_card(page) for _ in range(count)]


def end_of_hand(page: Page) -> None:
    # The time of the next deal is the last thing told of a hand; at a game's end there is none.
    page.wait_for_selector(".hand-end .countdown, .game-end")


def play_hand(page: Page, value: int | str = 3) -> None:
    bid(page, value)
    play_tricks(page)
    end_of_hand(page)


def play_out(*pages: Page) -> None:
    """Several people at one table play on, whoever's turn it is, until the hand is over."""
    while not any(page.locator(".hand-end, .game-end").count() for page in pages):
        for page in pages:
            if page.locator(".hand.is-own-turn .card.is-legal").count():
                play_card(page)
        pages[0].wait_for_timeout(10)


def swap(page: Page) -> None:
    """Pass the first two cards to the partner."""
    page.wait_for_selector("[data-action=pass]")
    for number in (1, 2):
        press_card(page, page.locator(f".hand [data-card]:nth-child({number})"))
    press(page, "[data-action=pass]:not(:disabled)")


def play_hand_by_keyboard(page: Page, value: int = 4) -> None:
    page.wait_for_selector("[data-action=bid]")
    page.keyboard.press(str(value))
    page.wait_for_selector(f".bid-number.is-picked[data-bid='{value}']")
    page.keyboard.press("Enter")
    page.wait_for_selector(f".seat.is-south .seat-bid:has-text('Bid {value}')")
    while not page.evaluate("document.activeElement?.dataset.card"):
        page.keyboard.press("Tab")
    for _ in range(13):
        page.wait_for_selector(".hand.is-own-turn")
        while page.evaluate("document.activeElement?.getAttribute('aria-disabled')") == "true":
            page.keyboard.press("ArrowRight")
        played = page.evaluate("document.activeElement?.dataset.card")
        assert played, "the focus stays in the hand"
        page.keyboard.press("Enter")
        page.wait_for_selector(f".hand [data-card='{played}']", state="detached")
    page.wait_for_selector(".hand-end")
