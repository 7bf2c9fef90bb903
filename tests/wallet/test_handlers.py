"""The wallet on a real PostgreSQL: what each record does, once, however often and together it comes."""

import asyncio
import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from spades_events import CE_TYPES, Envelope, Topic, encode, headers_of
from spades_events.commands import GrantCoins, OpenAccount
from spades_events.events import SeatRefused, SeatTaken, TrickTaken
from spades_events.values import SeatHolder
from spades_events.wallet import (
    AccountOpened,
    FeeTaken,
    HoldPlaced,
    HoldRefused,
    HoldsCaptured,
    HoldVoided,
    Settlement,
    WalletEvent,
)
from spades_local.testing import Namespace
from spades_runtime import Input
from spades_wallet.audit import audit
from tests.wallet.desk import Desk, balances, codes, desk_at, game, seat
from tests.wallet.games import ABANDONED, CANCELLED, NOT_STARTED, WIN_0, WIN_1, CoinGame, every_game

pytestmark = pytest.mark.real


async def spent_and_rows(desk: Desk, of: CoinGame) -> tuple[dict[str, int], int]:
    cursor = await desk.db.execute("SELECT count(*) FROM transfer WHERE table_id = %s", [of.table])
    found = await cursor.fetchone()
    assert found is not None
    return await balances(desk.db, [of.name(place) for place in of.people]), found[0]


async def test_a_hold_moves_stake_and_deposit_to_escrow(desk: Desk) -> None:
    of = game(stake=25)
    await seat(desk, of)
    [placed] = await desk.tell(of, of.reserved(0))
    assert isinstance(placed, HoldPlaced)
    assert (placed.stake_coins, placed.deposit_coins) == (25, 3)
    [balance] = placed.accounts
    assert (balance.entry_no, balance.available_coins, balance.held_coins, balance.change_coins) == (2, 972, 28, -28)
    [(_, envelope)] = desk.published()
    assert (envelope.id, envelope.sequence, envelope.subject) == (f"{of.table}:1", 1, of.table)


async def test_a_hold_beyond_the_balance_says_what_is_needed_and_there(desk: Desk) -> None:
    of = game(stake=1_000)
    await seat(desk, of)
    [refused] = await desk.tell(of, of.reserved(0))
    assert isinstance(refused, HoldRefused)
    assert (refused.code, refused.needed_coins, refused.available_coins) == ("insufficient_balance", 1_100, 1_000)
    assert (await balances(desk.db, [of.name(0)]))[of.name(0)] == 1_000


async def test_a_hold_without_an_account_is_refused(desk: Desk) -> None:
    of = game()
    [refused] = await desk.tell(of, of.reserved(0))
    assert isinstance(refused, HoldRefused)
    assert (refused.code, refused.needed_coins, refused.available_coins) == ("no_account", 110, 0)


async def test_one_is_seated_at_one_coin_game_at_a_time(desk: Desk) -> None:
    first = game()
    await seat(desk, first)
    other = game(names=(first.name(0),))
    await desk.tell(first, first.reserved(0))
    assert codes(await desk.tell(other, other.reserved(0))) == ["seated_elsewhere"]
    await desk.tell(first, first.locked())
    third = game(names=(first.name(0),))
    assert codes(await desk.tell(third, third.reserved(0))) == ["seated_elsewhere"]
    # Who has left a game has paid for it, and is free.
    await desk.tell(first, first.forfeited(0))
    fourth = game(names=(first.name(0),))
    assert [type(event) for event in await desk.tell(fourth, fourth.reserved(0))] == [HoldPlaced]


async def test_sixteen_tables_race_for_one_player_and_one_gets_the_hold(ledger: Namespace, desk: Desk) -> None:
    name = "raced-for"
    await desk.ask(name, OpenAccount())
    tables = [game(names=(name,)) for _ in range(16)]
    contexts = [desk_at(ledger, part) for part in range(1, 17)]
    desks = [await context.__aenter__() for context in contexts]
    told = await asyncio.gather(*(d.tell(of, of.reserved(0)) for d, of in zip(desks, tables, strict=True)))
    kinds = [type(events[0]) for events in told]
    assert kinds.count(HoldPlaced) == 1
    assert [event.code for [event] in told if isinstance(event, HoldRefused)] == ["seated_elsewhere"] * 15
    assert (await balances(desk.db, [name]))[name] == 890
    for context in contexts:
        await context.__aexit__(None, None, None)


async def test_a_reservation_given_up_or_refused_returns_its_hold_once(desk: Desk) -> None:
    of = game()
    await seat(desk, of)
    await desk.tell(of, of.reserved(0))
    refused = SeatRefused(reservation_id=of.reservation(0), seat=0, account_id=of.name(0), code="reservation_expired")
    [voided] = await desk.tell(of, refused, of.released(0), refused)
    assert isinstance(voided, HoldVoided)
    assert (voided.returned_coins, voided.accounts[0].available_coins, voided.accounts[0].held_coins) == (110, 1_000, 0)


async def test_a_refused_reservation_told_again_is_not_held_later(desk: Desk) -> None:
    of = game(stake=1_000)
    await seat(desk, of)
    reserved = desk.fact(of.table, of.reserved(0))
    await desk.handle(reserved)
    await desk.ask(of.name(0), GrantCoins(amount_coins=5_000, reason="a test"))
    assert await desk.handle(reserved._replace(offset=reserved.offset + 1_000)) == []
    assert (await balances(desk.db, [of.name(0)]))[of.name(0)] == 6_000


async def test_all_holds_and_the_houses_stakes_are_captured_together(desk: Desk) -> None:
    of = game(people=(0, 2))
    await seat(desk, of)
    before = (await balances(desk.db, []))["house"]
    await desk.tell(of, of.reserved(0), of.reserved(2))
    [captured] = await desk.tell(of, of.locked())
    assert isinstance(captured, HoldsCaptured)
    assert captured.pot_coins == 400
    assert (await balances(desk.db, []))["house"] == before - 200
    cursor = await desk.db.execute("SELECT balance FROM account WHERE id = %s", [f"pot:{of.table}"])
    assert await cursor.fetchone() == (400,)


async def test_without_all_holds_nothing_is_captured_and_the_cancellation_returns_what_there_is(desk: Desk) -> None:
    of = game(people=(0, 1), end=NOT_STARTED)
    await seat(desk, of)
    await desk.tell(of, of.reserved(0))
    assert await desk.tell(of, of.locked()) == []
    only = CoinGame(table=of.table, stake=100, people=(0,), end=NOT_STARTED)
    [settled] = await desk.tell(of, only.ended())
    assert isinstance(settled, Settlement)
    assert (await balances(desk.db, [of.name(0)]))[of.name(0)] == 1_000


@pytest.mark.parametrize(
    "how",
    [
        {"people": (0, 1, 2, 3), "end": WIN_0, "leaves": (0, 3)},
        {"people": (0, 1), "end": WIN_1},
        {"people": (1,), "leaves": (1,), "end": ABANDONED},
        {"people": (0, 2, 3), "end": CANCELLED, "leaves": (3,)},
        {"people": (0, 1, 2), "end": NOT_STARTED, "captured": False},
    ],
)
async def test_every_record_delivered_twice_has_one_effect(desk: Desk, how: dict[str, Any]) -> None:
    of = game(**how)
    await seat(desk, of)
    before = await balances(desk.db, [of.name(place) for place in of.people])
    records = [desk.fact(of.table, fact) for fact in of.facts()]
    told: list[WalletEvent] = []
    for record in records:
        told += await desk.handle(record, record._replace(offset=record.offset + 1_000))
    once, rows = await spent_and_rows(desk, of)
    assert {name: once[name] - before[name] for name in of.nets()} == of.nets()
    assert len([event for event in told if isinstance(event, Settlement)]) == 1
    # And the whole stream again, as a replaced log would bring it.
    assert await desk.handle(*(record._replace(offset=record.offset + 5_000) for record in records)) == []
    assert await spent_and_rows(desk, of) == (once, rows)


async def test_a_whole_game_in_one_poll_is_the_same_game(desk: Desk) -> None:
    of = game(people=(0, 1, 2, 3), leaves=(1,), end=WIN_1)
    await seat(desk, of)
    told = await desk.tell(of, *of.facts())
    assert [type(event) for event in told] == [*[HoldPlaced] * 4, HoldsCaptured, FeeTaken, Settlement]
    assert [envelope.sequence for _, envelope in desk.published()] == list(range(1, 8))
    found = await balances(desk.db, [of.name(place) for place in of.people])
    assert {of.name(place): found[of.name(place)] - 1_000 for place in of.people} == {
        name: coins for name, coins in of.nets().items() if name not in ("house", "fees")
    }


async def test_every_way_a_game_can_go_is_settled_right_in_the_ledger_itself(desk: Desk) -> None:
    every = [replace(of, table=f"every-{of.table}") for of in every_game(stakes=(25,))]
    for start in range(0, len(every), 20):
        some = every[start : start + 20]
        people = [of.name(place) for of in some for place in of.people]
        await desk.handle(*(desk.command(name, OpenAccount()) for name in people))
        before = await balances(desk.db, people)
        await desk.handle(*(desk.fact(of.table, fact) for of in some for fact in of.facts()))
        after = await balances(desk.db, people)
        expected = Counter(before)
        for of in some:
            expected.update(of.nets())
        assert after == {name: expected[name] for name in before}
    report = await audit(desk.db)
    assert report.faults == []
    cursor = await desk.db.execute("SELECT coalesce(sum(balance), 0)::int FROM account WHERE table_id LIKE 'every-%%'")
    assert await cursor.fetchone() == (0,)


async def test_entry_numbers_of_a_player_rise_by_one_over_all_tables(desk: Desk) -> None:
    name = "counted"
    numbers = [event.accounts[0].entry_no for event in await desk.ask(name, OpenAccount())]
    for _ in range(3):
        of = game(names=(name,))
        for event in await desk.tell(of, *of.facts()):
            numbers += [balance.entry_no for balance in event.accounts]
    # Each game: one entry for the hold, two for deposit and winnings.
    assert numbers == [1, 2, 4, 5, 7, 8, 10]
    cursor = await desk.db.execute(
        "SELECT CASE WHEN debit = %s THEN debit_entry_no ELSE credit_entry_no END FROM transfer"
        " WHERE %s IN (debit, credit) ORDER BY seq",
        [name, name],
    )
    assert [number for (number,) in await cursor.fetchall()] == list(range(1, 11))


async def test_a_game_settles_once_and_another_ending_of_it_is_set_aside(desk: Desk) -> None:
    of = game(end=WIN_0)
    await seat(desk, of)
    await desk.tell(of, *of.facts())
    other = CoinGame(table=of.table, stake=of.stake, people=of.people, end=WIN_1)
    assert await desk.tell(of, other.ended()) == []
    assert desk.parked() == ["conflict: settle was asked for before, otherwise"]
    cancelled = CoinGame(table=of.table, stake=of.stake, people=of.people, end=CANCELLED)
    assert await desk.tell(of, cancelled.ended()) == []
    assert (await balances(desk.db, [of.name(0)]))[of.name(0)] == 1_100


async def test_a_table_without_stake_is_passed_over_and_writes_nothing(desk: Desk) -> None:
    of = game(stake=0)
    taken = SeatTaken(holder=SeatHolder(seat=0, account_id="someone"))
    trick = TrickTaken(trick_no=1, leader=0, winner=0, cards=("AS", "2S", "3S", "4S"))
    told = await desk.handle(
        desk.fact(of.table, taken),  # type: ignore[arg-type]
        desk.fact(of.table, of.locked()),
        desk.fact(of.table, trick),  # type: ignore[arg-type]
        desk.fact(of.table, of.ended()),
    )
    assert (told, desk.parked()) == ([], [])
    cursor = await desk.db.execute("SELECT count(*) FROM answer WHERE stream = %s", [of.table])
    assert await cursor.fetchone() == (0,)


def unreadable(desk: Desk, topic: str, subject: str, ce_type: str, body: bytes) -> Input:
    return desk.record(topic, Envelope(id="x1", type=ce_type, source="/x", subject=subject), body)


@pytest.mark.parametrize(
    ("ce_type", "body"),
    [
        ("spades.open_account.v1", b"not json"),
        ("spades.open_account.v9", b"{}"),
        ("spades.grant_coins.v1", b'{"amount_coins":1.5,"reason":"x"}'),
        ("spades.grant_coins.v1", b'{"amount_coins":"5","reason":"x"}'),
        ("spades.place_bid.v1", b'{"turn_id":"1","bid":3}'),
        ("", b""),
    ],
)
async def test_an_unreadable_command_is_set_aside_and_the_others_go_on(desk: Desk, ce_type: str, body: bytes) -> None:
    bad = unreadable(desk, Topic.WALLET_COMMANDS, "gus", ce_type, body)
    [opened] = await desk.handle(bad, desk.command(game().table, OpenAccount()))
    assert isinstance(opened, AccountOpened)
    assert len(desk.parked()) == 1


@pytest.mark.parametrize(
    ("ce_type", "body"),
    [
        ("spades.seat_reserved.v1", b"not json"),
        ("spades.seat_reserved.v2", b"{}"),
        ("spades.game_ended.v1", b'{"winner":7}'),
    ],
)
async def test_an_unreadable_event_that_concerns_coins_holds_up_its_table_and_no_other(
    desk: Desk, ce_type: str, body: bytes
) -> None:
    stuck, other = game(), game()
    await seat(desk, stuck)
    await seat(desk, other)
    bad = unreadable(desk, Topic.TABLE_EVENTS, stuck.table, ce_type, body)
    told = await desk.handle(bad, desk.fact(stuck.table, stuck.reserved(0)), desk.fact(other.table, other.reserved(0)))
    assert [event.account_id for event in told if isinstance(event, HoldPlaced)] == [other.name(0)]
    assert len(desk.parked()) == 2
    assert stuck.table in desk.owned.quarantined


async def test_an_unreadable_event_without_coins_is_none_of_the_wallets_business(desk: Desk) -> None:
    bad = unreadable(desk, Topic.TABLE_EVENTS, "some-table", "spades.card_played.v9", b"not json")
    assert await desk.handle(bad) == []
    assert desk.parked() == []


async def test_an_ending_that_contradicts_the_ledger_pays_nobody_and_waits_for_a_person(desk: Desk) -> None:
    of, fine = game(people=(0, 1)), game()
    await seat(desk, of)
    await seat(desk, fine)
    await desk.tell(of, of.reserved(0), of.reserved(1), of.locked())
    stolen = CoinGame(table=of.table, stake=1_000, people=(0, 1))
    told = await desk.handle(desk.fact(fine.table, fine.reserved(0)), desk.fact(of.table, stolen.ended()))
    assert [type(event) for event in told] == [HoldPlaced]
    assert desk.parked() == ["contradicts the ledger: the pot is not four stakes"]
    cursor = await desk.db.execute("SELECT balance FROM account WHERE id = %s", [f"pot:{of.table}"])
    assert await cursor.fetchone() == (400,)


async def test_a_key_that_is_not_the_subject_is_set_aside(desk: Desk) -> None:
    envelope = Envelope(id="c1", type=CE_TYPES[OpenAccount], source="/x", subject="hal")
    await desk.handle(Input(Topic.WALLET_COMMANDS, 0, 9_000, b"ida", encode(OpenAccount()), headers_of(envelope)))
    assert desk.parked() == ["the record's key is not its subject"]


async def test_one_bad_record_of_a_batch_is_judged_alone_and_stops_no_other(desk: Desk) -> None:
    good, bad = game(), game()
    await seat(desk, good)
    await seat(desk, bad)
    # Its key is taken by another request, which only the ledger itself knows.
    await _forge(desk, f"hold:{bad.reservation(0)}")
    told = await desk.handle(desk.fact(good.table, good.reserved(0)), desk.fact(bad.table, bad.reserved(0)))
    assert [event.account_id for event in told if isinstance(event, HoldPlaced)] == [good.name(0)]
    assert bad.table in desk.owned.quarantined
    assert (await balances(desk.db, [bad.name(0)]))[bad.name(0)] == 1_000 - 1


async def _forge(desk: Desk, key: str) -> None:
    """Post a transfer under a key that a later request will want."""
    account = f"{key.split(':')[1]}-u0"
    forged = {
        "part": 0, "key": key, "fingerprint": "cd" * 32, "debit": account, "credit": "fees",
        "amount": 1, "code": "fee", "table_id": "elsewhere", "at_ms": 1,
    }  # fmt: skip
    await desk.db.execute("SELECT FROM post(%s::jsonb)", [json.dumps([forged])])
