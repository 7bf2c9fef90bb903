"""Which names people may have, and which two look alike."""

import pytest

from spades_lobby.people.names import NameRefused, clean, skeleton


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("Ada", "Ada"),
        ("  Ada   Lovelace ", "Ada Lovelace"),
        ("ＡＤＡ", "ADA"),
        ("Jürgen", "Jürgen"),
        ("Владимир", "Владимир"),
        ("太郎さん"[:2], "太郎"),
        ("O'Neill-3", "O'Neill-3"),
    ],
)
def test_a_name_is_shown_normalised(raw: str, shown: str) -> None:
    assert clean(raw) == shown


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "A",
        "A" * 25,
        "A" * 100_000,
        "\ufdfa" * 20,
        "Ada\n",
        "A\x00da",
        "Ad\u200ba",
        "\u202eadA",
        "Ad\u2066a",
        "Ada\ud800",
        "<b>Ada</b>",
        "Ada; DROP",
        "Ada/..",
        "-Ada",
        "🂡🂡🂡",
        "Аda",
        "Αdα",
        "admin",
        "ADM1N",
        "Bot",
        "c0mputer",
    ],
)
def test_a_name_that_hides_or_pretends_is_refused(raw: str) -> None:
    with pytest.raises(NameRefused):
        clean(raw)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada", "ADA"),
        ("Ada", "a-d a"),
        ("Ada", "Аԁа"),
        ("Paul", "Pau1"),
        ("Paul", "PauI"),
        ("Otto", "0tt0"),
        ("modern", "modem"),
        ("Jürgen", "Jurgen"),
        ("ΑΡΗΣ", "APHΣ"),
    ],
)
def test_names_that_look_alike_are_one(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)


@pytest.mark.parametrize(("one", "other"), [("Ada", "Ava"), ("Ada", "Adam"), ("太郎", "次郎"), ("Ann2", "Ann3")])
def test_names_that_look_different_are_two(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)
