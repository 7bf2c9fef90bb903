"""A rule set: every number that a page may settle differently, as one bounded, frozen value."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Final

from spades_rules.cards import Deck
from spades_rules.errors import OptionRefused

OptionValue = int | bool | str

# A deal chain has 64 links, one a hand, so no game outlives it (real games take about ten hands).
HANDS_MAX: Final = 64
TRICKS_PER_HAND: Final = 13


class FailedNil(StrEnum):
    """What the tricks of a failed Nil are worth to its team."""

    HELP = "help"  # they count toward the partner's contract
    BAGS = "bags"  # they are bags and nothing else


# Field, least, greatest, step. Steps of ten keep the law that a score's last digit is the bag
# count.
_BOUNDS: Final = (
    ("contract_points", 10, 10, 10),
    ("missed_points", 0, 10, 10),
    ("bag_points", 1, 1, 1),
    ("nil_points", 10, 200, 10),
    ("blind_nil_points", 0, 400, 10),
    ("blind_nil_gap", 1, 1000, 1),
    ("swap_cards", 0, 2, 2),
    ("bag_limit", 10, 10, 10),
    ("bag_penalty", 100, 100, 10),
    ("target", 100, 1000, 10),
    ("hands_max", 1, HANDS_MAX, 1),
)
_FLOOR_LEAST, _FLOOR_GREATEST = -1000, -10


@dataclass(frozen=True, kw_only=True, slots=True)
class Ruleset:
    """The rules of one game. Raises OptionRefused naming the first field that is out of its bounds.

    Points are whole. `missed_points` is what each trick bid costs a team that misses its contract
    (0: nothing). `blind_nil_points` 0 means that there is no Blind Nil; `swap_cards` 0 that Blind
    Nil brings no exchange of cards. `floor` is the score at or under which a team has lost, None
    where there is no such score. `zero_is_shown` says that the number pad writes Nil as 0; every
    preset accepts a 0 as Nil. `options` holds the host's choices.
    """

    name: str
    options: tuple[tuple[str, OptionValue], ...] = ()
    zero_is_shown: bool = False
    contract_points: int = 10
    missed_points: int = 10
    bag_points: int = 1
    nil_points: int = 100
    failed_nil: FailedNil = FailedNil.HELP
    blind_nil_points: int = 0
    blind_nil_gap: int = 100
    swap_cards: int = 0
    bag_limit: int = 10
    bag_penalty: int = 100
    target: int = 500
    floor: int | None = None
    deck: Deck = Deck.STANDARD
    hands_max: int = HANDS_MAX

    def __post_init__(self) -> None:
        for field, least, greatest, step in _BOUNDS:
            value = getattr(self, field)
            if type(value) is not int or not least <= value <= greatest or (value - least) % step:
                raise OptionRefused(field, value, (), f"{least} to {greatest} in steps of {step}")
        if self.floor is not None and (
            type(self.floor) is not int or not _FLOOR_LEAST <= self.floor <= _FLOOR_GREATEST
        ):
            raise OptionRefused("floor", self.floor, (), f"{_FLOOR_LEAST} to {_FLOOR_GREATEST}, or none")
        if type(self.failed_nil) is not FailedNil:
            raise OptionRefused("failed_nil", self.failed_nil, tuple(FailedNil))
        if type(self.deck) is not Deck:
            raise OptionRefused("deck", self.deck, tuple(Deck))
        if type(self.zero_is_shown) is not bool:
            raise OptionRefused("zero_is_shown", self.zero_is_shown, (False, True))
        if self.swap_cards and not self.blind_nil_points:
            raise OptionRefused("swap_cards", self.swap_cards, (0,), "there is no swap without Blind Nil")

    @property
    def chosen(self) -> dict[str, OptionValue]:
        """The host's choices as a mapping, ready to be stamped into events beside the name."""
        return dict(self.options)

    @property
    def deck_id(self) -> int:
        return int(self.deck)


RULE_FIELDS: Final = tuple(field.name for field in fields(Ruleset) if field.name not in ("name", "options"))
