"""The page's own checks and its reducer, run by Node.js."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from spades_events import codec, frame_name
from spades_rules import PRESETS
from tests.web.conftest import ROOT, node
from tests.web.games import recorded

CASES = ROOT / "tests" / "cases" / "fair_deal.json"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([node(), *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def node_says(promise: str) -> Any:
    """What a promise of the page's modules comes to."""
    ran = run("--eval", f"{promise}.then((value) => console.log(JSON.stringify(value)))")
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_the_pages_own_tests_pass(web: Path) -> None:
    ran = run("--test", *sorted(map(str, (web / "tests").glob("*_test.mjs"))))
    assert ran.returncode == 0, ran.stdout[-4000:]


def test_types_are_strict(web: Path) -> None:
    ran = run(str(web / "node_modules" / "typescript" / "bin" / "tsc"), "--project", str(web))
    assert ran.returncode == 0, ran.stdout


def test_the_fair_deal_is_the_same_in_javascript(web: Path) -> None:
    ran = run(str(web / "tests" / "deal_check.mjs"), str(CASES))
    assert ran.returncode == 0, ran.stdout


def test_a_changed_vector_is_a_difference(web: Path, tmp_path: Path) -> None:
    cases = json.loads(CASES.read_text())
    hands = cases["vectors"][0]["hands"]
    hands[0], hands[1] = hands[1], hands[0]
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(cases))
    ran = run(str(web / "tests" / "deal_check.mjs"), str(changed))
    assert ran.returncode == 1
    assert "DIFFER hand 0" in ran.stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"secret": "ab", "table_id": "t", "seeds": []}', "has no seed_commits"),
        ("{}", "neither a proof nor a case file"),
        ("no proof", "no JSON"),
        (None, "no such file"),
    ],
)
def test_what_cannot_be_checked_is_said_in_words(web: Path, tmp_path: Path, text: str | None, words: str) -> None:
    proof = tmp_path / "proof.json"
    if text is not None:
        proof.write_text(text)
    ran = run(str(web / "tests" / "deal_check.mjs"), str(proof))
    assert (ran.returncode, ran.stdout) == (2, "")
    assert words in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("ruleset", "arguments"),
    [
        ("deniro", {"people": 1, "hands": 2}),
        ("club", {"scores": (0, 150), "blind_seat": 0}),
        ("club", {"scores": (150, 0), "blind_seat": 3}),
        ("jokers", {"hands": 2}),
        ("classic", {"scores": (-120, 40), "people": 2, "options": {"blind_nil": True, "swap": True}}),
        ("club", {"scores": (-170, 20), "hands": 3}),
    ],
)
def test_folding_the_stream_gives_what_a_snapshot_tells(
    web: Path, tmp_path: Path, ruleset: str, arguments: dict[str, Any]
) -> None:
    game = tmp_path / "game.json"
    game.write_text(json.dumps(recorded(ruleset, **arguments)))
    ran = run(str(ROOT / "tests" / "web" / "reduced.mjs"), str(game))
    assert ran.returncode == 0, ran.stdout


def test_every_event_has_a_frame_that_the_page_knows(web: Path) -> None:
    types = node_says("import('./services/lobby/web/app/table/reduce.js').then(({EVENT_TYPES}) => EVENT_TYPES)")
    assert set(types) == {frame_name(kind) for kind in codec.TABLE_EVENTS}


def test_the_page_offers_exactly_what_the_rules_offer(web: Path) -> None:
    presets = node_says("import('./services/lobby/web/app/rules/presets.js').then(({PRESETS}) => PRESETS)")
    shown = {preset["name"]: preset for preset in presets}
    assert list(shown) == list(PRESETS)
    for name, preset in PRESETS.items():
        rules = preset.ruleset
        assert shown[name]["menu"] == {option: list(values) for option, values in preset.menu.items()}
        assert shown[name]["values"] == {
            "target": rules.target,
            "floor": rules.floor,
            "nil": rules.nil_points,
            "blindNil": rules.blind_nil_points,
            "swap": rules.swap_cards,
            "missed": rules.missed_points,
            "failedNil": rules.failed_nil.value,
            "jokers": rules.deck_id == 1,
            "zero": rules.zero_is_shown,
        }
