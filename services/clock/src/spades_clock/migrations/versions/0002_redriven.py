"""Which of the parked records were judged again, and who wanted it."""

from alembic import op

from spades_runtime.schema import create_redriven_table

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_redriven_table(op)
