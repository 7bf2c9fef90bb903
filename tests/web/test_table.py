"""The table's harder hours: Blind Nil, a lost line, the clock, coins, people leaving, other people."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from spades_events.commands import OpenTable
from spades_events.values import RulesetChoice, TableKind
from tests.web.conftest import RunningGateway, Visitor
from tests.web.fake_table import Pace
from tests.web.playing import bid, bid_in_turn, play_card, play_hand, play_tricks, press_card, swap
from tests.web.test_access import violations

pytestmark = pytest.mark.browser
Visit = Callable[..., Visitor]


def own_seat(gateway: RunningGateway) -> int:
    seat = gateway.table.seat_of(next(iter(gateway.fake.people.accounts)))
    assert seat is not None
    return seat


def test_blind_nil_is_bid_from_face_down_cards_and_swaps_two(visit: Visit, gateway: RunningGateway) -> None:
    gateway.fake.start_scores = (150, 280)
    page = visit().play_now("Club")
    page.wait_for_selector(".hand.is-face-down")
    assert page.locator(".hand.is-face-down .card").count() == 13
    bid(page, "blind_nil")
    page.wait_for_selector("[data-action=pass]")
    assert page.locator(".hand [data-card]").count() == 13
    # Nobody leads before the marks are counted.
    gateway.fake.pace.bots_wait_at = "play"
    swap(page)
    page.wait_for_selector(".new-mark")
    expect(page.locator(".new-mark")).to_have_count(2)
    expect(page.locator(".hand [data-card]")).to_have_count(13)
    gateway.fake.pace.bots_wait_at = ""
    play_tricks(page)
    page.wait_for_selector(".hand-end")
    assert "Blind Nil" in page.locator(".hand-end").inner_text()
    page.click("[data-action=menu]")
    page.click("[data-page=check]")
    page.wait_for_selector("[data-check=ok]")
    assert page.locator("[data-step^=swap]").count() == 2


def test_looking_gives_up_blind_nil(visit: Visit, gateway: RunningGateway) -> None:
    gateway.fake.start_scores = (150, 280)
    page = visit().play_now("Club")
    page.click("[data-action=look]")
    page.wait_for_selector(".hand [data-card]")
    page.wait_for_selector("[data-bid='3']")
    assert page.locator("[data-bid=blind_nil]").count() == 0
    bid(page, 1)


def test_a_cut_line_resumes_without_a_reload(visit: Visit, gateway: RunningGateway) -> None:
    page = visit().play_now()
    bid(page)
    play_card(page)
    page.wait_for_selector(".hand.is-own-turn")
    before = page.locator(".hand").inner_html()
    mark = page.evaluate("window.mark = Math.random()")
    gateway.run(gateway.fake.drop_sockets)
    play_tricks(page, 12)
    page.wait_for_selector(".hand-end")
    assert page.evaluate("window.mark") == mark
    assert before


def test_a_move_made_while_the_line_is_down_is_made_once(visit: Visit, gateway: RunningGateway) -> None:
    page = visit().play_now()
    bid(page)
    page.wait_for_selector(".hand.is-own-turn")
    card = page.locator(".hand .card.is-legal").first
    name = card.get_attribute("data-card")
    gateway.run(gateway.fake.drop_sockets)
    card.click()
    page.wait_for_selector(f".hand [data-card='{name}']", state="detached")
    played = [told for told in gateway.table.told_of("card_played") if told["card"] == name]
    assert len(played) == 1


def test_a_reload_in_the_middle_of_a_trick_keeps_everything(visit: Visit, gateway: RunningGateway) -> None:
    page = visit().play_now()
    bid(page)
    play_tricks(page, 3)
    page.wait_for_selector(".hand.is-own-turn")
    cards = [card.get_attribute("data-card") for card in page.locator(".hand [data-card]").all()]
    trick = [card.get_attribute("data-card") for card in page.locator(".trick-card").all()]
    lines = page.locator(".seat-bid").all_inner_texts()
    page.reload()
    page.wait_for_selector(".hand.is-own-turn")
    assert [card.get_attribute("data-card") for card in page.locator(".hand [data-card]").all()] == cards
    assert [card.get_attribute("data-card") for card in page.locator(".trick-card").all()] == trick
    assert page.locator(".seat-bid").all_inner_texts() == lines
    play_tricks(page, 10)
    page.wait_for_selector(".hand-end table.sheet")


def test_another_device_of_the_same_account_has_the_same_seat(visit: Visit, gateway: RunningGateway) -> None:
    first = visit()
    page = first.play_now()
    bid(page)
    page.wait_for_selector(".hand.is-own-turn")
    second = visit(390, 844, has_touch=True)
    second.context.add_cookies(first.context.cookies())  # type: ignore[arg-type]
    second.page.add_init_script("localStorage.setItem('spades.here-before', 'yes')")
    second.page.goto(page.url)
    second.page.wait_for_selector(".hand.is-own-turn")
    assert second.page.locator(".hand [data-card]").count() == 13
    play_card(second.page)


def test_the_countdown_tells_the_exact_time_left(visit: Visit, gateway: RunningGateway) -> None:
    page = visit().play_now(clock=True)
    page.wait_for_selector(".bar-turn .countdown")
    expect(page.locator(".bar-turn .countdown")).to_have_text(re.compile(r"0:[0-3]\d"))
    deadline = page.evaluate("document.querySelector('.bar-turn .countdown b').textContent")
    assert deadline


def test_a_missed_clock_is_told_and_the_third_brings_computer_speed(visit: Visit, gateway: RunningGateway) -> None:
    gateway.fake.pace = Pace(bot_ms=10, computer_speed_ms=400)
    page = visit().play_now(clock=True)
    gateway.table.hurry(300)
    bid(page)
    page.wait_for_selector("[data-notice=autoplayed]")
    expect(page.locator("[data-notice=autoplayed]")).to_contain_text("computer speed")
    page.wait_for_selector(".seat.is-south .seat-flag")


def test_a_coin_game_tells_its_price_and_takes_it(visit: Visit, gateway: RunningGateway) -> None:
    page = visit().sign_up()
    row = page.locator("li", has=page.locator("[data-stake='100']"))
    assert "Leaving a running game costs 110" in row.inner_text()
    page.click("[data-stake='100']")
    page.wait_for_selector("[data-phase=playing]")
    page.click("[data-action=leave]")
    told = page.locator("dialog").inner_text()
    assert "110 coins" in told
    assert "the fee is 10." in " ".join(told.split())
    page.click("[data-action=confirm-leave]")
    page.wait_for_selector(".balance[data-coins='890']")
    page.get_by_role("button", name="History").click()
    expect(page.locator(".entries tbody tr").first).to_contain_text("You left: 110 lost")


def test_a_stake_that_ones_coins_do_not_reach_is_not_offered(visit: Visit, gateway: RunningGateway) -> None:
    page = visit().sign_up()
    account = next(iter(gateway.fake.people.accounts.values()))
    expect(page.locator("[data-stake='1000']")).to_be_disabled()
    account.available_coins = 60
    # The balance is looked at anew all the time.
    expect(page.locator("[data-stake='100']")).to_be_disabled()
    expect(page.locator("li", has=page.locator("[data-stake='100']"))).to_contain_text("You need 110 coins")
    expect(page.locator("[data-stake='50']")).to_be_enabled()
    page.select_option("[name=stake]", "100")
    expect(page.locator("[data-action=open-online]")).to_be_disabled()
    page.select_option("[name=queue-stake]", "100")
    expect(page.locator("[data-action=queue]")).to_be_disabled()
    assert violations(page) == []
    assert gateway.fake.tables == {}


def test_a_table_that_the_wallet_refuses_is_left_and_closed(visit: Visit, gateway: RunningGateway) -> None:
    page = visit().sign_up()
    # The page believes in more coins than there are, as it may for a moment.
    page.route("**/v1/wallet", lambda route: route.fulfill(json={"available_coins": 1000, "held_coins": 0}))
    next(iter(gateway.fake.people.accounts.values())).available_coins = 60
    page.click("[data-stake='100']")
    expect(page.locator(".problem")).to_contain_text("You need 110 coins")
    assert page.url.endswith("#/")
    assert [table.seen().phase for table in gateway.fake.tables.values()] == ["ended"]


def test_a_table_that_nobody_can_join_yet_is_not_called_playing(visit: Visit, gateway: RunningGateway) -> None:
    async def opened_by_another() -> None:
        other = gateway.fake.people.add("Robin", guest=False)
        ruleset = RulesetChoice(name="club", options={})
        gateway.fake.open(other, OpenTable(kind=TableKind.COINS, ruleset=ruleset, stake_coins=10))

    gateway.run(opened_by_another)
    row = visit().sign_up().locator("[aria-labelledby=open-title] li")
    expect(row).to_contain_text("seats being taken")
    expect(row).not_to_contain_text("playing")


def test_who_leaves_an_untimed_table_hears_of_no_clock_and_of_the_table_no_more(visit: Visit) -> None:
    page = visit().play_now()
    bid(page)
    page.wait_for_function("document.querySelector('#live').textContent.includes('You bid')")
    page.click("[data-action=leave]")
    told = page.locator("dialog").inner_text()
    assert "your seat stays yours" in told
    assert "clock" not in told
    page.click("[data-action=confirm-leave]")
    page.wait_for_selector("[data-action=play-now]")
    expect(page.locator("#live")).to_be_empty()


def test_on_a_phone_a_word_hides_neither_ones_own_turn_nor_the_middle(visit: Visit) -> None:
    page = visit(390, 844, has_touch=True).play_now()
    press_card(page, page.locator(".hand [data-card]").first)
    page.wait_for_selector(".toast")
    over = page.evaluate(
        """[".seat.is-south", ".bar-turn", ".middle"].filter((selector) => {
            const [a, b] = [".toast", selector].map((one) => document.querySelector(one).getBoundingClientRect());
            return a.top < b.bottom && b.top < a.bottom;
        })"""
    )
    assert over == []


def test_a_replay_names_the_seats_as_its_table_does_and_fills_the_page(visit: Visit, gateway: RunningGateway) -> None:
    visitor = visit(1280, 1600)
    page = visitor.play_now()
    bid(page)
    page.goto(f"{visitor.url}/#/replay/{gateway.table.table_id}")
    for seat in range(4):
        page.select_option(".replay select", str(seat))
        page.wait_for_selector(f".seat.is-south[data-seat='{seat}']")
        named = [
            page.locator(f".replay [data-seat='{one}'] .seat-name").inner_text().removesuffix(" (you)")
            for one in range(4)
        ]
        assert page.locator(".replay option").all_inner_texts() == named
        assert page.locator(".replay-hands h2").all_inner_texts() == [named[seat]]
    page.wait_for_function(
        "document.querySelector('.replay-controls').getBoundingClientRect().bottom >= innerHeight - 1"
    )


def test_a_won_coin_game_shows_the_payout(visit: Visit, gateway: RunningGateway) -> None:
    gateway.fake.start_scores = (495, 495)
    page = visit().sign_up()
    page.click("[data-stake='50']")
    page.wait_for_selector("[data-phase=playing]")
    for _ in range(6):
        play_hand(page, 1)
        if gateway.table.seen().phase == "ended":
            break
        page.click("[data-action=ready]")
    page.wait_for_selector(".payout")
    won = gateway.table.seen().winner == own_seat(gateway) % 2
    assert page.locator(".payout").get_attribute("data-net") == ("50" if won else "-50")
    assert ("You won" if won else "You lost") in page.locator(".game-end h2").inner_text()
    page.get_by_role("link", name="Home").last.click()
    page.wait_for_selector(f".balance[data-coins='{1050 if won else 950}']")


def test_a_coin_table_needs_an_account(visit: Visit) -> None:
    page = visit().home()
    assert page.locator("[data-stake='10']").is_disabled()
    assert "need an account" in page.locator("[aria-labelledby=coins-title]").inner_text()


def _friend(visit: Visit, url: str) -> Page:
    friend = visit(390, 844, has_touch=True).page
    friend.goto(url)
    return friend


def test_two_people_at_a_private_table_see_each_others_moves(visit: Visit, gateway: RunningGateway) -> None:
    host = visit().home()
    host.click("[data-action=open-private]")
    host.click("[data-sit='0']")
    host.wait_for_selector("[data-action=start]")
    friend = _friend(visit, host.locator(".invite input").input_value())
    friend.click("[data-sit='1']")
    expect(host.locator("[data-seat='1'] .seat-name")).to_contain_text("Guest")
    host.click("[data-action=start]")
    for page in (host, friend):
        page.wait_for_selector("[data-phase=playing]")
    bid_in_turn((host, friend))
    host.wait_for_selector(".seat.is-south .seat-bid:has-text('Bid 2')")
    expect(host.locator("[data-seat='1'] .seat-bid")).to_have_text(re.compile("Bid 2"))
    shown = friend.locator(".hand [data-card]").all()
    own = {card.get_attribute("data-card") for card in shown}
    assert not own & {card.get_attribute("data-card") for card in host.locator(".hand [data-card]").all()}


def test_who_leaves_is_replaced_by_a_bot_and_the_other_plays_on(visit: Visit, gateway: RunningGateway) -> None:
    host = visit().home()
    host.click("[data-action=open-private]")
    host.click("[data-sit='0']")
    host.wait_for_selector("[data-action=start]")
    friend = _friend(visit, host.locator(".invite input").input_value())
    friend.click("[data-sit='2']")
    expect(host.locator("[data-seat='2'] .seat-name")).to_contain_text("Guest")
    host.click("[data-action=start]")
    friend.wait_for_selector("[data-phase=playing]")
    friend.click("[data-action=leave]")
    friend.click("[data-action=confirm-leave]")
    friend.wait_for_selector("[data-action=play-now]")
    host.wait_for_selector("[data-notice=bot_took_seat]")
    expect(host.locator("[data-seat='2'] .seat-name")).to_contain_text("Bot")
    play_hand(host)


def test_a_watcher_sees_the_table_and_no_hand(visit: Visit, gateway: RunningGateway) -> None:
    page = visit().play_now()
    watcher = _friend(visit, page.url)
    watcher.wait_for_selector("[data-phase=playing]")
    assert "watching" in watcher.locator(".bar-title").inner_text()
    assert watcher.locator(".hand [data-card]").count() == 0
    bid(page)
    seat = own_seat(gateway)
    expect(watcher.locator(f"[data-seat='{seat}'] .seat-bid")).to_have_text(re.compile("Bid 3"))
