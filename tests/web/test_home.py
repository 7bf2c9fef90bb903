"""Beside the table: one's account and what it can do, deal statistics."""

from collections import Counter
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from spades_lobby.games import fairness
from spades_lobby.rest import routes_statistics
from spades_rules import deal_hands
from tests.web.conftest import RunningGateway, Visitor
from tests.web.test_access import violations

pytestmark = pytest.mark.browser
Visit = Callable[..., Visitor]
OLD, NEW = "a long password", "a longer password"


def _thing(page: Page, name: str) -> Page:
    """Open one form of the account's dialog."""
    page.click("[data-action=account]")
    page.wait_for_selector(f"form[aria-label='{name}']")
    return page


def test_a_lost_password_is_replaced_by_the_code_shown_at_sign_up(visit: Visit, gateway: RunningGateway) -> None:
    page = visit().home()
    page.get_by_role("button", name="I am new here").click()
    page.fill("[name=name]", "Rosa")
    page.fill("[name=password]", OLD)
    page.get_by_role("button", name="Sign up").click()
    code = page.locator("[data-recovery]").inner_text().strip()
    assert violations(page) == []
    page.click("[data-action=noted]")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Lost password").click()
    page.fill("[name=name]", "Rosa")
    page.fill("[name=code]", code)
    page.fill("[name=password]", NEW)
    page.get_by_role("button", name="Set a new password").click()
    page.wait_for_selector("[data-recovery]")
    assert page.locator("[data-recovery]").inner_text().strip() != code
    page.click("[data-action=noted]")
    page.wait_for_selector(".balance[data-coins='1000']")


def test_password_code_and_tokens_are_changed_in_the_accounts_dialog(visit: Visit, gateway: RunningGateway) -> None:
    page = _thing(visit(390, 844).sign_up(), "Change the password")
    assert violations(page) == []
    form = page.locator("form[aria-label='Change the password']")
    form.locator("[name=password]").fill("wrong")
    form.locator("[name=new_password]").fill(NEW)
    form.locator("button").click()
    expect(form.locator(".problem")).to_be_visible()
    form.locator("[name=password]").fill(OLD)
    form.locator("button").click()
    expect(form.locator(".done")).to_contain_text("signed out")
    account = next(iter(gateway.fake.people.accounts.values()))
    assert account.password == NEW
    form = page.locator("form[aria-label='Recovery code']")
    form.locator("[name=password]").fill(NEW)
    form.locator("button").click()
    form.locator("[data-recovery]").wait_for()
    expect(form.locator("[data-recovery]")).to_have_text(account.recovery_code)
    form = page.locator("form[aria-label='Programs']")
    form.locator("[name=label]").fill("my statistics")
    form.get_by_role("button", name="Make a token").click()
    form.get_by_role("button", name="Revoke").click()
    expect(form.get_by_role("button", name="Revoke")).to_have_count(0)


def test_signing_out_everywhere_ends_this_session_too(visit: Visit, gateway: RunningGateway) -> None:
    page = _thing(visit().sign_up(), "All devices")
    page.get_by_role("button", name="Sign out everywhere").click()
    page.wait_for_selector("form[aria-label='Sign in']")
    assert gateway.fake.people.sessions == {}


def test_an_account_is_deleted_after_it_was_told_what_becomes_of_its_coins(
    visit: Visit, gateway: RunningGateway
) -> None:
    page = _thing(visit().sign_up(), "Delete the account")
    form = page.locator("form[aria-label='Delete the account']")
    assert "1,000 coins go back to the house" in " ".join(form.inner_text().split())
    form.locator("[name=password]").fill(OLD)
    form.locator("button").click()
    # Without the tick nothing happens.
    assert gateway.fake.people.accounts
    form.locator("[name=sure]").check()
    form.locator("button").click()
    page.wait_for_selector("form[aria-label='Sign in']")
    assert gateway.fake.people.accounts == {}


@pytest.mark.parametrize("width", [320, 1280])
def test_deal_statistics_show_what_was_dealt_beside_what_is_fair(
    visit: Visit, gateway: RunningGateway, width: int
) -> None:
    seeds = [bytes(32)] * 4
    deals = [deal_hands(bytes(32), f"g{n}", 1, n % 4, 0, seeds) for n in range(400)]
    counts = Counter(seen for hands in deals for seen in fairness.seen_in(0, hands))
    deck = routes_statistics.deck_view(0, counts)
    gateway.fake.statistics = {"deals": deck.deals, "decks": [deck.model_dump()]}
    visitor = visit(width, 700)
    page = visitor.page
    page.goto(f"{visitor.url}/#/statistics")
    page.wait_for_selector("[data-deals='400'] [data-odd='0']")
    assert page.locator(".measure").count() == 4
    ace = page.locator(".measure", has_text="ace of spades").locator("tbody tr")
    assert [row.locator("td").first.inner_text() for row in ace.all()] == ["100"] * 4
    assert sum(int(row.locator("td").nth(1).inner_text()) for row in ace.all()) == 400
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
