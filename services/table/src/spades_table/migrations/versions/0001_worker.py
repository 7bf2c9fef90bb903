"""The worker's tables: partitions, answers (the events), snapshots, records set aside."""

from alembic import op

from spades_runtime.schema import create_worker_tables

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_worker_tables(op)
