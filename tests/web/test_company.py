"""People among themselves: table talk, presence, a rematch, the queue."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from spades_lobby.live.talk import PHRASES
from tests.web.conftest import RunningGateway, Visitor
from tests.web.playing import bid_in_turn, play_hand, play_out
from tests.web.test_access import violations
from tests.web.test_scripts import node_says

pytestmark = pytest.mark.browser
Visit = Callable[..., Visitor]

HEARD = "document.querySelector('#live').textContent.includes({!r})"


def _pair(visit: Visit, ruleset: str = "DeNiro") -> tuple[Page, Page]:
    """Two people across from each other at a private table, before the start."""
    host = visit().home()
    host.get_by_text(ruleset, exact=True).first.click()
    host.click("[data-action=open-private]")
    host.click("[data-sit='0']")
    host.wait_for_selector("[data-action=start]")
    friend = visit(390, 844, has_touch=True).page
    friend.goto(host.locator(".invite input").input_value())
    friend.click("[data-sit='2']")
    expect(host.locator("[data-seat='2'] .seat-name")).to_contain_text("Guest")
    return host, friend


def _start(host: Page, friend: Page) -> None:
    host.click("[data-action=start]")
    for page in (host, friend):
        page.wait_for_selector("[data-phase=playing]")


def test_the_page_knows_the_phrases_that_can_be_said(web: Any) -> None:
    phrases = node_says("import('./services/lobby/web/app/table/phrases.js').then((all) => all.PHRASES)")
    assert dict(phrases) == PHRASES


def test_a_phrase_is_seen_and_heard_by_who_sits_there_and_by_nobody_else(visit: Visit) -> None:
    host, friend = _pair(visit)
    watcher = visit().page
    watcher.goto(host.url)
    watcher.wait_for_selector("[data-phase=seating]")
    _start(host, friend)
    friend.click("[data-action=talk]")
    friend.click("[data-phrase=good_luck]")
    expect(host.locator(".bubble.at-north")).to_have_text("Good luck!")
    host.wait_for_function(HEARD.format("says: Good luck!"))
    host.click("[data-action=talk]")
    expect(host.locator(".talk-log ol")).to_contain_text("Good luck!")
    host.keyboard.press("Escape")
    bid_in_turn((host, friend))
    assert watcher.locator(".bubble, [data-action=talk]").count() == 0
    assert "Good luck!" not in watcher.locator("#live").inner_text()


def test_free_text_is_for_between_hands_and_who_is_muted_is_not_heard(visit: Visit, gateway: RunningGateway) -> None:
    host, friend = _pair(visit)
    friend.click("[data-action=talk]")
    friend.fill("[name=text]", "Shall we begin?")
    friend.keyboard.press("Enter")
    expect(host.locator(".bubble")).to_have_text("Shall we begin?")
    host.click("[data-action=talk]")
    assert violations(host) == []
    host.click("[data-action=report]")
    assert violations(host) == []
    host.get_by_role("button", name="Report Guest").click()
    host.wait_for_selector("[data-reported]")
    assert [about for about, _ in gateway.fake.reports] == [list(gateway.table.people().values())[1]]
    host.click("[data-action=mute]")
    expect(host.locator("[data-action=mute]")).to_have_text("Hear again")
    host.keyboard.press("Escape")
    friend.click("[data-action=talk]")
    friend.click("[data-phrase=hello]")
    expect(friend.locator(".bubble")).to_have_text("Hello!")
    _start(host, friend)
    assert "Hello!" not in host.locator("#live").inner_text()
    host.click("[data-action=talk]")
    assert host.locator("[name=text]").count() == 0


def test_a_partner_who_is_gone_and_back_is_shown_and_spoken(visit: Visit) -> None:
    host, friend = _pair(visit)
    _start(host, friend)
    address = friend.url
    friend.goto("about:blank")
    host.wait_for_selector("[data-notice=gone]")
    host.wait_for_selector("[data-seat='2'] .seat-flag:has-text('connection lost')")
    host.wait_for_function(
        "/Your partner .* has lost the connection/.test(document.querySelector('#live').textContent)"
    )
    friend.goto(address)
    host.wait_for_selector("[data-notice=back]")
    host.wait_for_selector("[data-seat='2'] .seat-flag", state="detached")
    host.wait_for_function("/Your partner .* is back/.test(document.querySelector('#live').textContent)")


def test_who_asks_for_a_rematch_meets_the_others_at_one_new_table(visit: Visit, gateway: RunningGateway) -> None:
    host, friend = _pair(visit, "Club")
    _start(host, friend)
    # Ten each can never be made, and puts the team under the Club's floor.
    bid_in_turn((host, friend), 10)
    play_out(host, friend)
    host.wait_for_selector(".game-end")
    friend.click("[data-action=again]")
    friend.wait_for_selector("[data-phase=seating]")
    expect(host.locator("[data-rematch]")).to_contain_text("plays again")
    host.wait_for_function(HEARD.format(PHRASES["rematch"]))
    assert violations(host) == []
    host.click("[data-action=again]")
    host.wait_for_selector("[data-phase=seating]")
    assert host.url == friend.url
    expect(friend.locator(".seat:not(.is-empty)")).to_have_count(2)
    assert len(gateway.fake.tables) == 2


def test_alone_a_rematch_starts_at_once(visit: Visit, gateway: RunningGateway) -> None:
    gateway.fake.start_scores = (499, 499)
    page = visit().play_now()
    while True:
        play_hand(page, 1)
        if gateway.table.seen().phase == "ended":
            break
        page.click("[data-action=ready]")
    page.click("[data-action=again]")
    page.wait_for_selector("[data-phase=playing] [data-action=bid]")
    assert len(gateway.fake.tables) == 2


def test_the_queue_offers_bots_and_brings_one_to_a_seat(visit: Visit, gateway: RunningGateway) -> None:
    page = visit().sign_up()
    page.select_option("[name=queue-stake]", "50")
    page.click("[data-action=queue]")
    expect(page.locator("[data-queue=waiting]")).to_contain_text("0:0")
    page.click("[data-action=stop-waiting]")
    page.wait_for_selector("[data-action=queue]")
    assert gateway.fake.people.queue == {}
    page.click("[data-action=queue]")
    gateway.fake.people.bots_offered = True
    page.wait_for_selector("[data-action=accept-bots]")
    assert violations(page) == []
    page.click("[data-action=accept-bots]")
    page.wait_for_selector("[data-phase=playing] [data-action=bid]")
    assert "stake 50" in page.locator(".bar-title").inner_text()
    # The seed that was promised in the queue is the one that goes into the deal.
    assert gateway.table.told_of("seeds_fixed")[0]["seed_missing"] == [False] * 4
    assert gateway.table.told_of("seat_taken")[0]["holder"]["seed_commit"]


def test_four_in_the_queue_meet_at_one_table(visit: Visit, gateway: RunningGateway) -> None:
    for number in range(3):
        account = gateway.fake.people.add(f"Robot {number}", guest=False)
        wish = {"state": "waiting", "ruleset": "deniro", "stake_coins": 20, "bots_accepted": False}
        gateway.fake.people.queue[account.account_id] = wish | {"since_ms": 0, "table_id": None}
    page = visit().sign_up()
    page.click("[data-action=queue]")
    page.wait_for_selector("[data-phase=starting], [data-phase=playing]")
    assert len(gateway.table.people()) == 4
