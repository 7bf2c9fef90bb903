"""Games played under version 1 of the rules, kept for ever: each must come out byte for byte.

`NAME.txt` is the game as text, `NAME.events.jsonl` every event that it caused. A change of the
rules that alters either needs a new version beside this one, never a new golden file.
"""

import json
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from spades_rules import (
    PRESETS,
    CardsPassed,
    Ended,
    GameEnded,
    HandScored,
    ScoreRule,
    read_transcript,
    rules_for,
    write_transcript,
)

GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.txt"))


def plain(value):
    """A value as JSON has it: a dataclass by its fields, everything else as it is."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return [plain(one) for one in value] if isinstance(value, tuple) else value


def as_lines(events) -> str:
    rows = ({"event": type(event).__name__} | plain(event) for event in events)
    return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_game_is_replayed_byte_for_byte(name):
    rules = rules_for(1)
    text = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    read = read_transcript(text)
    game = read.start
    events = []
    for command in read.commands:
        caused = rules.decide(game, command)
        events += caused
        game = rules.replay(game, caused)
    assert as_lines(events) == (GOLDEN / f"{name}.events.jsonl").read_text(encoding="utf-8")
    assert write_transcript(read.start, events) == text
    assert isinstance(game, Ended)


def test_every_preset_and_every_kind_of_score_line_is_among_them():
    reads = [read_transcript((GOLDEN / f"{name}.txt").read_text()) for name in NAMES]
    assert {read.start.ruleset.name for read in reads} == set(PRESETS)
    events = [event for read in reads for event in read.events]
    kinds = {
        line.rule for event in events if isinstance(event, HandScored) for team in event.teams for line in team.lines
    }
    assert kinds == set(ScoreRule)
    assert any(isinstance(event, CardsPassed) for event in events)
    assert {event.reason for event in events if isinstance(event, GameEnded)} >= {"target", "floor"}
