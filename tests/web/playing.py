"""How a test plays at the page: as a person does, by what the page shows."""

import time
from collections.abc import Iterable

from playwright.sync_api import Page

BIDDING_S_MAX = 60


def bid(page: Page, value: int | str = 3) -> None:
    page.wait_for_selector("[data-action=bid]")
    page.click(f"[data-bid='{value}']")
    page.click("[data-action=bid]")
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
    page.wait_for_selector(".hand.is-own-turn .card.is-legal")
    card = page.locator(".hand.is-own-turn .card.is-legal").first
    name = card.get_attribute("data-card") or ""
    # By its index, as one taps a card that others lie on.
    card.click(position={"x": 10, "y": 16})
    page.wait_for_selector(f".hand [data-card='{name}']", state="detached")
    return name


def play_tricks(page: Page, count: int = 13) -> list[str]:
    return [play_card(page) for _ in range(count)]


def play_hand(page: Page, value: int | str = 3) -> None:
    bid(page, value)
    play_tricks(page)
    # The time of the next deal is the last thing told of a hand; at a game's end there is none.
    page.wait_for_selector(".hand-end .countdown, .game-end")
