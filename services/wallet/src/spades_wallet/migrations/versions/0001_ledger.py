"""The ledger: accounts, transfers that only ever are added, and two functions as the only way in.

transfer     one row = one movement; append-only, hash-chained per partition
account      players and escrow with a balance that cannot be negative
chain        the last transfer of each partition, so that hashes and numbers have no gap
checkpoint   sums of house, fees and issuer up to a transfer, so that nobody adds up all of history

House, fees and issuer have no balance row: every game would wait for it in turn.
"""

import os

from alembic import op

from spades_runtime.schema import APP_ROLE_VARIABLE, create_worker_tables, quoted

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TABLES = (
    """
    CREATE FUNCTION kind_of(id text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN id IN ('house', 'fees', 'issuer') THEN id
                WHEN id LIKE 'hold:_%' THEN 'hold'
                WHEN id LIKE 'pot:_%' THEN 'pot'
                WHEN id IN ('', 'bot') OR id LIKE '%:%' THEN 'none'
                ELSE 'player' END
    """,
    # Every movement updates a row or two here: room on the page keeps that off the indexes.
    """
    CREATE TABLE account (
        id           text COLLATE "C" PRIMARY KEY,
        kind         text    NOT NULL,
        owner        text COLLATE "C",
        table_id     text COLLATE "C",
        opened_coins bigint  NOT NULL,
        balance      bigint  NOT NULL,
        entry_no     bigint  NOT NULL,
        shut         boolean NOT NULL DEFAULT false,
        CONSTRAINT account_kind CHECK (kind IN ('player', 'hold', 'pot') AND kind = kind_of(id)),
        CONSTRAINT account_not_negative CHECK (balance >= 0),
        CONSTRAINT account_exact CHECK (balance <= 9007199254740991),
        CONSTRAINT account_shut_is_empty CHECK (NOT shut OR balance = 0),
        CONSTRAINT account_owner CHECK ((owner IS NOT NULL) = (kind = 'hold')),
        CONSTRAINT account_table CHECK ((table_id IS NOT NULL) = (kind <> 'player'))
    ) WITH (fillfactor = 70)
    """,
    "CREATE INDEX account_running_holds ON account (owner) WHERE kind = 'hold' AND NOT shut",
    "CREATE INDEX account_table_escrow ON account (table_id) WHERE kind <> 'player'",
    """
    CREATE TABLE transfer (
        part            int    NOT NULL,
        seq             bigint NOT NULL,
        key             text COLLATE "C" NOT NULL,
        fingerprint     bytea  NOT NULL,
        debit           text COLLATE "C" NOT NULL,
        credit          text COLLATE "C" NOT NULL,
        amount          bigint NOT NULL,
        code            text   NOT NULL,
        table_id        text,
        note            text,
        at_ms           bigint NOT NULL,
        debit_entry_no  bigint,
        debit_balance   bigint,
        credit_entry_no bigint,
        credit_balance  bigint,
        previous_hash   bytea  NOT NULL,
        hash            bytea  NOT NULL,
        CONSTRAINT transfer_seq PRIMARY KEY (part, seq),
        CONSTRAINT transfer_key UNIQUE (key),
        CONSTRAINT transfer_between_two CHECK (debit <> credit),
        CONSTRAINT transfer_amount CHECK (amount BETWEEN 0 AND 9007199254740991),
        -- A row without coins opens, closes or settles; anything else of nothing is a mistake.
        CONSTRAINT transfer_moves CHECK (amount > 0 OR code IN ('welcome', 'close', 'settle')),
        CONSTRAINT transfer_fingerprint CHECK (octet_length(fingerprint) = 32),
        CONSTRAINT transfer_allowed CHECK ((
            kind_of(debit) || '>' || kind_of(credit) = CASE code
                WHEN 'welcome' THEN 'issuer>player'
                WHEN 'top_up' THEN 'issuer>player'
                WHEN 'grant' THEN 'issuer>player'
                WHEN 'close' THEN 'player>house'
                WHEN 'hold' THEN 'player>hold'
                WHEN 'void' THEN 'hold>player'
                WHEN 'capture' THEN 'hold>pot'
                WHEN 'house_stake' THEN 'house>pot'
                WHEN 'deposit_back' THEN 'hold>player'
                WHEN 'fee' THEN 'player>fees'
                WHEN 'payout' THEN 'pot>player'
                WHEN 'stake_back' THEN 'pot>player'
                WHEN 'settle' THEN 'pot>house'
            END) IS TRUE)
    )
    """,
    """
    CREATE TABLE chain (
        part int    PRIMARY KEY,
        seq  bigint NOT NULL,
        hash bytea  NOT NULL
    ) WITH (fillfactor = 20)
    """,
    """
    CREATE TABLE checkpoint (
        account text   NOT NULL CHECK (account IN ('house', 'fees', 'issuer')),
        part    int    NOT NULL,
        seq     bigint NOT NULL,
        balance bigint NOT NULL CHECK (abs(balance) <= 9007199254740991),
        PRIMARY KEY (account, part, seq)
    )
    """,
    # A partition's rows become visible in the order of their numbers, because its chain row is
    # locked until the commit: a sum up to a number is final, which it is not across partitions.
    """
    CREATE VIEW system_part AS
    SELECT a.account, c.part, c.seq,
           coalesce(p.balance, 0) + coalesce(t.moved, 0) AS balance
      FROM (VALUES ('house'), ('fees'), ('issuer')) AS a(account)
     CROSS JOIN chain AS c
      LEFT JOIN LATERAL (
           SELECT k.seq, k.balance FROM checkpoint AS k
            WHERE k.account = a.account AND k.part = c.part ORDER BY k.seq DESC LIMIT 1) AS p ON true
     CROSS JOIN LATERAL (
           SELECT sum(CASE WHEN t.credit = a.account THEN t.amount ELSE -t.amount END)::bigint AS moved
             FROM transfer AS t
            WHERE t.part = c.part AND t.seq > coalesce(p.seq, 0)
              AND (t.debit = a.account OR t.credit = a.account)) AS t
    """,
    """
    CREATE VIEW system_balance AS
    SELECT account, sum(balance)::bigint AS balance FROM system_part GROUP BY account
    """,
)

_APPEND_ONLY = (
    """
    CREATE FUNCTION refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION '% on %: the ledger is append-only', TG_OP, TG_TABLE_NAME
            USING ERRCODE = 'insufficient_privilege';
    END $$
    """,
    *(
        f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table} EXECUTE FUNCTION refuse_rewriting()"
        for table in ("transfer", "checkpoint")
        for name, event in (("no_rewriting", "UPDATE OR DELETE"), ("no_truncation", "TRUNCATE"))
    ),
    # Also in a session that plays the replica, where ordinary triggers keep still.
    *(
        f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_{name}"
        for table in ("transfer", "checkpoint")
        for name in ("no_rewriting", "no_truncation")
    ),
)

_FUNCTIONS = (
    """
    CREATE FUNCTION lock_accounts(ids text[]) RETURNS SETOF account
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = {schema}, pg_temp AS $$
    BEGIN
        -- In the order of the ids, always: two that lock in different orders wait for each other.
        RETURN QUERY SELECT * FROM account AS a WHERE a.id = ANY (ids) ORDER BY a.id FOR UPDATE;
    END $$
    """,
    """
    CREATE FUNCTION write_checkpoint(of_part int, up_to bigint) RETURNS void
    LANGUAGE sql SET search_path = {schema}, pg_temp AS $$
        INSERT INTO checkpoint (account, part, seq, balance)
        SELECT account, part, up_to, balance FROM system_part WHERE part = of_part
    $$
    """,
    # What the database is asked to do, it does in this order for each row: known key, debit,
    # credit, hash, insert. The constraints refuse what must not be; nothing is judged twice.
    """
    CREATE FUNCTION post(rows jsonb) RETURNS SETOF account
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = {schema}, pg_temp AS $$
    DECLARE
        touched text[];
        known   bytea;
        r       record;
        a       account;
        d_no bigint; d_balance bigint; c_no bigint; c_balance bigint;
        at_part int; at_seq bigint; last_hash bytea; next_hash bytea;
    BEGIN
        SELECT array_agg(DISTINCT x.id) INTO touched
          FROM jsonb_to_recordset(rows) AS q(debit text, credit text),
               LATERAL (VALUES (q.debit), (q.credit)) AS x(id);
        PERFORM 1 FROM account AS q WHERE q.id = ANY (touched) ORDER BY q.id FOR UPDATE;
        INSERT INTO chain (part, seq, hash)
        SELECT DISTINCT q.part, 0, decode(repeat('00', 32), 'hex')
          FROM jsonb_to_recordset(rows) AS q(part int)
         WHERE NOT EXISTS (SELECT FROM chain AS k WHERE k.part = q.part)
         ORDER BY 1
        ON CONFLICT DO NOTHING;
        PERFORM 1 FROM chain AS q
          WHERE q.part IN (SELECT p.part FROM jsonb_to_recordset(rows) AS p(part int))
          ORDER BY q.part FOR UPDATE;

        FOR r IN
            SELECT * FROM ROWS FROM (jsonb_to_recordset(rows) AS (
                part int, key text, fingerprint text, debit text, credit text, amount bigint,
                code text, table_id text, note text, at_ms bigint)) WITH ORDINALITY
        LOOP
            SELECT t.fingerprint INTO known FROM transfer AS t WHERE t.key = r.key;
            IF FOUND THEN
                CONTINUE WHEN known = decode(r.fingerprint, 'hex');
                RAISE EXCEPTION 'the key % was used for another request', r.key
                    USING ERRCODE = 'unique_violation', CONSTRAINT = 'transfer_request';
            END IF;

            d_no := NULL; d_balance := NULL; c_no := NULL; c_balance := NULL;
            IF r.debit NOT IN ('house', 'fees', 'issuer') THEN
                UPDATE account AS q
                   SET balance = q.balance - r.amount, entry_no = q.entry_no + 1,
                       shut = q.shut OR r.code IN ('close', 'settle')
                              OR (q.kind = 'hold' AND q.balance = r.amount)
                 WHERE q.id = r.debit RETURNING * INTO a;
                IF NOT FOUND AND r.code = 'settle' THEN
                    INSERT INTO account (id, kind, table_id, opened_coins, balance, entry_no, shut)
                    VALUES (r.debit, 'pot', r.table_id, 0, -r.amount, 1, true) RETURNING * INTO a;
                ELSIF NOT FOUND THEN
                    RAISE EXCEPTION 'no account %', r.debit USING ERRCODE = 'foreign_key_violation';
                ELSIF a.kind = 'hold' AND r.code <> 'capture' AND a.owner <> r.credit THEN
                    RAISE EXCEPTION '% is not of %', r.debit, r.credit USING ERRCODE = 'check_violation';
                END IF;
                d_no := a.entry_no; d_balance := a.balance;
            END IF;
            IF r.credit NOT IN ('house', 'fees', 'issuer') THEN
                UPDATE account AS q
                   SET balance = q.balance + r.amount, entry_no = q.entry_no + 1
                 WHERE q.id = r.credit RETURNING * INTO a;
                IF NOT FOUND AND r.code IN ('welcome', 'hold', 'capture', 'house_stake') THEN
                    INSERT INTO account (id, kind, owner, table_id, opened_coins, balance, entry_no)
                    VALUES (r.credit, kind_of(r.credit), CASE WHEN r.code = 'hold' THEN r.debit END,
                            r.table_id, r.amount, r.amount, 1) RETURNING * INTO a;
                ELSIF NOT FOUND THEN
                    RAISE EXCEPTION 'no account %', r.credit USING ERRCODE = 'foreign_key_violation';
                END IF;
                c_no := a.entry_no; c_balance := a.balance;
            END IF;

            IF at_part IS DISTINCT FROM r.part THEN
                UPDATE chain AS q SET seq = at_seq, hash = last_hash WHERE q.part = at_part;
                SELECT q.part, q.seq, q.hash INTO at_part, at_seq, last_hash
                  FROM chain AS q WHERE q.part = r.part;
            END IF;
            at_seq := at_seq + 1;
            next_hash := sha256(last_hash || convert_to(jsonb_build_array(
                r.part, at_seq, r.key, r.fingerprint, r.debit, r.credit, r.amount, r.code, r.table_id,
                r.note, r.at_ms, d_no, d_balance, c_no, c_balance)::text, 'UTF8'));
            INSERT INTO transfer VALUES (
                r.part, at_seq, r.key, decode(r.fingerprint, 'hex'), r.debit, r.credit, r.amount, r.code,
                r.table_id, r.note, r.at_ms, d_no, d_balance, c_no, c_balance, last_hash, next_hash);
            last_hash := next_hash;
            IF at_seq % 1000 = 0 THEN
                UPDATE chain AS q SET seq = at_seq, hash = last_hash WHERE q.part = at_part;
                PERFORM write_checkpoint(at_part, at_seq);
            END IF;
        END LOOP;
        UPDATE chain AS q SET seq = at_seq, hash = last_hash WHERE q.part = at_part;
        RETURN QUERY SELECT * FROM account AS q WHERE q.id = ANY (touched) ORDER BY q.id;
    END $$
    """,
)

_GRANTS = (
    "REVOKE ALL ON account, transfer, chain, checkpoint, system_part, system_balance FROM PUBLIC, {role}",
    "GRANT SELECT ON account, transfer, chain, checkpoint, system_part, system_balance TO {role}",
    "REVOKE ALL ON FUNCTION kind_of, refuse_rewriting, write_checkpoint, lock_accounts, post FROM PUBLIC, {role}",
    "GRANT EXECUTE ON FUNCTION lock_accounts, post TO {role}",
)


def upgrade() -> None:
    create_worker_tables(op)
    for statement in (*_TABLES, *_APPEND_ONLY):
        op.execute(statement)
    # Temporary tables are searched last: named nowhere, they would be searched first, and a
    # caller's own `account` would stand before the ledger's.
    schema = op.get_bind().exec_driver_sql("SELECT current_schema()").scalar_one()
    for statement in _FUNCTIONS:
        op.execute(statement.replace("{schema}", quoted(schema)))
    role = os.environ.get(APP_ROLE_VARIABLE)
    if role:
        for statement in _GRANTS:
            op.execute(statement.format(role=quoted(role)))


def downgrade() -> None:
    raise NotImplementedError("a ledger is not taken back")
