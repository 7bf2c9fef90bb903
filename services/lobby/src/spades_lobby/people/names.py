"""A player's name: what it may hold, and when two names look alike."""

import unicodedata
from typing import Final

NAME_LENGTH_MIN: Final = 2
NAME_LENGTH_MAX: Final = 24
# A name is refused before it is normalised where it could only grow: NFKC makes 18 of one letter.
RAW_LENGTH_MAX: Final = 4 * NAME_LENGTH_MAX

RESERVED: Final = frozenset({"bot", "computer", "house", "fees", "admin", "moderator", "spades"})
"""Words a player could pass themselves off as the house with; compared as skeletons."""

_PUNCTUATION: Final = frozenset(" -_.'")
# A letter of the one looks like a letter of the other: what is left after case folding.
_LOOKALIKES: Final = str.maketrans(
    {
        # Cyrillic
        **dict(zip("абвгеёзийкмнорстухцьѕіјԁһԛԝ", "a6bree3nnkmhopctyxubsijdhqw", strict=True)),
        # Greek, by its capitals: those are the same signs as Latin ones.
        **dict(zip("αβεζηικμνορτυχγσω", "abezhikmnoptyxyow", strict=True)),
        "0": "o",
        "1": "i",
        "l": "i",
        "|": "i",
        "ı": "i",
        "5": "s",
        "ø": "o",
        "đ": "d",
        "ħ": "h",
        "ł": "i",
        "ŧ": "t",
        "ƅ": "b",
    }
)
_PAIRS: Final = (("rn", "m"), ("vv", "w"), ("cl", "d"))


class NameRefused(Exception):
    """The name may not be used; `reason` says why in words for its owner."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def clean(raw: str) -> str:
    """Return the name as it is shown: NFKC, single spaces.

    Raises NameRefused where it is too short or long, holds anything but letters, digits, spaces
    and - _ . ', mixes alphabets, or passes itself off as the house.
    """
    if len(raw) > RAW_LENGTH_MAX:
        raise NameRefused(f"A name has at most {NAME_LENGTH_MAX} characters.")
    if any(unicodedata.category(sign)[0] == "C" for sign in raw):
        # Control, format (zero width, right to left), surrogate and unassigned code points.
        raise NameRefused("A name may not hold invisible or control characters.")
    name = " ".join(unicodedata.normalize("NFKC", raw).split())
    if not NAME_LENGTH_MIN <= len(name) <= NAME_LENGTH_MAX:
        raise NameRefused(f"A name has {NAME_LENGTH_MIN} to {NAME_LENGTH_MAX} characters.")
    for sign in name:
        if unicodedata.category(sign)[0] not in "LMN" and sign not in _PUNCTUATION:
            raise NameRefused("A name may hold letters, digits, spaces and - _ . '.")
    if unicodedata.category(name[0])[0] not in "LN":
        raise NameRefused("A name starts with a letter or a digit.")
    if len(_alphabets(name)) > 1:
        raise NameRefused("A name may not mix alphabets.")
    if skeleton(name) in _RESERVED_SKELETONS:
        raise NameRefused("This name is reserved.")
    return name


def skeleton(name: str) -> str:
    """Return what two names that look alike share; stored unique, never shown.

    Case, accents, spaces and punctuation do not tell names apart, and neither do letters that
    look the same: `Аdа`, `ADA` and `a-d-a` are one.
    """
    folded = unicodedata.normalize("NFKC", name).casefold().translate(_LOOKALIKES)
    bare = unicodedata.normalize("NFD", folded)
    # Once more: folding the accents away uncovers lookalikes, as in ё or ί.
    shape = "".join(sign for sign in bare if sign.isalnum()).translate(_LOOKALIKES)
    for pair, single in _PAIRS:
        shape = shape.replace(pair, single)
    return shape


def _alphabets(name: str) -> set[str]:
    """The alphabets of the letters, by the first word of their Unicode names."""
    return {unicodedata.name(sign, "UNKNOWN").split()[0] for sign in name if unicodedata.category(sign)[0] == "L"}


_RESERVED_SKELETONS: Final = frozenset(skeleton(word) for word in RESERVED)
