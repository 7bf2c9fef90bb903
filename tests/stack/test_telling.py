"""What the terminal is told of a service's log."""

import json
from typing import Any

import pytest

from spades_local.telling import REPEATED_EVERY_S, Telling


def line(event: str, level: str = "warning", **keys: Any) -> str:
    return json.dumps({"event": event, "level": level, "service": "table", "timestamp": "2026-01-01", **keys})


@pytest.mark.parametrize("level", ["debug", "info"])
def test_what_is_no_warning_stays_in_the_log_file(level: str) -> None:
    assert Telling()(line("ready", level)) is None


def test_a_warning_is_told_in_words() -> None:
    assert Telling()(line("outage_ended", partitions=[0, 1])) == "warning: outage_ended partitions=[0, 1]"


def test_an_error_is_told_with_the_last_line_of_its_trace() -> None:
    trace = "Traceback (most recent call last):\n  File x\nValueError: no hand"
    assert Telling()(line("failed", "error", exception=trace)) == "error: failed ValueError: no hand"


def test_the_same_event_again_is_told_once_in_a_while() -> None:
    now_s = 100.0
    telling = Telling(lambda: now_s)
    assert telling(line("outage_ended", partitions=[0])) is not None
    assert telling(line("outage_ended", partitions=[1])) is None
    assert telling(line("another")) is not None
    now_s += REPEATED_EVERY_S
    assert telling(line("outage_ended", partitions=[2])) is not None


@pytest.mark.parametrize("text", ["wallet listens", "{", "[1]", "3", '{"no": "event"}', ""])
def test_a_line_that_is_no_log_event_is_told_as_it_is(text: str) -> None:
    telling = Telling()
    assert [telling(text), telling(text)] == [text, text]
