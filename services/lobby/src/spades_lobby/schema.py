"""The gateway's tables: people, and the read model of games and coins."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)

metadata = MetaData()

# A guest is an account without a password; it is upgraded by giving it one.
account = Table(
    "account",
    metadata,
    Column("account_id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    # What names are told apart by: no two accounts look alike. Null once a name was given back.
    Column("skeleton", Text, unique=True),
    Column("password", Text),
    # What the recovery code is known by; null where there is none.
    Column("recovery_hash", LargeBinary),
    Column("wallet_open", Boolean, nullable=False, server_default=text("false")),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=text("now()")),
    Index(
        "account_wallet_not_open",
        "created_at",
        postgresql_where=text("password IS NOT NULL AND NOT wallet_open"),
    ),
)

session = Table(
    "session",
    metadata,
    Column("token_hash", LargeBinary, primary_key=True),
    # Stays when the token changes: sockets and tickets belong to it.
    Column("session_id", Text, nullable=False, unique=True, server_default=text("gen_random_uuid()")),
    Column("account_id", Text, ForeignKey("account.account_id"), nullable=False, index=True),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=text("now()")),
    # Null: a personal token without an end.
    Column("expires_at", DateTime(timezone=True), index=True),
    # Of a personal token, with its owner's word for it; both null for a log-in.
    Column("scope", Text),
    Column("label", Text),
)

ticket = Table(
    "ticket",
    metadata,
    Column("token_hash", LargeBinary, primary_key=True),
    Column(
        "session_id",
        Text,
        ForeignKey("session.session_id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("expires_at", DateTime(timezone=True), nullable=False, index=True),
)

game = Table(
    "game",
    metadata,
    Column("table_id", Text, primary_key=True),
    # The version of the last event folded in: what came before is not folded again.
    Column("version", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("phase", Text, nullable=False),
    Column("opened_at", DateTime(timezone=True), nullable=False),
    Column("state", JSON, nullable=False),
    Index(
        "game_open",
        "opened_at",
        "table_id",
        postgresql_where=text("phase = 'seating'"),
    ),
)

player = Table(
    "player",
    metadata,
    Column("account_id", Text, primary_key=True),
    Column("table_id", Text, primary_key=True),
    Column("joined_at", DateTime(timezone=True), nullable=False),
    Index("player_games", "account_id", "joined_at", "table_id"),
)

game_event = Table(
    "game_event",
    metadata,
    Column("table_id", Text, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("type", Text, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("seats", Text, nullable=False),
    Column("body", JSON, nullable=False),
)

balance = Table(
    "balance",
    metadata,
    Column("account_id", Text, primary_key=True),
    Column("entry_no", BigInteger, nullable=False),
    Column("available_coins", BigInteger, nullable=False),
    Column("held_coins", BigInteger, nullable=False),
)

entry = Table(
    "entry",
    metadata,
    Column("account_id", Text, primary_key=True),
    Column("entry_no", BigInteger, primary_key=True),
    Column("type", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("change_coins", BigInteger, nullable=False),
    Column("available_coins", BigInteger, nullable=False),
    Column("held_coins", BigInteger, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
)

closed_table = Table(
    "closed_table",
    metadata,
    Column("table_id", Text, primary_key=True),
    Column("host", Text, nullable=False),
    # Of a private table's invite; null at the queue's tables, which everybody may watch.
    Column("code", Text, unique=True),
    Column("opened_at", DateTime(timezone=True), nullable=False, server_default=text("now()")),
)

admitted = Table(
    "admitted",
    metadata,
    Column("table_id", Text, ForeignKey("closed_table.table_id", ondelete="CASCADE"), primary_key=True),
    Column("account_id", Text, primary_key=True),
)

queued = Table(
    "queued",
    metadata,
    Column("account_id", Text, ForeignKey("account.account_id"), primary_key=True),
    Column("ruleset", Text, nullable=False),
    Column("stake_coins", BigInteger, nullable=False),
    Column("seed_commit", Text),
    Column("bots_accepted", Boolean, nullable=False),
    Column("state", Text, nullable=False),
    Column("since", DateTime(timezone=True), nullable=False, server_default=text("now()")),
    Column("table_id", Text),
    Column("matched_at", DateTime(timezone=True)),
    Column("with_bots", Boolean, nullable=False, server_default=text("false")),
    Column("refusal", Text),
)

muted = Table(
    "muted",
    metadata,
    Column("account_id", Text, ForeignKey("account.account_id"), primary_key=True),
    Column("muted_id", Text, ForeignKey("account.account_id"), primary_key=True),
)

report = Table(
    "report",
    metadata,
    Column("report_id", BigInteger, primary_key=True),
    Column("at", DateTime(timezone=True), nullable=False, server_default=text("now()")),
    Column("account_id", Text, ForeignKey("account.account_id"), nullable=False),
    Column("about_id", Text, ForeignKey("account.account_id"), nullable=False),
    Column("table_id", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("said", JSON, nullable=False),
    Index("report_about", "about_id", "at"),
)

# Which revealed hands are in the counts: each once, however often its event comes.
counted_hand = Table(
    "counted_hand",
    metadata,
    Column("table_id", Text, primary_key=True),
    Column("hand_no", Integer, primary_key=True),
)

deal_count = Table(
    "deal_count",
    metadata,
    Column("deck_id", Integer, primary_key=True),
    Column("measure", Text, primary_key=True),
    Column("seat", Integer, primary_key=True),
    Column("value", Integer, primary_key=True),
    Column("hands", BigInteger, nullable=False),
)

__all__ = [
    "account",
    "admitted",
    "balance",
    "closed_table",
    "counted_hand",
    "deal_count",
    "entry",
    "game",
    "game_event",
    "metadata",
    "muted",
    "player",
    "queued",
    "report",
    "session",
    "ticket",
]
