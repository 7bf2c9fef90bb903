"""Tables that not everybody may enter, and the queue for online tables."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_STATEMENTS = (
    # A private table has the code of its invite. One without a code is the queue's: everybody may
    # watch it, and only those who were matched may sit.
    """
    CREATE TABLE closed_table (
        table_id  text        PRIMARY KEY,
        host      text        NOT NULL,
        code      text        UNIQUE,
        opened_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    """
    CREATE TABLE admitted (
        table_id   text NOT NULL REFERENCES closed_table ON DELETE CASCADE,
        account_id text NOT NULL,
        PRIMARY KEY (table_id, account_id)
    )
    """,
    # One row an account: nobody waits twice. `waiting` until matched, `matched` until all sit.
    """
    CREATE TABLE queued (
        account_id    text        PRIMARY KEY REFERENCES account,
        ruleset       text        NOT NULL,
        stake_coins   bigint      NOT NULL,
        seed_commit   text,
        bots_accepted boolean     NOT NULL,
        state         text        NOT NULL CHECK (state IN ('waiting', 'matched', 'seated', 'refused')),
        since         timestamptz NOT NULL DEFAULT now(),
        table_id      text,
        matched_at    timestamptz,
        with_bots     boolean     NOT NULL DEFAULT false,
        refusal       text
    )
    """,
    "CREATE INDEX queued_waiting ON queued (ruleset, stake_coins, since) WHERE state = 'waiting'",
    "CREATE INDEX queued_matched ON queued (table_id) WHERE state = 'matched'",
)


def upgrade() -> None:
    for statement in _STATEMENTS:
        op.execute(statement)
