"""Opening a table: what a host may choose."""

from typing import Any

import pytest

import spades_rules as rules
from spades_events import commands, events
from spades_events.values import DeadlineKind, RulesetChoice, TableKind
from spades_table.house import House, Limits
from tests.table.driving import HOST, ROOT, START_MS, DrivenTable, names


def opening(kind: TableKind, **fields: Any) -> commands.OpenTable:
    choice = RulesetChoice(name=fields.pop("ruleset", "classic"), options=fields.pop("options", {}))
    return commands.OpenTable(kind=kind, ruleset=choice, **fields)


def test_a_table_opens_with_the_anchor_of_its_chain_and_a_closing_time() -> None:
    driven = DrivenTable()
    opened, deadline = driven.open(TableKind.ONLINE, stake_coins=100)
    assert opened == events.TableOpened(
        kind=TableKind.ONLINE,
        ruleset=RulesetChoice(name="classic", options={}),
        rules_version=1,
        stake_coins=100,
        fee_coins=10,
        clock_ms=30_000,
        host=HOST,
        bots_welcome=False,
        anchor=rules.anchor(ROOT).hex(),
    )
    assert deadline == events.DeadlineSet(deadline_id=2, due_ms=START_MS + 900_000, kind=DeadlineKind.CLOSING)


def test_the_chain_root_is_kept_secret_beside_the_event() -> None:
    driven = DrivenTable()
    driven.open()
    _, body, secret = driven.stored[0]
    assert secret == ROOT
    assert ROOT.hex().encode() not in body


@pytest.mark.parametrize(("stake_coins", "fee_coins"), [(1, 1), (10, 1), (15, 2), (20, 2), (101, 11), (1000, 100)])
def test_the_fee_is_a_tenth_of_the_stake_rounded_up(stake_coins: int, fee_coins: int) -> None:
    driven = DrivenTable()
    driven.open(TableKind.COINS, stake_coins=stake_coins)
    (opened,) = driven.all_of(events.TableOpened)
    assert opened.fee_coins == fee_coins


@pytest.mark.parametrize(
    ("kind", "chosen", "clock_ms"),
    [
        (TableKind.PRACTICE, None, None),
        (TableKind.PRACTICE, 90_000, 90_000),
        (TableKind.PRIVATE, None, 30_000),
        (TableKind.PRIVATE, 15_000, 15_000),
        (TableKind.PRIVATE, 120_000, 120_000),
        (TableKind.ONLINE, None, 30_000),
        (TableKind.COINS, None, 90_000),
        (TableKind.COINS, 90_000, 90_000),
    ],
)
def test_each_kind_of_table_has_its_clock(kind: TableKind, chosen: int | None, clock_ms: int | None) -> None:
    driven = DrivenTable()
    stake = 10 if kind in (TableKind.COINS, TableKind.ONLINE) else 0
    driven.open(kind, clock_ms=chosen, stake_coins=stake)
    (opened,) = driven.all_of(events.TableOpened)
    assert opened.clock_ms == clock_ms


@pytest.mark.parametrize(
    ("command", "field"),
    [
        (opening(TableKind.PRACTICE, ruleset="whist"), "preset"),
        (opening(TableKind.PRACTICE, options={"target": 400}), "target"),
        (opening(TableKind.PRACTICE, options={"jokers": True}), "jokers"),
        (opening(TableKind.PRACTICE, ruleset="club", options={"target": 300}), "target"),
        (
            opening(TableKind.COINS, ruleset="club", options={"target": 300}, stake_coins=10),
            "target",
        ),
        (opening(TableKind.PRACTICE, stake_coins=10), "stake_coins"),
        (opening(TableKind.PRIVATE, stake_coins=10), "stake_coins"),
        (opening(TableKind.COINS), "stake_coins"),
        (opening(TableKind.ONLINE), "stake_coins"),
        (opening(TableKind.ONLINE, stake_coins=2**53 - 1), "stake_coins"),
        (opening(TableKind.COINS, stake_coins=10, clock_ms=30_000), "clock_ms"),
        (opening(TableKind.PRIVATE, clock_ms=14_999), "clock_ms"),
        (opening(TableKind.PRIVATE, clock_ms=120_001), "clock_ms"),
        (opening(TableKind.PRACTICE, clock_ms=1), "clock_ms"),
    ],
)
def test_a_choice_that_the_table_does_not_offer_is_refused_with_its_field(
    command: commands.OpenTable, field: str
) -> None:
    rejection = DrivenTable().refusal(HOST, command)
    assert (rejection.code, rejection.field) == ("option_refused", field)


def test_the_host_of_a_private_club_table_may_play_to_300() -> None:
    driven = DrivenTable()
    assert names(driven.open(TableKind.PRIVATE, ruleset="club", options={"target": 300})) == [
        "TableOpened",
        "DeadlineSet",
    ]


def test_a_table_opens_once() -> None:
    driven = DrivenTable()
    driven.open()
    assert driven.refused("bob", opening(TableKind.PRACTICE)) == "conflict"


def test_nothing_can_be_asked_of_a_table_that_is_not_there() -> None:
    driven = DrivenTable()
    for command in (
        commands.TakeSeat(),
        commands.StartGame(),
        commands.PlayCard(turn_id="1:1", card="AS"),
        commands.LeaveGame(confirm_price_coins=0),
    ):
        assert driven.refused(HOST, command) == "not_found"


def test_a_table_that_is_not_full_in_time_is_cancelled() -> None:
    driven = DrivenTable(house=House(limits=Limits(closing_ms=5_000)))
    driven.open(TableKind.PRIVATE)
    driven.ask("bob", commands.TakeSeat(seat=1))
    told = driven.time_out()
    assert names(told) == ["TableCancelled"]
    assert isinstance(told[0], events.TableCancelled)
    assert told[0].reason == "not_full"
    assert [seat.account_id for seat in told[0].seats] == ["bob"]
    assert driven.now_ms == START_MS + 5_000
