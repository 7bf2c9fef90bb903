"""The Kafka jars: resolved once into the user's cache, checked before each start."""

import contextlib
import fcntl
import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from spades_local.places import told_when_full
from spades_local.problems import JarsUnavailable, WheelMissing

KAFKA_VERSION = "4.1.1"
COORDINATES = (
    f"org.apache.kafka:kafka_2.13:{KAFKA_VERSION}",
    # Without it the broker logs nothing: its own list leaves the choice of a logger open. Resolved
    # apart, since together with it an older Kafka client would win.
    "org.apache.logging.log4j:log4j-slf4j-impl:2.24.3",
)
RESOLVE_LIMIT_S = 300

# Puts the jars anywhere below the given folder and says where.
Resolve = Callable[[Path], list[Path]]


def ensure_jars(cache: Path, tell: Callable[[str], None], resolve: Resolve | None = None) -> tuple[Path, ...]:
    """The jars of the broker, intact; resolves them when absent or damaged.

    Raises JarsUnavailable when they cannot be had, WheelMissing without the resolver.
    """
    with _alone_in(cache):
        return _ensured(cache, tell, resolve or _resolve)


@contextlib.contextmanager
def _alone_in(cache: Path) -> Iterator[None]:
    """One fetch at a time: whoever starts meanwhile waits, and then finds the jars."""
    with contextlib.ExitStack() as held:
        # A cache folder that cannot be written is told of where the jars are put.
        with contextlib.suppress(OSError):
            cache.mkdir(parents=True, exist_ok=True)
            fcntl.flock(held.enter_context((cache / "fetching.lock").open("a")), fcntl.LOCK_EX)
        yield


def _ensured(cache: Path, tell: Callable[[str], None], resolve: Resolve) -> tuple[Path, ...]:
    folder = cache / f"kafka-{KAFKA_VERSION}"
    manifest = folder / "jars.json"
    if manifest.exists():
        damaged = _damaged(folder, manifest)
        if not damaged:
            return _listed(folder, manifest)
        tell(f"The cached Kafka jars in {folder} are damaged ({damaged}); fetching them again.")
    else:
        tell("Fetching the Kafka jars (43 MB, about half a minute, only the first time).")
    _replace(folder, manifest, resolve)
    damaged = _damaged(folder, manifest)
    if damaged:
        raise JarsUnavailable(
            f"The Kafka jars in {folder} are damaged again right after fetching ({damaged}).\n"
            "Check that disk, or set SPADES_CACHE_DIR to a folder on another one."
        )
    return _listed(folder, manifest)


def _replace(folder: Path, manifest: Path, resolve: Resolve) -> None:
    with told_when_full(folder.parent):
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            work = Path(tempfile.mkdtemp(prefix="resolving-", dir=folder.parent))
        except (PermissionError, NotADirectoryError, FileExistsError, FileNotFoundError) as error:
            raise JarsUnavailable(
                f"The cache folder {folder.parent} cannot be written ({error.strerror}).\n"
                "Make it writable, delete what is in its place, or set SPADES_CACHE_DIR."
            ) from error
        try:
            jars = resolve(work)
            fresh = work / "fresh"
            fresh.mkdir()
            for jar in jars:
                shutil.copy2(jar, fresh / jar.name)
            sums = {jar.name: _fingerprint(fresh / jar.name) for jar in jars}
            listed = {"coordinates": COORDINATES, "sums": sums}
            (fresh / manifest.name).write_text(json.dumps(listed, indent=1, sort_keys=True))
            if folder.is_dir():
                # Renamed away first: another start may be reading the list meanwhile.
                folder.rename(work / "old")
            else:
                folder.unlink(missing_ok=True)
            fresh.rename(folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def _resolve(work: Path) -> list[Path]:
    if importlib.util.find_spec("jgo") is None:
        raise WheelMissing(
            "The jar resolver jgo is not installed. Run `make setup`; or start a Kafka 4 of your "
            "own and set SPADES_KAFKA_BOOTSTRAP to its address."
        )
    for coordinate in COORDINATES:
        _resolve_one(work, coordinate)
    # The resolver prints only the class path; the jars it takes for modules lie beside it.
    by_name = {jar.name: jar for jar in sorted((work / "cache").rglob("*.jar"))}
    for needed in (f"kafka_2.13-{KAFKA_VERSION}.jar", f"kafka-clients-{KAFKA_VERSION}.jar"):
        if needed not in by_name:
            raise JarsUnavailable(_unavailable(f"{needed} is not among {sorted(by_name)}"))
    return list(by_name.values())


def _resolve_one(work: Path, coordinate: str) -> None:
    command = [
        *(sys.executable, "-m", "jgo", "--ignore-config", "--color", "plain"),
        *("--resolver", "python", "--links", "copy"),
        *("--cache-dir", str(work / "cache"), "--repo-cache", str(work / "repository")),
        *("info", "jars", coordinate),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=RESOLVE_LIMIT_S)
    except subprocess.TimeoutExpired as error:
        raise JarsUnavailable(_unavailable(f"no end after {RESOLVE_LIMIT_S} s")) from error
    if done.returncode != 0:
        raise JarsUnavailable(_unavailable((done.stderr or done.stdout).strip()[-2000:]))


def _unavailable(why: str) -> str:
    return (
        f"The Kafka jars ({COORDINATES[0]}) could not be fetched:\n{why}\n"
        "Check the network and try again; or start a Kafka 4 of your own and set "
        "SPADES_KAFKA_BOOTSTRAP to its address."
    )


def _damaged(folder: Path, manifest: Path) -> str:
    """What is wrong with the folder, or nothing."""
    try:
        listed = json.loads(manifest.read_text())
        sums = listed["sums"] if listed["coordinates"] == [*COORDINATES] else {}
        wrong = [name for name, known in sums.items() if _fingerprint(folder / name) != known]
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"
    if not sums:
        return "a list of other packages"
    return ", ".join(wrong[:3])


def _listed(folder: Path, manifest: Path) -> tuple[Path, ...]:
    return tuple(folder / name for name in json.loads(manifest.read_text())["sums"])


def _fingerprint(jar: Path) -> str:
    return hashlib.sha256(jar.read_bytes()).hexdigest()
