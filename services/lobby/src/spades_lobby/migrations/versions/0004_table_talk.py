"""Who hears whom no more, and what was reported."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_STATEMENTS = (
    """
    CREATE TABLE muted (
        account_id text NOT NULL REFERENCES account,
        muted_id   text NOT NULL REFERENCES account,
        PRIMARY KEY (account_id, muted_id)
    )
    """,
    # `said` is what the reported person said last at the table, as the reporter's gateway had it.
    """
    CREATE TABLE report (
        report_id  bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        at         timestamptz NOT NULL DEFAULT now(),
        account_id text        NOT NULL REFERENCES account,
        about_id   text        NOT NULL REFERENCES account,
        table_id   text        NOT NULL,
        reason     text        NOT NULL,
        said       json        NOT NULL
    )
    """,
    "CREATE INDEX report_about ON report (about_id, at)",
)


def upgrade() -> None:
    for statement in _STATEMENTS:
        op.execute(statement)
