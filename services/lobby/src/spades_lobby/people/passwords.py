"""Passwords: Argon2id, in threads of their own, so that nobody's game waits for it."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

LENGTH_MIN: Final = 8
# Long enough for a phrase; bounded, as the whole text goes through the hash.
LENGTH_MAX: Final = 128


class Passwords:
    """Hashes and checks in `threads` threads. `close` it."""

    def __init__(self, threads: int) -> None:
        self._hasher = PasswordHash((Argon2Hasher(),))
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="password")
        self._nobody = self._hasher.hash("nobody has this password")

    async def hash(self, password: str) -> str:
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._hasher.hash, password)

    async def fits(self, password: str, stored: str | None) -> bool:
        """Whether the password is the stored one. Without a stored one it takes as long to say no."""
        right = await asyncio.get_running_loop().run_in_executor(
            self._pool, self._hasher.verify, password, stored or self._nobody
        )
        return right and stored is not None

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
