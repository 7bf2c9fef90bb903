"""The recovery code: the one way to a new password for who has lost the old one."""

import hashlib
import secrets
from typing import Final

GROUPS: Final = 7
SIGNS_A_GROUP: Final = 4
RAW_LENGTH_MAX: Final = 80
_SIGNS: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""32 signs of which none looks like another: 28 of them are 140 bits."""


def new_code() -> str:
    """Return a code as it is shown once: `7K3M-…`, seven groups."""
    groups = ("".join(secrets.choice(_SIGNS) for _ in range(SIGNS_A_GROUP)) for _ in range(GROUPS))
    return "-".join(groups)


def hash_of(text: str) -> bytes:
    """Return what a code is known by, however its holder wrote it down.

    A plain hash is enough: nobody guesses 140 random bits.
    """
    signs = "".join(text.upper().replace("-", " ").split())
    return hashlib.sha256(signs.encode("utf-8", "replace")).digest()
