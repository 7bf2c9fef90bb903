"""`make help` and the README's table name what can be done, and a person can read it."""

import re
import subprocess

from tests.architecture.source import ROOT

TARGETS = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
# What needs no explanation beyond the list's own, or is named in the text above the table.
NOT_IN_THE_TABLE = {"help", "setup", "lock", "format"}


def test_help_lists_every_target_in_columns_and_without_colours_into_a_pipe() -> None:
    said = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout
    rows = [re.fullmatch(r"  ([a-z-]+ +)(\S.*)", line) for line in said.splitlines() if line.startswith("  ")]
    assert [row[1].strip() for row in rows if row] == TARGETS
    assert len({len(row[1]) for row in rows if row}) == 1
    assert "\033" not in said


def test_the_readme_names_every_target() -> None:
    readme = (ROOT / "README.md").read_text()
    named = set(re.findall(r"`(?:make )?([a-z-]+)[^`]*`", readme))
    assert set(TARGETS) - NOT_IN_THE_TABLE - named == set()
