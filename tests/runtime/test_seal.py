"""What is sealed opens under its own key, in its own place, unchanged; or says why not."""

import json
from pathlib import Path

import pytest

from spades_runtime import KeyAbsent, Seal
from spades_runtime.seal import Unreadable

OLD, NEW = bytes(range(32)), bytes(reversed(range(32)))


def test_a_seal_opens_in_its_place_and_nowhere_else() -> None:
    seal = Seal("k1", {"k1": OLD})
    token = seal.seal(b"AS KS", b"t1:5")
    assert seal.open(token, b"t1:5") == b"AS KS"
    assert b"AS KS" not in token
    with pytest.raises(Unreadable):
        seal.open(token, b"t1:6")


def test_two_seals_of_the_same_cards_differ() -> None:
    seal = Seal("k1", {"k1": OLD})
    assert seal.seal(b"AS", b"") != seal.seal(b"AS", b"")


@pytest.mark.parametrize("at", [0, 1, 3, 8, -1])
def test_a_damaged_seal_is_unreadable_or_names_no_key(at: int) -> None:
    seal = Seal("k1", {"k1": OLD})
    token = bytearray(seal.seal(b"AS KS", b""))
    token[at] ^= 1
    with pytest.raises((Unreadable, KeyAbsent)):
        seal.open(bytes(token), b"")


@pytest.mark.parametrize("token", [b"", b"\x01", b"\x01\x05k1", b"\x02\x02k1" + bytes(40)])
def test_what_is_no_seal_is_unreadable(token: bytes) -> None:
    with pytest.raises(Unreadable):
        Seal("k1", {"k1": OLD}).open(token, b"")


def test_an_older_key_still_opens_and_a_missing_one_is_named() -> None:
    token = Seal("k1", {"k1": OLD}).seal(b"AS", b"")
    assert Seal("k2", {"k1": OLD, "k2": NEW}).open(token, b"") == b"AS"
    with pytest.raises(KeyAbsent, match="'k1'"):
        Seal("k2", {"k2": NEW}).open(token, b"")


def test_a_fingerprint_is_of_one_body_also_after_the_key_changed() -> None:
    printed = Seal("k1", {"k1": OLD}).fingerprint(b'{"card":"AS"}')
    rotated = Seal("k2", {"k1": OLD, "k2": NEW})
    assert rotated.is_of(printed, b'{"card":"AS"}')
    assert not rotated.is_of(printed, b'{"card":"KS"}')
    assert rotated.fingerprint(b'{"card":"AS"}') != printed


def test_a_key_file_is_read_and_its_faults_are_told_without_its_keys(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"current": "k1", "keys": {"k1": OLD.hex()}}))
    assert Seal.load(path).key_id == "k1"
    faults = ["", "[]", '{"current":"k1"}', '{"current":"k1","keys":{"k1":"abc"}}', '{"current":"k2","keys":{}}']
    short = json.dumps({"current": "k1", "keys": {"k1": OLD.hex()[:32]}})
    for text in [*faults, short]:
        path.write_text(text)
        with pytest.raises(KeyAbsent) as told:
            Seal.load(path)
        assert OLD.hex()[:16] not in str(told.value)
    for missing in (None, tmp_path / "none.json"):
        with pytest.raises(KeyAbsent, match="seal key"):
            Seal.load(missing)
