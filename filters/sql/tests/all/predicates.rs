//! Arrays, IS DISTINCT FROM, casts that change nothing, and blind indexes.

use crate::common::{check_kept, check_refused, check_rewritten};

#[test]
fn arrays_are_sealed_value_by_value() {
    check_rewritten(&[
        (
            "SELECT id FROM customer WHERE ssn = ANY($1)",
            "SELECT id FROM customer WHERE ssn = ANY($1) | $1=?1[]",
        ),
        (
            "SELECT id FROM customer WHERE ssn = ANY($1::text[])",
            "SELECT id FROM customer WHERE ssn = ANY(«$1») | $1=?1[]",
        ),
        (
            "SELECT id FROM customer WHERE ssn <> ALL(ARRAY['a', $1])",
            "SELECT id FROM customer WHERE ssn <> ALL(ARRAY[«?1:a», $1]) | $1=?1",
        ),
        (
            "SELECT id FROM customer WHERE ssn = ANY(ARRAY['a']::text[])",
            "SELECT id FROM customer WHERE ssn = ANY(ARRAY[«?1:a»]::text[])",
        ),
        (
            "SELECT id FROM customer WHERE ssn = ANY('{a,b}')",
            "SELECT id FROM customer WHERE ssn = ANY(«?1[]:{a,b}»)",
        ),
    ]);
    check_kept(&["SELECT id FROM customer WHERE ssn = ANY(SELECT ssn FROM person)"]);
    check_refused(&[
        ("SELECT id FROM customer WHERE card = ANY($1)", "customer.card"),
        ("SELECT id FROM customer WHERE ssn > ANY($1)", "customer.ssn"),
        ("SELECT id FROM customer WHERE ssn = ANY($1::int[])", "customer.ssn"),
        ("SELECT id FROM customer WHERE ssn = ANY($1) AND ssn = $1", "customer.ssn"),
        ("SELECT id FROM customer WHERE ssn = ANY(string_to_array($1, ','))", "customer.ssn"),
        ("SELECT id FROM customer WHERE ssn = ANY(SELECT name FROM orders)", "customer.ssn"),
        ("SELECT id FROM customer WHERE 'a' = ANY(ARRAY[ssn])", "customer.ssn"),
        ("SELECT id FROM blob WHERE data = ANY(ARRAY['a']::text[])", "customer.ssn"),
    ]);
}

#[test]
fn distinct_from_is_equality() {
    check_rewritten(&[
        (
            "SELECT id FROM customer WHERE ssn IS DISTINCT FROM $1 AND id = 1 OR ssn IS NOT DISTINCT FROM 'a'",
            "SELECT id FROM customer WHERE ssn IS DISTINCT FROM $1 AND id = 1 OR ssn IS NOT DISTINCT FROM «?1:a» | $1=?1",
        ),
        (
            "SELECT c.id FROM customer c JOIN person p ON c.ssn IS NOT DISTINCT FROM p.ssn",
            "SELECT c.id FROM customer c JOIN person p ON c.ssn IS NOT DISTINCT FROM p.ssn",
        ),
    ]);
    check_refused(&[
        ("SELECT id FROM customer WHERE card IS DISTINCT FROM 'a'", "customer.card"),
        ("SELECT id FROM customer WHERE ssn IS DISTINCT FROM name", "customer.ssn"),
        ("SELECT id FROM customer WHERE ssn IS DISTINCT FROM 'a' || 'b'", "customer.ssn"),
    ]);
}

#[test]
fn casts_to_the_declared_type_change_nothing() {
    check_rewritten(&[
        (
            "SELECT ssn::text, CAST(email AS varchar) FROM customer WHERE ssn::text = $1::text",
            "SELECT ssn::text, CAST(email AS varchar) FROM customer WHERE ssn::text = «$1» | $1=?1",
        ),
        (
            "INSERT INTO customer (ssn) VALUES ($1::VARCHAR)",
            "INSERT INTO customer (ssn) VALUES («$1») | $1=S1",
        ),
    ]);
    check_refused(&[
        ("SELECT ssn::varchar(3) FROM customer", "customer.ssn"),
        ("SELECT ssn::int FROM customer", "customer.ssn"),
        ("SELECT id FROM customer WHERE ssn::int = 3", "customer.ssn"),
        ("SELECT data::text FROM blob", "customer.ssn"),
        ("INSERT INTO customer (ssn) VALUES ($1::int)", "customer.ssn"),
    ]);
}

#[test]
fn only_a_tables_own_rows_are_as_sealed_as_all() {
    check_kept(&[
        "SELECT * FROM ONLY customer",
        "SELECT c.id FROM orders o JOIN ONLY customer c ON c.id = o.id",
    ]);
    check_rewritten(&[
        ("UPDATE ONLY customer SET ssn = 'a'", "UPDATE ONLY customer SET ssn = «S1:a»"),
        ("DELETE FROM ONLY customer WHERE ssn = 'a'", "DELETE FROM ONLY customer WHERE ssn = «?1:a»"),
    ]);
    check_refused(&[("SELECT * FROM ONLY (customer)", "")]);
    check_kept(&[
        "SELECT ssn FROM customer FOR NO KEY UPDATE",
        "SELECT ssn FROM customer c FOR KEY SHARE OF c SKIP LOCKED",
        "SELECT ssn FROM customer FOR UPDATE NOWAIT",
    ]);
}

#[test]
fn a_blind_index_is_compared_in_the_columns_place() {
    check_rewritten(&[
        (
            "SELECT id, token FROM vault WHERE token = $1",
            "SELECT id, token FROM vault WHERE «pg_catalog.left(»token«, 33)» = $1 | $1=?13",
        ),
        (
            "SELECT id FROM vault v WHERE v.token IN ('a', 'b') AND token <> 'c'",
            "SELECT id FROM vault v WHERE «pg_catalog.left(»v.token«, 33)» IN («?13:a», «?13:b») AND «pg_catalog.left(»token«, 33)» <> «?13:c»",
        ),
        (
            "SELECT a.id FROM vault a JOIN vault b ON a.token = b.other",
            "SELECT a.id FROM vault a JOIN vault b ON «pg_catalog.left(»a.token«, 33)» = «pg_catalog.left(»b.other«, 33)»",
        ),
        (
            "UPDATE vault SET token = $1 WHERE token = ANY($2)",
            "UPDATE vault SET token = $1 WHERE «pg_catalog.left(»token«, 33)» = ANY($2) | $1=S13 $2=?13[]",
        ),
        (
            "SELECT id FROM vault WHERE token IN (SELECT v.other AS o FROM vault v WHERE id = 1)",
            "SELECT id FROM vault WHERE «pg_catalog.left(»token«, 33)» IN (SELECT «pg_catalog.left(»v.other«, 33)» AS o FROM vault v WHERE id = 1)",
        ),
        (
            "SELECT count(token) FROM vault WHERE token IS NULL",
            "SELECT count(token) FROM vault WHERE token IS NULL",
        ),
    ]);
    check_refused(&[
        ("UPDATE vault SET token = $1 WHERE token = $1", "vault.token"),
        ("SELECT DISTINCT token FROM vault", "vault.token"),
        ("SELECT token FROM vault GROUP BY token", "vault.token"),
        ("SELECT a.id FROM vault a JOIN vault b USING (token)", "vault.token"),
        ("SELECT token FROM vault UNION SELECT other FROM vault", "vault.token"),
        (
            "SELECT id FROM vault WHERE token IN (SELECT other FROM vault UNION ALL SELECT NULL)",
            "vault.token",
        ),
        ("SELECT id FROM vault WHERE token IN (SELECT DISTINCT other FROM vault)", "vault.token"),
        ("SELECT id FROM vault WHERE token > 'a'", "vault.token"),
        ("INSERT INTO vault (token) VALUES ('a') ON CONFLICT (token) DO NOTHING", "vault.token"),
    ]);
}

#[test]
fn the_part_of_a_column_that_holds_its_blind_index_can_be_indexed() {
    check_kept(&[
        "CREATE UNIQUE INDEX i ON vault (left(token, 33))",
        "CREATE INDEX i ON public.vault USING btree (\"left\"(token, 33))",
        "CREATE INDEX ON vault (id, substr(token, 1, 22))",
    ]);
    check_refused(&[
        ("CREATE INDEX ON vault (token)", "vault.token"),
        ("CREATE INDEX ON vault (left(token, 34))", "vault.token"),
        ("CREATE INDEX ON vault (right(token, 33))", "vault.token"),
    ]);
}
