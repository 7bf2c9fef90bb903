"""Personal tokens are sessions of a lesser scope; an account has a recovery code."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_STATEMENTS = (
    # Null: a log-in, which may do everything. A token has a scope and its owner's word for it.
    """
    ALTER TABLE session
        ADD COLUMN scope text CHECK (scope IN ('read', 'bot', 'play')),
        ADD COLUMN label text,
        ALTER COLUMN expires_at DROP NOT NULL,
        ADD CONSTRAINT session_token_is_named CHECK ((scope IS NULL) = (label IS NULL)),
        ADD CONSTRAINT session_log_in_expires CHECK (scope IS NOT NULL OR expires_at IS NOT NULL)
    """,
    "ALTER TABLE account ADD COLUMN recovery_hash bytea",
)


def upgrade() -> None:
    for statement in _STATEMENTS:
        op.execute(statement)
