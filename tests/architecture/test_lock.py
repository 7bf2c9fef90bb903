"""The lock pins everything by content and names no address to take it from."""

import re

from tests.architecture.source import ROOT, distribution, members

LOCK = (ROOT / "requirements.lock").read_text()
# One entry is a line `name==version ; marker \` and its indented hashes.
ENTRIES = re.split(r"\n(?=[a-z0-9])", re.sub(r"^#.*\n", "", LOCK, flags=re.MULTILINE).strip())


def test_every_locked_package_has_one_version_and_its_hashes() -> None:
    loose = [
        entry.splitlines()[0]
        for entry in ENTRIES
        if not re.match(r"[a-z0-9._-]+(\[[a-z0-9,-]+\])?==\S+", entry)
        or not re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry)
    ]
    assert loose == []


def test_the_lock_names_no_address() -> None:
    suspects = ("://", "--index-url", "--extra-index-url", "--find-links", " @ ", "--trusted-host")
    assert [word for word in suspects if word in LOCK] == []


def test_what_the_members_need_is_locked() -> None:
    locked = {distribution(entry) for entry in ENTRIES}
    needed = {need for each in members() for need in each.declared}
    assert {need for need in needed - locked if not need.startswith("spades-")} == set()


def test_what_is_asked_for_is_locked() -> None:
    locked = {distribution(entry) for entry in ENTRIES}
    asked = (ROOT / "requirements.in").read_text().splitlines()
    wanted = {distribution(line) for line in asked if line and not line.startswith("#")}
    assert wanted - locked == set()
