"""Where the stack keeps things: what must last, and what can be fetched again."""

import errno
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from spades_local.problems import DiskFull, WrongSetting

# A fresh Postgres and Kafka take about 150 MB; below this a first evening fills the disk.
FREE_BYTES_MIN = 500_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Places:
    """The state folder (both stores, secrets, logs) and the per-user cache folder."""

    state: Path
    cache: Path

    @property
    def pgdata(self) -> Path:
        return self.state / "pgdata"

    @property
    def kafka(self) -> Path:
        return self.state / "kafka"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    @property
    def secrets(self) -> Path:
        return self.state / "secrets.json"

    @property
    def seal_key(self) -> Path:
        return self.state / "seal_key.json"

    @property
    def operators(self) -> Path:
        return self.state / "operators"

    @property
    def operator_token(self) -> Path:
        return self.state / "operator-token"

    @property
    def given(self) -> Path:
        return self.state / "given.json"

    @property
    def record(self) -> Path:
        return self.state / "state.json"

    @property
    def lock(self) -> Path:
        return self.state / "lock"

    @property
    def env(self) -> Path:
        return self.state / "env.sh"


def find_places(environ: Mapping[str, str] = os.environ) -> Places:
    """SPADES_STATE_DIR and SPADES_CACHE_DIR, else `.spades` here and the user's cache folder."""
    state = Path(environ.get("SPADES_STATE_DIR") or ".spades")
    cache = environ.get("SPADES_CACHE_DIR") or platformdirs.user_cache_path("spades")
    return Places(state=state.expanduser().resolve(), cache=Path(cache).expanduser().resolve())


def make_state_folder(places: Places, free_bytes_min: int = FREE_BYTES_MIN) -> None:
    """Create the state folder; raises DiskFull before anything is half written, WrongSetting where none can be."""
    try:
        with told_when_full(places.state):
            places.logs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WrongSetting(
            f"The state folder {places.state} cannot be made ({error.strerror}).\n"
            "Set SPADES_STATE_DIR to a folder that can."
        ) from error
    free_bytes = shutil.disk_usage(places.state).free
    if free_bytes < free_bytes_min:
        raise DiskFull(
            f"Only {free_bytes // 1_000_000} MB are free for {places.state}; "
            f"{free_bytes_min // 1_000_000} MB are needed.\n"
            "Free some space, or set SPADES_STATE_DIR to a folder on a larger disk."
        )


@contextmanager
def told_when_full(folder: Path) -> Iterator[None]:
    """Turn the operating system's 'no space left' into a message that says where."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise DiskFull(
            f"The disk of {folder} is full.\n"
            "Free some space, or set SPADES_STATE_DIR (or SPADES_CACHE_DIR) to a larger disk."
        ) from error


def write_private(path: Path, text: str) -> None:
    """Write `text` so that only its owner can read it, whole or not at all."""
    with told_when_full(path.parent):
        beside = path.with_name(path.name + ".new")
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
