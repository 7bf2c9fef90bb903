"""People, and the read model of games and coins."""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_STATEMENTS = (
    # A guest is an account without a password. The skeleton is what names are told apart by;
    # it is null once a name was given back.
    """
    CREATE TABLE account (
        account_id  text        PRIMARY KEY,
        name        text        NOT NULL,
        skeleton    text        UNIQUE,
        password    text,
        wallet_open boolean     NOT NULL DEFAULT false,
        created_at  timestamptz NOT NULL DEFAULT now()
    )
    """,
    """
    CREATE INDEX account_wallet_not_open ON account (created_at)
        WHERE password IS NOT NULL AND NOT wallet_open
    """,
    # Tokens are never stored, only their hashes.
    """
    CREATE TABLE session (
        token_hash bytea       PRIMARY KEY,
        account_id text        NOT NULL REFERENCES account,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX session_account ON session (account_id)",
    "CREATE INDEX session_expires ON session (expires_at)",
    """
    CREATE TABLE ticket (
        token_hash   bytea       PRIMARY KEY,
        session_hash bytea       NOT NULL REFERENCES session ON DELETE CASCADE,
        expires_at   timestamptz NOT NULL
    )
    """,
    "CREATE INDEX ticket_session ON ticket (session_hash)",
    "CREATE INDEX ticket_expires ON ticket (expires_at)",
    # One table as its events say: `version` is the last one folded into `state`.
    """
    CREATE TABLE game (
        table_id  text        PRIMARY KEY,
        version   int         NOT NULL,
        kind      text        NOT NULL,
        phase     text        NOT NULL,
        opened_at timestamptz NOT NULL,
        state     json        NOT NULL
    )
    """,
    "CREATE INDEX game_open ON game (opened_at, table_id) WHERE phase = 'seating'",
    """
    CREATE TABLE player (
        account_id text        NOT NULL,
        table_id   text        NOT NULL,
        joined_at  timestamptz NOT NULL,
        PRIMARY KEY (account_id, table_id)
    )
    """,
    "CREATE INDEX player_games ON player (account_id, joined_at, table_id)",
    # The public log as it was read: json, not jsonb, keeps the bytes of a record.
    """
    CREATE TABLE game_event (
        table_id text   NOT NULL,
        version  int    NOT NULL,
        type     text   NOT NULL,
        at_ms    bigint NOT NULL,
        seats    text   NOT NULL,
        body     json   NOT NULL,
        PRIMARY KEY (table_id, version)
    )
    """,
    """
    CREATE TABLE balance (
        account_id      text   PRIMARY KEY,
        entry_no        bigint NOT NULL,
        available_coins bigint NOT NULL,
        held_coins      bigint NOT NULL
    )
    """,
    """
    CREATE TABLE entry (
        account_id      text   NOT NULL,
        entry_no        bigint NOT NULL,
        type            text   NOT NULL,
        subject         text   NOT NULL,
        change_coins    bigint NOT NULL,
        available_coins bigint NOT NULL,
        held_coins      bigint NOT NULL,
        at_ms           bigint NOT NULL,
        PRIMARY KEY (account_id, entry_no)
    )
    """,
)


def upgrade() -> None:
    for statement in _STATEMENTS:
        op.execute(statement)
