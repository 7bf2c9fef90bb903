"""The golden samples: bytes once written, which every later release must still read."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[2] / "libs" / "spades_events" / "golden"


class Sample(NamedTuple):
    """One committed record body of one type."""

    ce_type: str
    body: bytes


def golden_samples() -> Iterator[Sample]:
    """Every line of every file `golden/NAME.vN.jsonl`."""
    for file in sorted(FOLDER.glob("*.jsonl")):
        for line in file.read_bytes().splitlines():
            yield Sample(f"spades.{file.stem}", line)
