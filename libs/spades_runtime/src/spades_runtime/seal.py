"""Sealing what only the service itself may read again: AES-256-GCM under a named key."""

import hashlib
import hmac
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from spades_runtime.errors import KeyAbsent

_VERSION = b"\x01"
_NONCE_BYTES = 12
_KEY_BYTES = 32
KEY_ID_BYTES_MAX = 32


class Unreadable(Exception):
    """The key is here, but this is not what was sealed under it: damaged, moved or forged."""


class _KeyFile(msgspec.Struct, frozen=True):
    current: str
    keys: dict[str, str]


class Seal:
    """Seals with the current key, opens with any key of the file.

    A random nonce is safe for 2**32 seals under one key: change the current key before.
    """

    def __init__(self, current: str, keys: Mapping[str, bytes]) -> None:
        if current not in keys:
            raise KeyAbsent(f"the seal's current key {current!r} is not among the keys of its file")
        for key_id, key in keys.items():
            if len(key) != _KEY_BYTES or not 0 < len(key_id.encode()) <= KEY_ID_BYTES_MAX:
                raise KeyAbsent(f"the seal key {key_id[:KEY_ID_BYTES_MAX]!r} is not 32 bytes in hexadecimal")
        self._current = current
        self._ciphers = {key_id: AESGCM(key) for key_id, key in keys.items()}
        # A key of its own for fingerprints: one secret, one purpose.
        self._printers = {key_id: hmac.digest(key, b"spades fingerprint", "sha256") for key_id, key in keys.items()}
        self._prefix = self._prefix_of(current)

    @classmethod
    def load(cls, path: Path | None) -> "Seal":
        """Read a key file `{"current": "k1", "keys": {"k1": "<64 hex>"}}`; raises KeyAbsent."""
        if path is None:
            raise KeyAbsent("no seal key: set SPADES_SEAL_KEY_FILE to the key file")
        try:
            file = msgspec.json.decode(path.read_bytes(), type=_KeyFile)
            keys = {key_id: bytes.fromhex(key) for key_id, key in file.keys.items()}
        except OSError as error:
            raise KeyAbsent(f"the seal key file {path} cannot be read: {error.strerror}") from None
        except (msgspec.DecodeError, ValueError):
            # Without a cause: the error would quote the file.
            raise KeyAbsent(f"the seal key file {path} is not of the form {{current, keys}}") from None
        return cls(file.current, keys)

    @property
    def key_id(self) -> str:
        """The key that seals now."""
        return self._current

    def seal(self, plain: bytes, aad: bytes) -> bytes:
        """Return a token that opens only with the same `aad` (where it belongs: stream, version)."""
        nonce = os.urandom(_NONCE_BYTES)
        return self._prefix + nonce + self._ciphers[self._current].encrypt(nonce, plain, aad)

    def open(self, token: bytes, aad: bytes) -> bytes:
        """Return what was sealed. Raises KeyAbsent where the named key is not here, Unreadable otherwise."""
        key_id, body = self._split(token)
        cipher = self._ciphers.get(key_id)
        if cipher is None:
            raise KeyAbsent(f"the seal key {key_id!r} is not in the key file: put it back")
        try:
            return cipher.decrypt(body[:_NONCE_BYTES], body[_NONCE_BYTES:], aad)
        except (InvalidTag, ValueError):
            raise Unreadable("the seal does not match its place or its content") from None

    def fingerprint(self, body: bytes) -> bytes:
        """Return a keyed hash of a command's body: equal for equal bodies, no help in guessing one."""
        return self._prefix + hmac.digest(self._printers[self._current], body, "sha256")

    def is_of(self, fingerprint: bytes, body: bytes) -> bool:
        """Whether a stored fingerprint is that of `body`, also under an older key; raises KeyAbsent."""
        key_id, digest = self._split(fingerprint)
        printer = self._printers.get(key_id)
        if printer is None:
            raise KeyAbsent(f"the seal key {key_id!r} is not in the key file: put it back")
        return hmac.compare_digest(digest, hmac.digest(printer, body, hashlib.sha256))

    @staticmethod
    def _prefix_of(key_id: str) -> bytes:
        encoded = key_id.encode()
        return _VERSION + bytes([len(encoded)]) + encoded

    @staticmethod
    def _split(token: bytes) -> tuple[str, bytes]:
        if len(token) < 2 or token[:1] != _VERSION or len(token) < 2 + token[1]:
            raise Unreadable("not a seal")
        end = 2 + token[1]
        return token[2:end].decode("utf-8", "replace"), token[end:]
