"""The worker's tables, made by the first migration of every service that runs a worker.

partition    who may write, how far inputs were read and outputs published
answer       one row per answered command: its events or its refusal
snapshot     the newest stored state of each stream
parked       records set aside, in their order
quarantine   streams whose event records are set aside until they are redriven
redriven     which of the parked were judged again, and who wanted it
"""

import os
from typing import Protocol

APP_ROLE_VARIABLE = "SPADES_DATABASE_APP_ROLE"

_TABLES = (
    # Updated with every commit: room on its page keeps the updates off the indexes.
    """
    CREATE TABLE partition (
        part             int    PRIMARY KEY,
        epoch            bigint NOT NULL,
        next_offsets     jsonb  NOT NULL,
        seq              bigint NOT NULL,
        published_seq    bigint NOT NULL CHECK (published_seq <= seq),
        alive_at_ms      bigint,
        kafka_cluster_id text   NOT NULL
    ) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)
    """,
    """
    CREATE TABLE answer (
        part          int    NOT NULL,
        seq           bigint NOT NULL,
        stream        text   COLLATE "C" NOT NULL,
        account       text   COLLATE "C" NOT NULL,
        command_id    text   COLLATE "C" NOT NULL,
        fingerprint   bytea  NOT NULL,
        first_version bigint NOT NULL,
        last_version  bigint NOT NULL,
        events        text,
        refusal       bytea,
        at_ms         bigint NOT NULL,
        traceparent   text,
        CONSTRAINT answer_seq PRIMARY KEY (part, seq),
        CONSTRAINT answer_id UNIQUE (stream, account, command_id),
        CONSTRAINT answer_is_one_of_two CHECK ((events IS NULL) OR (refusal IS NULL))
    )
    """,
    # Two answers can never hold the same version of a stream.
    """
    CREATE UNIQUE INDEX answer_version ON answer (stream, first_version) WHERE events IS NOT NULL
    """,
    "CREATE INDEX answer_refused ON answer (at_ms) WHERE refusal IS NOT NULL",
    """
    CREATE TABLE snapshot (
        stream  text    COLLATE "C" PRIMARY KEY,
        part    int     NOT NULL,
        version bigint  NOT NULL,
        body    bytea   NOT NULL,
        retired boolean NOT NULL
    )
    """,
    "CREATE INDEX snapshot_live ON snapshot (part) WHERE NOT retired",
    """
    CREATE TABLE parked (
        topic       text    NOT NULL,
        part        int     NOT NULL,
        "offset"    bigint  NOT NULL,
        seq         bigint  NOT NULL,
        key         bytea,
        headers     text    NOT NULL,
        payload     bytea,
        form        text    NOT NULL CHECK (form IN ('whole', 'cut', 'sealed', 'left_out')),
        reason      text    NOT NULL,
        quarantined boolean NOT NULL,
        at_ms       bigint  NOT NULL,
        PRIMARY KEY (topic, part, "offset")
    )
    """,
    "CREATE INDEX parked_seq ON parked (part, seq)",
    """
    CREATE TABLE quarantine (
        part     int    NOT NULL,
        stream   text   COLLATE "C" NOT NULL,
        reason   text   NOT NULL,
        since_ms bigint NOT NULL,
        PRIMARY KEY (part, stream)
    )
    """,
    # The one deletion there is: no role needs DELETE on answers for it.
    """
    CREATE FUNCTION forget_refusals(before_ms bigint, rows_max int) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT
    BEGIN ATOMIC
        WITH old AS (
            SELECT part, seq FROM answer WHERE refusal IS NOT NULL AND at_ms < before_ms ORDER BY at_ms LIMIT rows_max
        ), gone AS (
            DELETE FROM answer AS a USING old WHERE a.part = old.part AND a.seq = old.seq RETURNING 1
        )
        SELECT count(*) FROM gone;
    END
    """,
)

_GRANTS = (
    "REVOKE ALL ON partition, answer, snapshot, parked, quarantine FROM {role}",
    "GRANT SELECT, INSERT, UPDATE ON partition, snapshot TO {role}",
    # History is added to, never changed.
    "GRANT SELECT, INSERT ON answer, parked TO {role}",
    "GRANT SELECT, INSERT, DELETE ON quarantine TO {role}",
    "REVOKE ALL ON FUNCTION forget_refusals FROM PUBLIC",
    "GRANT EXECUTE ON FUNCTION forget_refusals TO {role}",
)


class Operations(Protocol):
    """The part of Alembic's `op` that is used here."""

    def execute(self, sqltext: str, /) -> object: ...


def create_worker_tables(op: Operations, app_role: str | None = None) -> None:
    """Create the worker's tables in the migrated schema and let the service's role use them.

    The role comes from SPADES_DATABASE_APP_ROLE unless it is given; without one nothing is granted.
    """
    for statement in _TABLES:
        op.execute(statement)
    role = app_role or os.environ.get(APP_ROLE_VARIABLE)
    if role:
        for statement in _GRANTS:
            op.execute(statement.format(role=quoted(role)))


_REDRIVEN = """
CREATE TABLE redriven (
    topic    text   NOT NULL,
    part     int    NOT NULL,
    "offset" bigint NOT NULL,
    by       text   NOT NULL,
    at_ms    bigint NOT NULL,
    PRIMARY KEY (topic, part, "offset"),
    FOREIGN KEY (topic, part, "offset") REFERENCES parked
)
"""


def create_redriven_table(op: Operations, app_role: str | None = None) -> None:
    """Create, behind the worker's tables, the marks of what was judged again; a migration of its own."""
    op.execute(_REDRIVEN)
    role = app_role or os.environ.get(APP_ROLE_VARIABLE)
    if role:
        op.execute(f"REVOKE ALL ON redriven FROM {quoted(role)}")
        op.execute(f"GRANT SELECT, INSERT ON redriven TO {quoted(role)}")


def quoted(name: str) -> str:
    """Return an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
