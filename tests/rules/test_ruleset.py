"""Five named rule sets, and exactly the choices that a host has in each."""

import itertools

import pytest

from spades_rules import (
    PRESETS,
    Deck,
    FailedNil,
    OptionRefused,
    Ruleset,
    custom_ruleset,
    ruleset,
    ruleset_stamped,
)

HELP, BAGS = FailedNil.HELP, FailedNil.BAGS
PLAIN, JOKERS = Deck.STANDARD, Deck.JOKERS

#   preset     missed nil failed blind swap target floor deck    zero
TABLE = [
    ("deniro", 10, 100, BAGS, 0, 0, 500, None, PLAIN, True),
    ("classic", 10, 100, HELP, 0, 0, 500, None, PLAIN, False),
    ("bicycle", 0, 100, HELP, 0, 0, 500, None, PLAIN, False),
    ("club", 10, 100, BAGS, 200, 2, 500, -200, PLAIN, False),
    ("jokers", 0, 100, HELP, 0, 0, 500, None, JOKERS, False),
]


def test_the_presets_are_these_five():
    assert list(PRESETS) == [row[0] for row in TABLE]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row[0])
def test_a_preset_has_the_numbers_of_its_page(row):
    rules = ruleset(row[0])
    numbers = (
        rules.name,
        rules.missed_points,
        rules.nil_points,
        rules.failed_nil,
        rules.blind_nil_points,
        rules.swap_cards,
        rules.target,
        rules.floor,
        rules.deck,
        rules.zero_is_shown,
    )
    assert numbers == row
    shared = (
        rules.contract_points,
        rules.bag_points,
        rules.bag_limit,
        rules.bag_penalty,
        rules.blind_nil_gap,
        rules.hands_max,
    )
    assert shared == (10, 1, 10, 100, 100, 64)


NIL = {"nil": (100, 50)}
BLIND = {"blind_nil": (False, True), "swap": (False, True)}
MENUS = {
    "deniro": {},
    "classic": {"target": (500, 200, 250), **NIL, **BLIND},
    "bicycle": {"target": (500, 200, 250), **NIL, **BLIND},
    "club": {"target": (500, 300)},
    "jokers": {"target": (500, 200), **BLIND},
}


@pytest.mark.parametrize("name", MENUS)
def test_a_host_has_these_choices_and_no_others(name):
    assert {key: set(values) for key, values in PRESETS[name].menu.items()} == {
        key: set(values) for key, values in MENUS[name].items()
    }


@pytest.mark.parametrize(
    ("name", "options", "field"),
    [
        ("deniro", {"target": 500}, "target"),
        ("deniro", {"nil": 50}, "nil"),
        ("deniro", {"blind_nil": True}, "blind_nil"),
        ("classic", {"target": 300}, "target"),
        ("classic", {"target": 250}, "target"),
        ("classic", {"target": 250, "nil": 100}, "target"),
        ("classic", {"target": "500"}, "target"),
        ("classic", {"target": 500.0}, "target"),
        ("classic", {"nil": 75}, "nil"),
        ("classic", {"nil": True}, "nil"),
        ("classic", {"blind_nil": 1}, "blind_nil"),
        ("classic", {"blind_nil": None}, "blind_nil"),
        ("classic", {"swap": True}, "swap"),
        ("classic", {"swap": True, "blind_nil": False}, "swap"),
        ("classic", {"miss": "zero"}, "miss"),
        ("classic", {"jokers": True}, "jokers"),
        ("classic", {"floor": -200}, "floor"),
        ("club", {"target": 200}, "target"),
        ("club", {"swap": False}, "swap"),
        ("jokers", {"nil": 50}, "nil"),
        ("jokers", {"target": 250}, "target"),
        ("no such", {}, "preset"),
        ("custom", {}, "preset"),
    ],
)
def test_any_other_value_is_refused_and_the_field_named(name, options, field):
    with pytest.raises(OptionRefused) as caught:
        ruleset(name, options)
    assert caught.value.field == field


def test_a_target_of_250_goes_with_the_older_nil_of_50():
    rules = ruleset("classic", {"target": 250, "nil": 50})
    assert (rules.target, rules.nil_points) == (250, 50)


@pytest.mark.parametrize(("nil", "blind"), [(100, 200), (50, 100)])
def test_blind_nil_is_worth_twice_a_nil(nil, blind):
    rules = ruleset("classic", {"nil": nil, "blind_nil": True})
    assert (rules.nil_points, rules.blind_nil_points) == (nil, blind)


def _every_choice():
    for name, menu in MENUS.items():
        for values in itertools.product(*menu.values()):
            yield name, dict(zip(menu, values, strict=True))


def test_every_option_changes_the_rules_and_is_stamped_as_it_was_chosen():
    seen = {}
    for name, options in _every_choice():
        try:
            rules = ruleset(name, options)
        except OptionRefused:
            continue
        assert rules.chosen == options
        assert ruleset_stamped(rules.name, rules.chosen) == rules
        numbers = tuple(getattr(rules, field) for field in Ruleset.__slots__ if field not in ("options",))
        assert numbers not in seen, f"{options} plays like {seen[numbers]}"
        seen[numbers] = options
    assert len(seen) == 1 + 15 + 15 + 2 + 6


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("target", 505),
        ("target", 90),
        ("target", True),
        ("nil_points", 55),
        ("missed_points", 5),
        ("blind_nil_points", -10),
        ("blind_nil_gap", 0),
        ("swap_cards", 1),
        ("swap_cards", 2),
        ("bag_points", 2),
        ("bag_limit", 9),
        ("bag_penalty", 50),
        ("contract_points", 11),
        ("hands_max", 65),
        ("hands_max", 0),
        ("floor", 0),
        ("floor", -1001),
        ("failed_nil", "bags"),
        ("deck", 1),
        ("zero_is_shown", 1),
    ],
)
def test_a_rule_out_of_its_bounds_is_refused_and_named(field, value):
    with pytest.raises(OptionRefused) as caught:
        Ruleset(name="any", **{field: value})
    assert caught.value.field == field


def test_a_custom_rule_set_is_rebuilt_from_what_it_stamps():
    rules = custom_ruleset(PRESETS["club"].ruleset, deck=Deck.JOKERS, missed_points=0, blind_nil_gap=150)
    assert ruleset_stamped(rules.name, rules.chosen) == rules
    assert rules.floor == -200
    with pytest.raises(OptionRefused):
        custom_ruleset(no_such_rule=1)
