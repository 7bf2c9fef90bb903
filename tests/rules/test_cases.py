"""Every row of the case files, through the conformance runner."""

import json
from pathlib import Path

import pytest

from tests.rules.conformance import checks_of, differences, main

CASES = Path(__file__).parents[1] / "cases"
FILES = ("scoring.jsonl", "play.jsonl", "fair_deal.json")
ROWS = [check for name in FILES for check in checks_of(CASES / name)]


@pytest.mark.parametrize(("label", "check", "row"), ROWS, ids=[row[0] for row in ROWS])
def test_a_case_comes_out_as_its_file_says(label, check, row):
    assert differences(check, row) == []


def test_the_runner_exits_with_0_when_nothing_differs(capsys):
    assert main([str(CASES / name) for name in FILES]) == 0
    assert f"{len(ROWS)} rows, 0 differ" in capsys.readouterr().out


def _spoilt(folder: Path, name: str, spoil) -> Path:
    text = (CASES / name).read_text()
    if name.endswith(".jsonl"):
        rows = [json.loads(line) for line in text.splitlines()]
        spoil(rows)
        text = "\n".join(map(json.dumps, rows))
    else:
        content = json.loads(text)
        spoil(content["vectors"])
        text = json.dumps(content)
    path = folder / name
    path.write_text(text)
    return path


def _wrong_score(rows):
    rows[0]["expect"]["score"][0] += 1


def _wrong_bid(rows):
    next(row for row in rows if row["kind"] == "bid")["expect"]["legal"] ^= True


def _wrong_legal(rows):
    rows[0]["turns"][3]["legal"].pop()


def _wrong_reject(rows):
    rows[0]["rejects"][0]["why"] = "must_follow"


def _wrong_winner(rows):
    rows[0]["tricks"][12]["winner"] ^= 1


def _wrong_broken(rows):
    rows[0]["tricks"][0]["broken_after"] = True


def _illegal_card(rows):
    rows[0]["turns"][0]["card"] = "2S"


def _wrong_deck(vectors):
    vectors[0]["trace"]["final_deck"] = vectors[0]["trace"]["after_shuffle_2"]


def _wrong_seed(vectors):
    vectors[0]["inputs"]["client_seeds"][0] = "00" * 32


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("scoring.jsonl", _wrong_score),
        ("scoring.jsonl", _wrong_bid),
        ("play.jsonl", _wrong_legal),
        ("play.jsonl", _wrong_reject),
        ("play.jsonl", _wrong_winner),
        ("play.jsonl", _wrong_broken),
        ("play.jsonl", _illegal_card),
        ("fair_deal.json", _wrong_deck),
        ("fair_deal.json", _wrong_seed),
    ],
)
def test_the_runner_finds_what_differs_and_exits_with_1(tmp_path, capsys, name, spoil):
    assert main([str(_spoilt(tmp_path, name, spoil))]) == 1
    out = capsys.readouterr().out
    assert ", 1 differ" in out
    assert "DIFFERS" in out


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cut.jsonl", '{"id": '),
        ("other.jsonl", '{"id": "a", "kind": "dance"}'),
        ("list.jsonl", "[1]"),
        ("other.json", "{}"),
        ("format.json", '{"format": "spades-deal/1"}'),
        ("bytes.jsonl", None),
        (None, None),
    ],
)
def test_a_file_without_cases_of_the_rules_is_told_and_exits_with_2(tmp_path, capsys, name, text):
    file = tmp_path / (name or "absent.jsonl")
    if name is not None:
        file.write_bytes(b"\xff" if text is None else text.encode())
    # The files beside it are run all the same.
    assert main([str(file), str(CASES / "fair_deal.json")]) == 2
    told = capsys.readouterr()
    assert f"{file} holds no cases of the rules" in told.err
    assert ", 0 differ" in told.out


def test_the_settlement_cases_are_known_to_be_for_the_wallets_runner(capsys):
    assert main([str(CASES / "settlement.json")]) == 2
    assert "tests.wallet.conformance" in capsys.readouterr().err
