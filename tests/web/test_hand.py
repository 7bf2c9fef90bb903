"""A person plays at the page: bids, tricks, score sheet, the check of the deal."""

from collections.abc import Callable

import pytest

from tests.web.conftest import RunningGateway, Visitor
from tests.web.playing import bid, play_card, play_hand, play_tricks, press_card

pytestmark = pytest.mark.browser
Visit = Callable[..., Visitor]


def test_a_guest_plays_a_whole_hand(visit: Visit, gateway: RunningGateway) -> None:
    page = visit().play_now()
    bid(page, 4)
    assert page.locator(".seat.is-south .seat-bid").inner_text() == "Bid 4 · 0"
    played = play_tricks(page)
    assert len(set(played)) == 13
    page.wait_for_selector(".hand-end")
    table = gateway.table
    own = table.seat_of(next(iter(gateway.fake.people.accounts)))
    assert own is not None
    scored = table.told_of("hand_scored")[0]
    team = scored["teams"][own % 2]
    sheet = page.locator(".hand-end table.sheet").first
    assert [row.inner_text() for row in sheet.locator("tbody td").all()][-1] == str(team["score"]).replace("-", "−")
    assert len(sheet.locator("tbody tr").all()) == max(1, len(team["lines"])) + 2
    assert page.locator(".corner tbody td:last-child").all_inner_texts() == ["–", "–"]
    page.click("[data-action=ready]")
    page.wait_for_selector(".bid-pad, .panel.wait")
    assert gateway.table.game.hand_no == 2


def test_every_trick_and_bid_shows_at_its_seat(visit: Visit, gateway: RunningGateway) -> None:
    page = visit().play_now()
    bid(page, 2)
    play_card(page)
    page.wait_for_selector(".hand.is-own-turn")
    table = gateway.table
    bids = {told["seat"]: told["bid"] for told in table.told_of("bid_made")}
    taken = table.game.taken
    words = {"nil": "Nil"}
    for seat in range(4):
        shown = page.locator(f"[data-seat='{seat}'] .seat-bid").inner_text()
        assert shown == f"Bid {words.get(bids[seat], bids[seat])} · {taken[seat]}"
    trick = table.game.trick
    leader = table.game.leader
    shown_cards = page.locator(".trick-card").all()
    if trick:
        assert [int(card.get_attribute("data-seat") or -1) for card in shown_cards] == [
            (leader + place) % 4 for place in range(len(trick))
        ]


def test_a_refused_card_says_the_rule_that_refuses_it(visit: Visit) -> None:
    page = visit().play_now()
    bid(page)
    for _ in range(12):
        page.wait_for_selector(".hand.is-own-turn")
        refused = page.locator(".hand .card.is-refused")
        if refused.count():
            assert refused.first.get_attribute("aria-disabled") == "true"
            press_card(page, refused.first)
            words = page.locator(".toast.is-refusal").inner_text()
            assert "follow suit" in words or "not broken" in words
            return
        play_card(page)
    pytest.skip("every card was legal in this hand")


def test_the_deal_of_a_finished_hand_checks_out(visit: Visit) -> None:
    page = visit().play_now()
    play_hand(page)
    page.click("[data-action=menu]")
    page.click("[data-page=check]")
    page.wait_for_selector("[data-check=ok]")
    steps = [step.get_attribute("data-step") for step in page.locator(".check-steps li").all()]
    assert steps[:2] == ["fingerprint", "anchor"]
    assert "first_dealer" in steps
    assert sum(step.startswith("own_seed") for step in steps if step) == 1
    assert sum(step.startswith("own_hand") for step in steps if step) == 1
    assert sum(step.startswith("played") for step in steps if step) == 4
    titles = page.locator(".step-title").all_inner_texts()
    assert sum("computer player, which brings no seed" in title for title in titles) == 3
    assert sum("promised before the game" in title for title in titles) == 1


def test_a_tampered_secret_fails_and_names_the_step(visit: Visit, gateway: RunningGateway) -> None:
    gateway.fake.tamper_secret = True
    page = visit().play_now()
    play_hand(page)
    page.click("[data-action=menu]")
    page.click("[data-page=check]")
    page.wait_for_selector("[data-check=bad]")
    assert "fingerprint" in page.locator(".check-result").inner_text()
    assert page.locator("[data-step=fingerprint].is-bad").count() == 1


def test_the_check_works_after_a_reload(visit: Visit) -> None:
    page = visit().play_now()
    play_hand(page)
    page.reload()
    page.wait_for_selector(".hand-end table.sheet")
    page.click("[data-action=menu]")
    page.click("[data-page=check]")
    page.wait_for_selector("[data-check=ok]")
    assert page.locator("[data-step^=own_hand]").count() == 1


def test_jokers_are_dealt_and_shown(visit: Visit, gateway: RunningGateway) -> None:
    page = visit().play_now("Jokers")
    play_hand(page)
    assert gateway.table.told_of("hand_committed")[0]["deck_id"] == 1
    page.click("[data-action=menu]")
    page.click("[data-page=check]")
    page.wait_for_selector("[data-check=ok]")
