"""The worker's connection: autocommit, its schema first, never a server that forgets commits."""

from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo

from spades_runtime import arrays
from spades_runtime.errors import UnsafeDatabase
from spades_runtime.settings import RuntimeSettings
from spades_runtime.types import Database

CONNECT_LIMIT_S = 5
STATEMENT_LIMIT_MS = 30_000
# A frozen owner must not hold row locks that its successor waits for.
IDLE_IN_TRANSACTION_LIMIT_MS = 5_000
# An unanswered packet: the connection counts as lost.
SILENCE_LIMIT_MS = 10_000

_SAFE = {
    "synchronous_commit": {"on", "remote_apply"},
    "fsync": {"on"},
    "full_page_writes": {"on"},
}


async def connect(settings: RuntimeSettings) -> Database:
    """Open a connection and check that the server keeps what it acknowledges.

    Raises UnsafeDatabase for a server setting that loses commits, psycopg.OperationalError
    where the server does not answer.
    """
    options = " ".join(
        f"-c {name}={value}"
        for name, value in {
            "search_path": settings.schema_name,
            "statement_timeout": STATEMENT_LIMIT_MS,
            "idle_in_transaction_session_timeout": IDLE_IN_TRANSACTION_LIMIT_MS,
            # Planning the hot statement anew costs a third of its time at low load.
            "plan_cache_mode": "force_generic_plan",
        }.items()
    )
    conninfo = make_conninfo(
        settings.database_url,
        options=options,
        application_name=settings.member_name,
        connect_timeout=CONNECT_LIMIT_S,
        keepalives_idle=5,
        keepalives_interval=2,
        keepalives_count=3,
        tcp_user_timeout=SILENCE_LIMIT_MS,
    )
    connection = await AsyncConnection.connect(conninfo, autocommit=True)
    arrays.register(connection.adapters)
    try:
        await _refuse_unsafe(connection)
    except BaseException:
        await connection.close()
        raise
    return connection


async def _refuse_unsafe(connection: Database) -> None:
    for name, safe in _SAFE.items():
        cursor = await connection.execute("SELECT current_setting(%s)", [name])
        row = await cursor.fetchone()
        assert row is not None
        if row[0] not in safe:
            raise UnsafeDatabase(
                f"Postgres runs with {name} = {row[0]}: a crash of the server would lose acknowledged "
                f"moves and coins. Set {name} = on and start again."
            )
