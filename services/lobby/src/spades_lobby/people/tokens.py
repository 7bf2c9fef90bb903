"""Opaque tokens: 256 random bits for their holder, a hash for us."""

import hashlib
import re
import secrets
from typing import Final, NewType

Token = NewType("Token", str)
TokenHash = NewType("TokenHash", bytes)
SessionId = NewType("SessionId", str)

TOKEN_BYTES: Final = 32
_SHAPE: Final = re.compile(r"[A-Za-z0-9_-]{43}\Z")


def new_token() -> Token:
    """Return 256 random bits, safe in a header, a cookie and JSON."""
    return Token(secrets.token_urlsafe(TOKEN_BYTES))


def hash_of(text: str) -> TokenHash | None:
    """Return what a token is looked up by; None where the text cannot be one of ours.

    A plain hash is enough: nobody guesses 256 random bits.
    """
    if not _SHAPE.match(text):
        return None
    return TokenHash(hashlib.sha256(text.encode()).digest())
