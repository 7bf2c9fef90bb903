"""The five named rule sets, and exactly the choices a host has in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from spades_rules.cards import Deck
from spades_rules.errors import OptionRefused
from spades_rules.ruleset import RULE_FIELDS, FailedNil, OptionValue, Ruleset

CUSTOM: Final = "custom"


@dataclass(frozen=True, kw_only=True, slots=True)
class Preset:
    """A named rule set and its menu: option name to the values on offer, the default first."""

    ruleset: Ruleset
    menu: Mapping[str, tuple[OptionValue, ...]]

    @property
    def name(self) -> str:
        return self.ruleset.name


def _preset(ruleset: Ruleset, **menu: tuple[OptionValue, ...]) -> Preset:
    return Preset(ruleset=ruleset, menu=MappingProxyType(menu))


_CLASSIC = Ruleset(name="classic")
_ALL_PRESETS = (
    _preset(Ruleset(name="deniro", zero_is_shown=True, failed_nil=FailedNil.BAGS)),
    # 250 goes with the older Nil of 50, as the books that play so have it.
    _preset(_CLASSIC, nil=(100, 50), blind_nil=(False, True), swap=(False, True), target=(500, 200, 250)),
    _preset(
        replace(_CLASSIC, name="bicycle", missed_points=0),
        nil=(100, 50),
        blind_nil=(False, True),
        swap=(False, True),
        target=(500, 200, 250),
    ),
    _preset(
        Ruleset(name="club", failed_nil=FailedNil.BAGS, blind_nil_points=200, swap_cards=2, floor=-200),
        target=(500, 300),
    ),
    _preset(
        replace(_CLASSIC, name="jokers", missed_points=0, deck=Deck.JOKERS),
        blind_nil=(False, True),
        swap=(False, True),
        target=(500, 200),
    ),
)
PRESETS: Final[Mapping[str, Preset]] = MappingProxyType({preset.name: preset for preset in _ALL_PRESETS})


def ruleset(name: str, options: Mapping[str, object] | None = None) -> Ruleset:
    """The rule set of a preset with a host's choices.

    Options: `target` (points), `nil` (100 or 50), `blind_nil` and `swap` (true or false), each only
    where the preset has it. Raises OptionRefused, naming the field, for an unknown preset, an
    option the preset does not have, a value not on its menu (a wrong type included) and two choices
    that contradict each other.
    """
    preset = PRESETS.get(name) if isinstance(name, str) else None
    if preset is None:
        raise OptionRefused("preset", name, tuple(PRESETS))
    chosen: dict[str, OptionValue] = {}
    for field, value in (options or {}).items():
        chosen[field] = _offered(field, value, preset.menu.get(field, ()))
    return _chosen_ruleset(name, tuple(sorted(chosen.items())))


def _offered(field: str, value: object, menu: tuple[OptionValue, ...]) -> OptionValue:
    for choice in menu:
        # True equals 1 in Python; a host who sends one for the other is refused.
        if type(choice) is type(value) and choice == value:
            return choice
    raise OptionRefused(field, value, menu)


# Every choice of every preset fits; a rule set is a value, so one copy serves all.
@lru_cache(maxsize=256)
def _chosen_ruleset(name: str, options: tuple[tuple[str, OptionValue], ...]) -> Ruleset:
    chosen = dict(options)
    base = PRESETS[name].ruleset
    changes: dict[str, Any] = {"options": options}
    if "target" in chosen:
        changes["target"] = chosen["target"]
    if chosen.get("target") == 250 and chosen.get("nil", base.nil_points) != 50:
        raise OptionRefused("target", 250, (500, 200), "250 is played with a Nil of 50")
    if "nil" in chosen:
        changes["nil_points"] = chosen["nil"]
    if chosen.get("blind_nil"):
        changes["blind_nil_points"] = 2 * int(chosen.get("nil", base.nil_points))
    if chosen.get("swap"):
        if not chosen.get("blind_nil"):
            raise OptionRefused("swap", True, (False,), "there is no swap without Blind Nil")
        changes["swap_cards"] = 2
    return replace(base, **changes)


def custom_ruleset(base: Ruleset = _CLASSIC, **changes: Any) -> Ruleset:
    """A rule set outside the presets, for studies and case files: `base` with any fields changed.

    Its name is `custom` and its options are the fields that differ from `classic`, so that name
    and options alone rebuild it. No host can choose it. Raises OptionRefused for an unknown field
    or one out of bounds.
    """
    for field in changes:
        if field not in RULE_FIELDS:
            raise OptionRefused(field, changes[field], ())
    made = replace(base, name=CUSTOM, options=(), **changes)
    stamped = tuple(
        (field, _plain(getattr(made, field)))
        for field in sorted(RULE_FIELDS)
        if getattr(made, field) != getattr(_CLASSIC, field)
    )
    return replace(made, options=stamped)


def _plain(value: Any) -> OptionValue:
    match value:
        case None:
            return "none"
        case Deck():
            return int(value)
        case FailedNil():
            return value.value
        case bool() | int():
            return value
    raise TypeError(f"a rule's value cannot be {value!r}")


def ruleset_stamped(name: str, options: Mapping[str, object]) -> Ruleset:
    """The rule set that stamped this name and these options into a record. Raises OptionRefused."""
    if name != CUSTOM:
        return ruleset(name, options)
    changes: dict[str, Any] = dict(options)
    if changes.get("floor") == "none":
        changes["floor"] = None
    if "deck" in changes:
        changes["deck"] = Deck(changes["deck"])
    if "failed_nil" in changes:
        changes["failed_nil"] = FailedNil(changes["failed_nil"])
    return custom_ruleset(**changes)
