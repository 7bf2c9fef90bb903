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
    # Every movement updates a row or two here: room on the page keeps that off the indexes, and few,
    # short constraints keep it cheap, for each of them is read anew by every statement.
    """
    CREATE TABLE account (
        id           text    PRIMARY KEY,
        kind         text    NOT NULL,
        owner        text,
        table_id     text,
        opened_coins bigint  NOT NULL,
        balance      bigint  NOT NULL,
        entry_no     bigint  NOT NULL,
        shut         boolean NOT NULL DEFAULT false,
        CONSTRAINT account_not_negative CHECK (balance >= 0),
        CONSTRAINT account_exact CHECK (balance <= 9007199254740991),
        CONSTRAINT account_shut_is_empty CHECK (NOT shut OR balance = 0)
    ) WITH (fillfactor = 70)
    """,
    "CREATE INDEX account_running_holds ON account (owner) WHERE kind = 'hold' AND NOT shut",
    "CREATE INDEX account_table_escrow ON account (table_id) WHERE kind <> 'player'",
    """
    CREATE TABLE transfer (
        part            int    NOT NULL,
        seq             bigint NOT NULL,
        key             text   NOT NULL,
        fingerprint     bytea  NOT NULL,
        debit           text   NOT NULL,
        credit          text   NOT NULL,
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
        CONSTRAINT transfer_amount CHECK (amount BETWEEN 0 AND 9007199254740991)
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
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = {schema}, pg_temp SET enable_seqscan = off AS $$
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
    """
    CREATE TYPE posting AS (
        part int, key text, fingerprint text, debit text, credit text, amount bigint,
        code text, table_id text, note text, at_ms bigint)
    """,
    # In this order: the accounts by id, the chains by partition, then row by row: may it be, debit,
    # credit, hash, insert. Few statements and expressions: each is paid for again in every transaction.
    """
    CREATE FUNCTION post(rows jsonb) RETURNS SETOF account
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = {schema}, pg_temp SET enable_seqscan = off AS $$
    DECLARE
        postings posting[]; touched text[]; parts int[]; part_min int; part_max int; known_fingerprint bytea;
        r posting; movement text; from_system boolean; to_system boolean;
        debited account; credited account;
        at_part int; at_seq bigint; last_hash bytea; next_hash bytea;
    BEGIN
        SELECT array_agg(q), min(q.part), max(q.part),
               array_agg(q.debit) FILTER (WHERE q.debit NOT IN ('house', 'fees', 'issuer'))
               || array_agg(q.credit) FILTER (WHERE q.credit NOT IN ('house', 'fees', 'issuer'))
          INTO postings, part_min, part_max, touched
          FROM jsonb_populate_recordset(NULL::posting, rows) AS q;
        IF cardinality(touched) > 1 THEN
            PERFORM 1 FROM account AS q WHERE q.id = ANY (touched) ORDER BY q.id FOR UPDATE;
        END IF;
        parts := CASE WHEN part_min = part_max THEN ARRAY[part_min]
                      ELSE ARRAY(SELECT DISTINCT q.part FROM unnest(postings) AS q ORDER BY 1) END;
        FOREACH at_part IN ARRAY parts LOOP
            SELECT q.seq, q.hash INTO at_seq, last_hash FROM chain AS q WHERE q.part = at_part FOR UPDATE;
            IF NOT FOUND THEN
                INSERT INTO chain VALUES (at_part, 0, decode(repeat('00', 32), 'hex')) ON CONFLICT DO NOTHING;
                SELECT q.seq, q.hash INTO at_seq, last_hash FROM chain AS q WHERE q.part = at_part FOR UPDATE;
            END IF;
        END LOOP;
        at_part := part_max;

        FOREACH r IN ARRAY postings LOOP
            -- Behind the locks: whoever posted the same before us has committed by now. Key by key, for a plan
            -- that is kept; one for all keys is made anew in every call, which took a third of its time.
            SELECT t.fingerprint INTO known_fingerprint FROM transfer AS t WHERE t.key = r.key;
            IF FOUND THEN
                CONTINUE WHEN known_fingerprint = decode(r.fingerprint, 'hex');
                RAISE EXCEPTION 'the key % was used for another request', r.key
                    USING ERRCODE = 'unique_violation', CONSTRAINT = 'transfer_request';
            END IF;

            movement := r.code || ': '
                || CASE WHEN strpos(r.debit, ':') > 0 THEN split_part(r.debit, ':', 1)
                        WHEN r.debit IN ('house', 'fees', 'issuer', 'bot', '') THEN r.debit ELSE 'player' END || ' > '
                || CASE WHEN strpos(r.credit, ':') > 0 THEN split_part(r.credit, ':', 1)
                        WHEN r.credit IN ('house', 'fees', 'issuer', 'bot', '') THEN r.credit ELSE 'player' END;
            IF movement = ANY (ARRAY[
                    'welcome: issuer > player', 'top_up: issuer > player', 'grant: issuer > player',
                    'close: player > house', 'hold: player > hold', 'void: hold > player',
                    'capture: hold > pot', 'house_stake: house > pot', 'deposit_back: hold > player',
                    'fee: player > fees', 'payout: pot > player', 'stake_back: pot > player',
                    'settle: pot > house'])
               AND (r.amount <> 0 OR r.code IN ('welcome', 'close', 'settle'))
               AND (r.table_id IS NULL) = (r.code IN ('welcome', 'top_up', 'grant', 'close'))
               AND length(r.fingerprint) = 64
            THEN
                from_system := r.debit IN ('house', 'issuer');
                to_system := r.credit IN ('house', 'fees');
            ELSE
                RAISE EXCEPTION 'no such movement: %, amount %', movement, r.amount
                    USING ERRCODE = 'check_violation', CONSTRAINT = 'transfer_allowed';
            END IF;

            IF from_system THEN
                debited := NULL;
            ELSE
                UPDATE account AS q
                   SET balance = q.balance - r.amount, entry_no = q.entry_no + 1,
                       shut = q.shut OR r.code IN ('close', 'settle') OR (q.kind = 'hold' AND q.balance = r.amount)
                 WHERE q.id = r.debit RETURNING * INTO debited;
                IF NOT FOUND AND r.code = 'settle' THEN
                    INSERT INTO account (id, kind, table_id, opened_coins, balance, entry_no, shut)
                    VALUES (r.debit, 'pot', r.table_id, 0, -r.amount, 1, true) RETURNING * INTO debited;
                ELSIF NOT FOUND THEN
                    RAISE EXCEPTION 'no account %', r.debit USING ERRCODE = 'foreign_key_violation';
                ELSIF debited.kind = 'hold' AND r.code <> 'capture' AND debited.owner <> r.credit THEN
                    RAISE EXCEPTION '% is not of %', r.debit, r.credit
                        USING ERRCODE = 'check_violation', CONSTRAINT = 'account_owner';
                END IF;
                RETURN NEXT debited;
            END IF;
            IF to_system THEN
                credited := NULL;
            ELSE
                UPDATE account AS q
                   SET balance = q.balance + r.amount, entry_no = q.entry_no + 1
                 WHERE q.id = r.credit RETURNING * INTO credited;
                IF NOT FOUND AND r.code IN ('welcome', 'hold', 'capture', 'house_stake') THEN
                    INSERT INTO account (id, kind, owner, table_id, opened_coins, balance, entry_no)
                    VALUES (r.credit,
                            CASE r.code WHEN 'welcome' THEN 'player' WHEN 'hold' THEN 'hold' ELSE 'pot' END,
                            CASE r.code WHEN 'hold' THEN r.debit END, r.table_id, r.amount, r.amount, 1)
                    RETURNING * INTO credited;
                ELSIF NOT FOUND THEN
                    RAISE EXCEPTION 'no account %', r.credit USING ERRCODE = 'foreign_key_violation';
                END IF;
                RETURN NEXT credited;
            END IF;

            IF at_part <> r.part THEN
                UPDATE chain AS q SET seq = at_seq, hash = last_hash WHERE q.part = at_part;
                at_part := r.part;
                SELECT q.seq, q.hash INTO at_seq, last_hash FROM chain AS q WHERE q.part = at_part;
            END IF;
            next_hash := sha256(last_hash || convert_to(json_build_array(
                r.part, at_seq + 1, r.key, r.fingerprint, r.debit, r.credit, r.amount, r.code, r.table_id, r.note,
                r.at_ms, debited.entry_no, debited.balance, credited.entry_no, credited.balance)::text, 'UTF8'));
            INSERT INTO transfer VALUES (
                r.part, at_seq + 1, r.key, decode(r.fingerprint, 'hex'), r.debit, r.credit, r.amount, r.code,
                r.table_id, r.note, r.at_ms, debited.entry_no, debited.balance, credited.entry_no,
                credited.balance, last_hash, next_hash)
            RETURNING seq, hash INTO at_seq, last_hash;
            IF at_seq % 1000 = 0 THEN
                UPDATE chain AS q SET seq = at_seq, hash = last_hash WHERE q.part = at_part;
                PERFORM write_checkpoint(at_part, at_seq);
            END IF;
        END LOOP;
        UPDATE chain AS q SET seq = at_seq, hash = last_hash WHERE q.part = at_part;
    END $$
    """,
)

_GRANTS = (
    "REVOKE ALL ON account, transfer, chain, checkpoint, system_part, system_balance FROM PUBLIC, {role}",
    "GRANT SELECT ON account, transfer, chain, checkpoint, system_part, system_balance TO {role}",
    "REVOKE ALL ON FUNCTION refuse_rewriting, write_checkpoint, lock_accounts, post FROM PUBLIC, {role}",
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
