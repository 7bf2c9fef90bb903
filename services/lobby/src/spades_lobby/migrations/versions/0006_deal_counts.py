"""Counts of revealed deals, and which hands are in them."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_STATEMENTS = (
    """
    CREATE TABLE counted_hand (
        table_id text    NOT NULL,
        hand_no  integer NOT NULL,
        PRIMARY KEY (table_id, hand_no)
    )
    """,
    """
    CREATE TABLE deal_count (
        deck_id integer NOT NULL,
        measure text    NOT NULL,
        seat    integer NOT NULL,
        value   integer NOT NULL,
        hands   bigint  NOT NULL CHECK (hands > 0),
        PRIMARY KEY (deck_id, measure, seat, value)
    )
    """,
)


def upgrade() -> None:
    for statement in _STATEMENTS:
        op.execute(statement)
