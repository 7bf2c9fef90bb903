"""Passwords of the database roles, the key that seals hidden cards, an operator's token; made once, kept private."""

import hashlib
import json
import secrets
from pathlib import Path

from spades_local.places import write_private


class Passwords:
    """One random password a role, kept in a file that only its owner can read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._by_role: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}

    def of(self, *roles: str) -> dict[str, str]:
        """The passwords of `roles`; those not seen before are made and saved first."""
        unknown = [role for role in roles if role not in self._by_role]
        if unknown:
            self._by_role.update({role: secrets.token_hex(24) for role in unknown})
            write_private(self._path, json.dumps(self._by_role, indent=1))
        return {role: self._by_role[role] for role in roles}


LOCAL_OPERATOR = "local"


def ensure_operator(operators: Path, token_file: Path) -> None:
    """Make one operator's token, and the file of operators that lets its holder in; a later start keeps both."""
    if not (operators.exists() and token_file.exists()):
        token = secrets.token_urlsafe(32)
        write_private(token_file, f"{token}\n")
        write_private(operators, f"{LOCAL_OPERATOR} {hashlib.sha256(token.encode()).hexdigest()}\n")


def ensure_seal_key(path: Path) -> None:
    """Make the table's seal key on the first start; a later start keeps it."""
    if not path.exists():
        key = {"current": "k1", "keys": {"k1": secrets.token_hex(32)}}
        write_private(path, json.dumps(key))
