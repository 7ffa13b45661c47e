//! Statements that carry no rows, texts of several statements, and texts that can't be parsed.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::shapes::analyze;
use crate::common::{accepted, check_kept, check_refused, check_rewritten, check_untouched, refused};
use fieldveil_sql::{Catalog, RefusalClass, StatementKind};

#[test]
fn harmless_statements_on_protected_tables_pass() {
    check_kept(&[
        "TRUNCATE customer",
        "TRUNCATE TABLE ONLY public.customer, orders CASCADE",
        "LOCK TABLE customer IN EXCLUSIVE MODE",
        "VACUUM (FULL) customer",
        "ANALYZE customer (ssn)",
        "COMMENT ON COLUMN customer.ssn IS 'secret'",
        "GRANT SELECT (ssn) ON customer TO app",
        "REVOKE ALL ON customer FROM app",
        "REINDEX TABLE customer",
        "DROP TABLE customer",
        "DROP VIEW customer_view",
        "CREATE INDEX ON customer (ssn)",
        "CREATE UNIQUE INDEX CONCURRENTLY i ON public.customer USING btree (name, ssn) WHERE id > 5",
        "CREATE INDEX ON customer (lower(name))",
        "ALTER TABLE customer ADD COLUMN age int DEFAULT 5",
        "ALTER TABLE customer DROP COLUMN ssn",
        "ALTER TABLE customer DROP COLUMN IF EXISTS ssn CASCADE",
        "ALTER TABLE customer ALTER COLUMN ssn SET NOT NULL",
        "ALTER TABLE customer ALTER ssn DROP NOT NULL",
        "ALTER TABLE customer ADD CONSTRAINT u UNIQUE (ssn, id)",
        "ALTER TABLE customer ENABLE ROW LEVEL SECURITY",
        "ALTER TABLE orders ADD FOREIGN KEY (cid) REFERENCES customer (id)",
        "CREATE TABLE IF NOT EXISTS customer (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, ssn text NOT NULL)",
        "CREATE TABLE orders (id int, cid int REFERENCES customer (id))",
        "CREATE TABLE customer_2025 PARTITION OF customer FOR VALUES IN (1)",
        "CREATE TRIGGER t BEFORE UPDATE ON customer FOR EACH ROW EXECUTE FUNCTION touch()",
        "CREATE POLICY p ON customer USING (name = current_user)",
    ]);
}

#[test]
fn statements_that_carry_or_compute_values_are_refused() {
    check_refused(&[
        ("EXECUTE customer('123-45')", ""),
        ("CREATE TABLE t AS TABLE customer", ""),
        ("REFRESH MATERIALIZED VIEW customer_view", ""),
        ("CREATE RULE r AS ON INSERT TO customer DO ALSO (INSERT INTO log VALUES (NEW.ssn); SELECT 1)", ""),
        ("CREATE TABLE t (LIKE customer, h text GENERATED ALWAYS AS (md5(ssn)) STORED)", ""),
        ("CREATE STATISTICS s ON ssn, email FROM customer", ""),
        ("CREATE INDEX ON customer (phone)", "customer.phone"),
        ("CREATE INDEX ON customer (lower(ssn))", "customer.ssn"),
        ("CREATE INDEX ON customer (id) WHERE ssn = '123-45'", "customer.ssn"),
        ("CREATE INDEX ON customer (ssn text_pattern_ops)", "customer.ssn"),
        ("CREATE INDEX ON customer ((ssn))", "customer.ssn"),
        ("ALTER TABLE customer ALTER COLUMN ssn TYPE int USING ssn::int", "customer.ssn"),
        ("ALTER TABLE customer ALTER COLUMN ssn SET DEFAULT '123-45'", "customer.ssn"),
        ("ALTER TABLE customer ADD COLUMN h text GENERATED ALWAYS AS (md5(ssn)) STORED", "customer.ssn"),
        ("ALTER TABLE customer ADD CHECK (ssn <> '123-45')", "customer.ssn"),
        ("ALTER TABLE customer ADD UNIQUE (phone)", "customer.phone"),
        ("ALTER TABLE customer RENAME TO client", ""),
        ("ALTER TABLE customer RENAME COLUMN ssn TO s", ""),
        ("ALTER TABLE customer SET SCHEMA other", ""),
        (
            "CREATE TRIGGER t BEFORE UPDATE ON customer FOR EACH ROW WHEN (NEW.ssn = '123-45') EXECUTE FUNCTION f()",
            "customer.ssn",
        ),
        ("CREATE POLICY p ON customer USING (ssn = '123-45')", "customer.ssn"),
        ("DO $$ BEGIN INSERT INTO customer (ssn) VALUES ('123-45'); END $$", ""),
        ("CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$ UPDATE Customer SET ssn = '123-45' $$", ""),
        ("CREATE OR REPLACE PROCEDURE f() LANGUAGE sql AS 'DELETE FROM \"customer\"'", ""),
        (
            "CREATE FUNCTION f() RETURNS void BEGIN ATOMIC INSERT INTO customer (ssn) VALUES ('123-45'); SELECT 1; END",
            "",
        ),
        ("SELECT query_to_xml('SELECT * FROM customer', true, true, '')", ""),
        ("SELECT * FROM dblink('', 'select ssn from customer') AS t(a text)", ""),
        ("SECURITY LABEL ON TABLE customer IS '123-45'", ""),
        ("EXPLAIN SELECT upper(ssn) FROM customer", "customer.ssn"),
        ("EXPLAIN (ANALYZE) UPDATE customer SET ssn = upper('123-45')", "customer.ssn"),
        ("EXPLAIN ANALYZE EXECUTE customer", ""),
        ("CALL customer()", ""),
        ("SOMETHING NEW customer", ""),
    ]);
}

#[test]
fn everything_else_is_untouched() {
    check_untouched(&[
        "",
        ";",
        " -- nothing\n",
        "SELECT 1",
        "BEGIN; SELECT 1; COMMIT",
        "COPY orders FROM STDIN WITH (FORMAT csv)",
        "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1; $$",
        "DO $$ BEGIN PERFORM 1; END $$",
        "INSERT INTO log VALUES ('customer ssn')",
        "SELECT * FROM orders WHERE note = 'customer'",
        "CALL refresh('customer')",
        "SOMETHING NEW ssn",
        "SELECT * FROM jsonb_path_query('{}', '$.a ? (@ > 1)')",
        "SELECT a -> 'b' ->> 'c' #>> '{d}' @> 'e' FROM t WHERE x ~* 'y' AND z <@ ARRAY[1]",
        "SELECT FROM t WHERE a BETWEEN SYMMETRIC 1 AND 2",
        "MERGE INTO a USING b ON true WHEN MATCHED THEN DO NOTHING",
        "SELECT 'é' AS \"ü\", E'\\'' || $tag$ ' $tag$",
        "SET application_name = 'customer'",
        "EXPLAIN SELECT 1",
        "VALUES (1), (2)",
        "TABLE orders",
        // No whitespace to the server: parts of a name.
        "SELECT ssn\u{a0}FROM customer",
        "SELECT ssn FROM customer\u{3000}c",
    ]);
}

#[test]
fn kinds_are_told_by_the_first_words() {
    use StatementKind::{Delete, Insert, Other, Select, Set, Transaction, Update};
    for (text, kind) in [
        ("SELECT 1", Select),
        ("(SELECT 1)", Select),
        ("(WITH a AS (DELETE FROM b RETURNING *) SELECT 1)", Other),
        ("WITH a AS (MERGE INTO b USING c ON true WHEN MATCHED THEN DELETE RETURNING 1) SELECT 1", Other),
        ("values (1)", Select),
        ("WITH a AS (SELECT 1) INSERT INTO b SELECT * FROM a", Insert),
        ("WITH a AS (DELETE FROM b RETURNING *) SELECT 1", Other),
        ("WITH a AS (SELECT 1) UPDATE b SET x = 1", Update),
        ("INSERT INTO a VALUES (1)", Insert),
        ("UPDATE a SET b = 1", Update),
        ("DELETE FROM a", Delete),
        ("BEGIN", Transaction),
        ("START TRANSACTION READ ONLY", Transaction),
        ("PREPARE TRANSACTION 'x'", Transaction),
        ("rollback", Transaction),
        ("SET x = 1", Set),
        ("RESET ALL", Set),
        ("COPY a FROM STDIN", Other),
        ("what is this", Other),
        ("EXPLAIN SELECT 1", Other),
        ("DISCARD ALL", Other),
    ] {
        assert_eq!(accepted(text).statements[0].kind, kind, "{text}");
    }
}

#[test]
fn what_changes_names_is_told() {
    for text in [
        "SET search_path = a",
        "SET LOCAL search_path TO a",
        "SET \"Search_Path\" = a",
        "SET SCHEMA 'a'",
        "SET ROLE a",
        "SET SESSION AUTHORIZATION a",
        "SET LOCAL SESSION AUTHORIZATION a",
        "RESET search_path",
        "RESET ALL",
        "DISCARD ALL",
        "ROLLBACK",
        "SELECT set_config('search_path', 'a', false)",
        "SELECT pg_catalog.SET_CONFIG('search_path', $1, false)",
        "UPDATE pg_settings SET setting = 'a' WHERE name = 'search_path'",
        "SELECT 1 INTO t",
        "CREATE TEMP TABLE customer (ssn text)",
        "ALTER TABLE a RENAME TO b",
        "DROP SCHEMA public CASCADE",
        "DO $$ BEGIN PERFORM 1; END $$",
        "CALL f()",
        "FETCH 5 FROM c",
        "MOVE c",
        "WITH a AS (DELETE FROM b) SELECT 1 INTO t",
        "WITH a AS (UPDATE pg_settings SET setting = 'a') SELECT 1",
        "what is this",
        "SELECT 'unfinished",
        // These name a protected table, one that there may be some day, or more than relations.
        "CREATE TEMP VIEW a AS SELECT id FROM customer",
        "DROP VIEW a, customer",
        "CREATE TABLE a (b int) INHERITS (customer)",
        "CREATE SCHEMA a",
        "DROP SCHEMA a CASCADE",
        "CREATE EXTENSION a",
        "DROP TYPE a CASCADE",
        "CREATE FUNCTION f() RETURNS int RETURN 1",
        "CREATE TABLE a AS SELECT set_config('search_path', 'a', false)",
        // How the next text is read.
        "SET standard_conforming_strings = off",
        "SET LOCAL \"Standard_Conforming_Strings\" TO 'off'",
        "RESET standard_conforming_strings",
        "SELECT set_config('standard_conforming_strings', 'off', false)",
        "UPDATE pg_settings SET setting = 'off' WHERE name = 'standard_conforming_strings'",
    ] {
        assert!(accepted(text).statements[0].changes_catalog, "{text}");
    }
    for text in [
        "SELECT 1",
        "INSERT INTO t VALUES (1)",
        "SET application_name = 'x'",
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
        "SET TIME ZONE 'UTC'",
        "SET LOCAL statement_timeout = 5",
        "BEGIN",
        "COMMIT",
        "SAVEPOINT a",
        "SHOW search_path",
        "COPY a FROM STDIN",
        "EXPLAIN SELECT 1",
        "TRUNCATE customer",
        "SELECT * FROM customer",
        "CREATE TEMP TABLE a (b int)",
        "CREATE UNLOGGED TABLE IF NOT EXISTS a.b AS SELECT 1",
        "CREATE UNIQUE INDEX CONCURRENTLY a ON b (c)",
        "CREATE OR REPLACE TEMP VIEW a AS SELECT 1",
        "DROP TABLE IF EXISTS a, b CASCADE",
        "DROP MATERIALIZED VIEW a",
    ] {
        assert!(!accepted(text).statements[0].changes_catalog, "{text}");
    }
}

#[test]
fn several_statements_are_analyzed_one_by_one() {
    check_rewritten(&[
        (
            "BEGIN; INSERT INTO customer (ssn) VALUES ('é;x'); ; SELECT 'ssn'; UPDATE customer SET ssn='y';COMMIT;",
            "BEGIN; INSERT INTO customer (ssn) VALUES («S1:é;x»); ; SELECT 'ssn'; UPDATE customer SET ssn=«S1:y»;COMMIT;",
        ),
        (
            "SET statement_timeout = 5; SELECT id FROM customer WHERE ssn = 'a'",
            "SET statement_timeout = 5; SELECT id FROM customer WHERE ssn = «?1:a»",
        ),
    ]);
    assert_eq!(accepted("BEGIN; SELECT ssn FROM customer; COMMIT").statements.len(), 3);
    check_refused(&[
        ("SET search_path = hr; INSERT INTO staff (ssn) VALUES ('123-45')", ""),
        ("SET search_path = hr; SELECT * FROM staff", ""),
        ("SELECT set_config('search_path', 'hr', false); INSERT INTO staff (ssn) VALUES ('123-45')", ""),
        ("SET search_path = x; INSERT INTO customer (ssn) VALUES ('123-45')", ""),
        ("CREATE TABLE child () INHERITS (customer); INSERT INTO child (ssn) VALUES ('123-45')", ""),
        ("ALTER TABLE child INHERIT customer; INSERT INTO child (ssn) VALUES ('123-45')", ""),
        (
            "SET search_path = hr; CREATE TABLE child () INHERITS (staff); INSERT INTO child VALUES ('123-45')",
            "",
        ),
        ("ROLLBACK; SELECT ssn FROM customer", ""),
        ("DO $$ BEGIN PERFORM f(); END $$; SELECT ssn FROM customer", ""),
        ("SELECT 1; SELECT ssn FROM customer WHERE ssn = $1", ""),
        ("SELECT 1; SELECT upper(ssn) FROM customer", "customer.ssn"),
        ("INSERT INTO customer (ssn) VALUES ('123-45'); SELECT 'unfinished", ""),
    ]);
    check_untouched(&[
        "SET search_path = hr; SELECT * FROM orders",
        "CREATE TABLE a (b int); INSERT INTO a VALUES (1)",
    ]);
    check_kept(&["DROP TABLE customer; CREATE TABLE customer (id int, ssn text)"]);
}

#[test]
fn what_cannot_be_parsed_and_may_name_a_protected_table_is_refused() {
    for text in [
        "SELECT * FROM Customer WHERE",
        "SELECT * FRM customer",
        "SELECT 'unfinished FROM CUSTOMER",
        "SELECT \"unfinished FROM customer",
        "/* unfinished customer",
        "SELECT 1 FROM customer WHERE a = 1 $ 2",
        "SELECT 1abc FROM customer",
        "SELECT $1abc FROM customer",
        "SELECT 1 'unfinished U&\"x\"",
        "SELECT id FROM customer WHERE id =@ 5 SELECT",
        "SELECT id FROM customer; customer",
    ] {
        let refusal = refused(text);
        assert!(
            refusal.class == RefusalClass::Unparsable || text.ends_with("; customer"),
            "{text}: {refusal}"
        );
    }
    check_untouched(&[
        "SELECT * FROM orders WHERE",
        "SELECT 'unfinished",
        "SELECT \"unfinished",
        "SELECT 1abc",
    ]);
}

#[test]
fn with_an_empty_catalog_nothing_is_touched() {
    for text in
        ["SELECT * FROM customer", "INSERT INTO customer (ssn) VALUES ('x", "U&\"x\" UESCAPE '!'", "DO 'x'"]
    {
        let analysis = analyze(text, &Catalog::default()).unwrap();
        assert!(analysis.splices.is_empty() && !analysis.statements[0].touched, "{text}");
    }
}

#[test]
fn code_in_strings_is_read_as_the_server_reads_the_string() {
    check_refused(
        &[
            "DO 'BEGIN UPDATE cust'\n'omer SET ssn = ''1''; END'",
            r"DO E'BEGIN UPDATE \x63ustomer SET ssn = 1; END'",
            r"DO U&'BEGIN UPDATE \0063ustomer SET ssn = 1; END'",
            r"DO U&'BEGIN UPDATE !0063ustomer SET ssn = 1; END' /**/ UESCAPE '!'",
            r"SELECT dblink_exec('', U&'UPDATE \0063ustomer SET ssn = 1 /* \D83D\DE00 */')",
            r"SELECT query_to_xml(U&'SELECT ssn FROM !0063ustomer' /**/ UESCAPE '!', true, true, '')",
        ]
        .map(|text| (text, "")),
    );
    check_untouched(&[
        r"DO E'BEGIN UPDATE \x64ustomer SET a = 1; END'",
        r"SELECT dblink_exec('', U&'UPDATE \0064ustomer')",
    ]);
}
