"""Commands about one account on a real PostgreSQL: each once, however often it comes."""

import pytest

from spades_events import CE_TYPES, Envelope, Topic, encode
from spades_events.commands import CloseAccount, GrantCoins, OpenAccount, TopUp
from spades_events.wallet import (
    AccountClosed,
    AccountOpened,
    CoinsGranted,
    WalletCommandRefused,
)
from spades_wallet.decision import Terms
from tests.wallet.desk import DAY_MS, Desk, balances, codes, game, seat

pytestmark = pytest.mark.real


async def test_an_account_is_opened_with_the_welcome_grant_once(desk: Desk) -> None:
    [opened] = await desk.ask("ann", OpenAccount(), "c-open")
    assert isinstance(opened, AccountOpened)
    assert (opened.grant_coins, opened.command_id) == (1_000, "c-open")
    [balance] = opened.accounts
    assert (balance.entry_no, balance.available_coins, balance.held_coins, balance.change_coins) == (1, 1_000, 0, 1_000)
    [(_, envelope)] = desk.published()
    assert (envelope.id, envelope.sequence, envelope.subject) == ("ann:1", 1, "ann")
    assert codes(await desk.ask("ann", OpenAccount(), "c-again")) == ["already_open"]
    assert (await balances(desk.db, ["ann"]))["ann"] == 1_000


@pytest.mark.parametrize("name", ["house", "fees", "issuer", "bot", "hold:t:0:1", "pot:t", "x" * 81])
async def test_nobody_opens_an_account_that_is_the_systems_own(desk: Desk, name: str) -> None:
    assert codes(await desk.ask(name, OpenAccount())) == ["bad_account"]


async def test_the_same_command_again_has_the_same_answer_and_another_body_is_a_conflict(desk: Desk) -> None:
    await desk.ask("bea", OpenAccount())
    first = await desk.ask("bea", GrantCoins(amount_coins=50, reason="won a raffle"), "c1")
    assert await desk.ask("bea", GrantCoins(amount_coins=50, reason="won a raffle"), "c1") == first
    [(_, envelope)] = desk.published()
    assert envelope.sequence == 2
    assert codes(await desk.ask("bea", GrantCoins(amount_coins=60, reason="won a raffle"), "c1")) == ["conflict"]
    assert (await balances(desk.db, ["bea"]))["bea"] == 1_050
    cursor = await desk.db.execute("SELECT note FROM transfer WHERE credit = 'bea' AND code = 'grant'")
    assert await cursor.fetchall() == [("won a raffle (by olga)",)]


async def test_the_same_command_twice_in_one_poll_is_one_effect(desk: Desk) -> None:
    await desk.ask("cat", OpenAccount())
    grant = desk.command("cat", GrantCoins(amount_coins=50, reason="a test"), "c1")
    told = await desk.handle(grant, grant._replace(offset=grant.offset + 100))
    assert told[0] == told[1]
    assert (await balances(desk.db, ["cat"]))["cat"] == 1_050


async def test_a_refused_command_is_refused_the_same_way_again(desk: Desk) -> None:
    first = await desk.ask("nobody", TopUp(day="2026-01-01"), "c1")
    assert codes(first) == ["no_account"]
    [(_, envelope)] = desk.published()
    assert envelope.sequence is None
    await desk.ask("nobody", OpenAccount(), "c2")
    assert await desk.ask("nobody", TopUp(day="2026-01-01"), "c1") == first


async def test_a_refusal_takes_no_version_of_the_stream(desk: Desk) -> None:
    await desk.ask("dan", OpenAccount())
    await desk.ask("dan", OpenAccount())
    await desk.ask("dan", GrantCoins(amount_coins=1, reason="a test"))
    [(_, envelope)] = desk.published()
    assert envelope.sequence == 2


async def test_the_top_up_comes_once_a_day_and_only_below_the_threshold(desk: Desk) -> None:
    of = game(stake=900)
    await seat(desk, of)
    name = of.name(0)
    assert codes(await desk.ask(name, TopUp(day="2026-01-01"))) == ["enough_coins"]
    await desk.tell(of, of.reserved(0), of.locked())
    # 10 available, 990 held: staked coins are still the player's.
    assert codes(await desk.ask(name, TopUp(day="2026-01-01"))) == ["enough_coins"]
    await desk.tell(of, of.forfeited(0))
    assert codes(await desk.ask(name, TopUp(day="2026-01-03"))) == ["wrong_day"]
    assert codes(await desk.ask(name, TopUp(day="2025-12-30"))) == ["wrong_day"]
    [granted] = await desk.ask(name, TopUp(day="2026-01-01"))
    assert isinstance(granted, CoinsGranted)
    assert (granted.amount_coins, granted.accounts[0].available_coins) == (500, 510)
    assert codes(await desk.ask(name, TopUp(day="2026-01-01"))) == ["already_topped_up"]


async def test_two_top_ups_of_one_day_in_one_poll_are_one(desk: Desk) -> None:
    desk.wallet.terms = Terms(welcome_grant_coins=0)
    await desk.ask("eve", OpenAccount())
    told = await desk.handle(*(desk.command("eve", TopUp(day="2026-01-01")) for _ in range(3)))
    assert [type(event) for event in told] == [CoinsGranted, WalletCommandRefused, WalletCommandRefused]
    desk.now_ms += DAY_MS
    assert codes(await desk.ask("eve", TopUp(day="2026-01-02"))) == ["enough_coins"]
    assert (await balances(desk.db, ["eve"]))["eve"] == 500


async def test_yesterdays_top_up_may_still_come_behind_a_slow_queue(desk: Desk) -> None:
    desk.wallet.terms = Terms(welcome_grant_coins=0)
    await desk.ask("late", OpenAccount())
    desk.now_ms += DAY_MS
    assert [type(event) for event in await desk.ask("late", TopUp(day="2026-01-01"))] == [CoinsGranted]


async def test_a_closed_account_gives_all_back_and_takes_nothing_more(desk: Desk) -> None:
    of = game()
    await seat(desk, of)
    name = of.name(0)
    await desk.tell(of, of.reserved(0))
    assert codes(await desk.ask(name, CloseAccount())) == ["holds_open"]
    await desk.tell(of, of.released(0))
    [closed] = await desk.ask(name, CloseAccount())
    assert isinstance(closed, AccountClosed)
    assert (closed.returned_coins, closed.accounts[0].available_coins) == (1_000, 0)
    assert codes(await desk.ask(name, GrantCoins(amount_coins=5, reason="a test"))) == ["account_closed"]
    assert codes(await desk.ask(name, OpenAccount())) == ["already_open"]
    later = game(names=(name,))
    assert codes(await desk.tell(later, later.reserved(0))) == ["no_account"]


@pytest.mark.parametrize("amount", [0, 1_000_000_001, 2**53 - 1])
async def test_a_grant_is_positive_and_bounded(desk: Desk, amount: int) -> None:
    await desk.ask("fay", OpenAccount())
    assert codes(await desk.ask("fay", GrantCoins(amount_coins=amount, reason="a test"))) == ["amount_out_of_range"]


async def test_nobody_grants_coins_to_themselves(desk: Desk) -> None:
    await desk.ask("ivo", OpenAccount())
    for actor in ("ivo", None):
        grant = Envelope(
            id=f"own-{actor}", type=CE_TYPES[GrantCoins], source="/spades/lobby", subject="ivo", actor=actor
        )
        body = encode(GrantCoins(amount_coins=5, reason="a present"))
        assert codes(await desk.handle(desk.record(Topic.WALLET_COMMANDS, grant, body))) == ["not_an_operator"]
