"""A session keeps its id when its token changes: sockets and tickets belong to the session."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_STATEMENTS = (
    "ALTER TABLE session ADD COLUMN session_id text NOT NULL DEFAULT gen_random_uuid()::text UNIQUE",
    # Tickets live for half a minute: whoever holds one gets another.
    "DELETE FROM ticket",
    "ALTER TABLE ticket DROP COLUMN session_hash",
    "ALTER TABLE ticket ADD COLUMN session_id text NOT NULL REFERENCES session (session_id) ON DELETE CASCADE",
    "CREATE INDEX ticket_session_id ON ticket (session_id)",
)


def upgrade() -> None:
    for statement in _STATEMENTS:
        op.execute(statement)
