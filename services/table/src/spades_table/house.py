"""The house: how long everything may take at its tables, and the rules versions it can play."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from spades_events.values import TableKind
from spades_rules import RULES_VERSION, Rules, UnknownRulesVersion, rules_for

CLOCK_CHOICE_MS: Final = (15_000, 120_000)
"""What a host may choose as turn limit (RULES.md, the clock)."""

STAKE_MAX_COINS: Final = 10**12
"""Four of them and their deposits stay far below 2^53, the ledger's bound."""

MISSES_WITH_FULL_CLOCK: Final = 3
"""After the third miss in a row a seat plays at computer speed (RULES.md, the clock)."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that `decide` reads; what is already decided stands in the events."""

    clock_coins_ms: int = 90_000
    clock_online_ms: int = 30_000
    computer_speed_ms: int = 667
    bot_guard_ms: int = 3_000
    seeds_ms: int = 5_000
    start_ms: int = 30_000
    reservation_ms: int = 30_000
    closing_ms: int = 900_000
    next_hand_ms: int = 10_000
    next_hand_practice_ms: int = 60_000
    idle_ms: int = 1_800_000

    def next_hand_of(self, kind: TableKind) -> int:
        """How long the score sheet stays up at most."""
        return self.next_hand_practice_ms if kind is TableKind.PRACTICE else self.next_hand_ms


class House(msgspec.Struct, frozen=True, kw_only=True):
    """The limits, and every rules version that a table of this process may be pinned to."""

    limits: Limits = Limits()
    rules: Mapping[int, Rules] = MappingProxyType({RULES_VERSION: rules_for(RULES_VERSION)})
    rules_version: int = RULES_VERSION
    """What new games are pinned to."""

    def rules_of(self, version: int) -> Rules:
        """Return the rules of a version. Raises UnknownRulesVersion."""
        try:
            return self.rules[version]
        except KeyError:
            raise UnknownRulesVersion(f"no rules of version {version} in this process") from None
