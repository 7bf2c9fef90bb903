"""The worker's tables, and one row for each table's deadline."""

import os

from alembic import op

from spades_runtime.schema import APP_ROLE_VARIABLE, create_worker_tables, quoted

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_worker_tables(op)
    op.execute(
        """
        CREATE TABLE timer (
            table_id    text   PRIMARY KEY,
            part        int    NOT NULL,
            version     bigint NOT NULL,
            deadline_id bigint,
            due_ms      bigint,
            CONSTRAINT timer_runs_or_not CHECK ((deadline_id IS NULL) = (due_ms IS NULL))
        ) WITH (fillfactor = 50)
        """
    )
    op.execute("CREATE INDEX timer_part ON timer (part)")
    role = os.environ.get(APP_ROLE_VARIABLE)
    if role:
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON timer TO {quoted(role)}")
