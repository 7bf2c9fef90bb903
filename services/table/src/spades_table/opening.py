"""Opening a table: what a host may choose, and the deal chain's anchor before anybody sits."""

from typing import Final

import spades_rules as rules
from spades_events.commands import OpenTable
from spades_events.events import TableOpened
from spades_events.values import DeadlineKind, TableKind
from spades_rules import OptionRefused, Ruleset
from spades_table.draft import Draft
from spades_table.house import CLOCK_CHOICE_MS, STAKE_MAX_COINS, Limits
from spades_table.phases import Unopened
from spades_table.refusals import refused

ROOT_BYTES: Final = 32

COIN_KINDS: Final = (TableKind.COINS, TableKind.ONLINE)

PRIVATE_CHOICES: Final = frozenset({("club", "target", 300)})
"""Choices of a preset that only the host of a private table has (RULES.md, its table)."""


def fee_of(stake_coins: int) -> int:
    """The leaving fee and deposit: 10 % of the stake, rounded up to a whole coin."""
    return (stake_coins + 9) // 10


def open_table(draft: Draft, host: str, command: OpenTable, chance: bytes) -> None:
    """Open the table; `chance` is the root of its deal chain, 32 fresh random bytes."""
    table = draft.table
    if not isinstance(table, Unopened):
        raise refused("conflict", "This table is open already.")
    assert len(chance) == ROOT_BYTES
    ruleset = _ruleset_of(command)
    limits = table.house.limits
    _check_stake(command)
    opened = TableOpened(
        kind=command.kind,
        ruleset=command.ruleset,
        rules_version=table.house.rules_version,
        stake_coins=command.stake_coins,
        fee_coins=fee_of(command.stake_coins),
        clock_ms=_clock_of(command, limits),
        host=host,
        bots_welcome=command.bots_welcome or command.kind is not TableKind.ONLINE,
        anchor=rules.anchor(chance).hex(),
    )
    assert ruleset.hands_max <= rules.HANDS_MAX
    draft.tell(opened, secret=chance)
    draft.set_deadline(draft.now_ms + limits.closing_ms, DeadlineKind.CLOSING)


def _ruleset_of(command: OpenTable) -> Ruleset:
    choice = command.ruleset
    try:
        ruleset = rules.ruleset(choice.name, choice.options)
    except OptionRefused as refusal:
        raise refused("option_refused", field=refusal.field) from None
    if command.kind is not TableKind.PRIVATE:
        for field, value in choice.options.items():
            if (choice.name, field, value) in PRIVATE_CHOICES:
                words = "Only the host of a private table has that choice."
                raise refused("option_refused", words, field=field)
    return ruleset


def _check_stake(command: OpenTable) -> None:
    if command.kind in COIN_KINDS:
        if not 1 <= command.stake_coins <= STAKE_MAX_COINS:
            words = f"The stake is a whole number of coins, 1 to {STAKE_MAX_COINS}."
            raise refused("option_refused", words, field="stake_coins")
    elif command.stake_coins:
        raise refused("option_refused", "No coins at such a table.", field="stake_coins")


def _clock_of(command: OpenTable, limits: Limits) -> int | None:
    """The turn limit: the kind's own, or the host's choice where there is one."""
    chosen = command.clock_ms
    if command.kind is TableKind.COINS:
        if chosen not in (None, limits.clock_coins_ms):
            words = "The clock against the computer is fixed."
            raise refused("option_refused", words, field="clock_ms")
        return limits.clock_coins_ms
    if chosen is None:
        return None if command.kind is TableKind.PRACTICE else limits.clock_online_ms
    least, greatest = CLOCK_CHOICE_MS
    if not least <= chosen <= greatest:
        words = f"The clock is {least} to {greatest} ms."
        raise refused("option_refused", words, field="clock_ms")
    return chosen
