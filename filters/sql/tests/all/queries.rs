//! Queries over queries: common table expressions, set operations, views, and rows that are inserted from them.

#![allow(clippy::expect_used, clippy::arithmetic_side_effects)]

use crate::common::{accepted, check_kept, check_refused, check_rewritten, check_untouched};

/// What each result column is; None where not all are known.
fn columns(text: &str) -> Option<Vec<Option<usize>>> {
    let columns = accepted(text).statements.pop().and_then(|statement| statement.columns)?;
    Some(columns.into_iter().map(|column| column.map(|column| column.field)).collect())
}

#[test]
fn common_table_expressions_keep_their_columns_labels() {
    check_kept(&[
        "WITH x AS (SELECT ssn FROM customer) SELECT * FROM x",
        "WITH customer AS (SELECT * FROM customer) SELECT * FROM customer",
        "WITH x AS (DELETE FROM customer RETURNING id) SELECT * FROM x",
        "WITH x AS (SELECT ssn FROM customer) SELECT p.id FROM x JOIN person p ON p.ssn = x.ssn",
        "WITH x AS MATERIALIZED (SELECT id FROM customer) SELECT id FROM x",
    ]);
    check_rewritten(&[
        (
            "WITH x AS (INSERT INTO customer (ssn) VALUES ('a') RETURNING ssn) SELECT ssn FROM x",
            "WITH x AS (INSERT INTO customer (ssn) VALUES («S1:a») RETURNING ssn) SELECT ssn FROM x",
        ),
        (
            "WITH x (i, s) AS (SELECT id, ssn FROM customer) SELECT i FROM x WHERE s = 'a'",
            "WITH x (i, s) AS (SELECT id, ssn FROM customer) SELECT i FROM x WHERE s = «?1:a»",
        ),
    ]);
    assert_eq!(
        columns("WITH x AS (SELECT id, ssn FROM customer) SELECT * FROM x"),
        Some(vec![None, Some(1)])
    );
    check_refused(&[
        ("WITH x AS (SELECT ssn FROM customer) SELECT upper(ssn) FROM x", "customer.ssn"),
        ("WITH x AS (SELECT ssn FROM customer) SELECT x FROM x", ""),
        ("WITH x AS (SELECT ssn FROM customer) SELECT * FROM x ORDER BY ssn", "customer.ssn"),
        ("WITH x (s) AS (SELECT ssn FROM customer) SELECT ssn FROM x WHERE s > 'a'", "customer.ssn"),
        (
            "WITH x AS (INSERT INTO customer (ssn) SELECT name FROM orders RETURNING 1) SELECT 1",
            "customer.ssn",
        ),
    ]);
}

#[test]
fn a_common_table_expression_hides_a_table_only_where_it_is_in_reach() {
    check_rewritten(&[(
        "SELECT 1 FROM (WITH customer AS (SELECT 'a' AS ssn) SELECT ssn FROM customer WHERE ssn = 'b') x, customer c WHERE c.ssn = 'c'",
        "SELECT 1 FROM (WITH customer AS (SELECT 'a' AS ssn) SELECT ssn FROM customer WHERE ssn = 'b') x, customer c WHERE c.ssn = «?1:c»",
    )]);
}

#[test]
fn recursion_gives_what_its_first_part_gives() {
    let text = "WITH RECURSIVE x AS (SELECT id, ssn FROM customer WHERE id = 1 UNION ALL SELECT c.id, c.ssn FROM customer c JOIN x ON x.id = c.id) SELECT id, ssn FROM x";
    check_kept(&[text]);
    assert_eq!(columns(text), Some(vec![None, Some(1)]));
    check_untouched(&[
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n",
    ]);
    check_refused(&[
        // Its second part gives something else.
        (
            "WITH RECURSIVE x AS (SELECT ssn FROM customer UNION ALL SELECT name FROM x JOIN orders ON true) SELECT ssn FROM x",
            "customer.ssn",
        ),
        (
            "WITH RECURSIVE x AS (SELECT card FROM customer UNION SELECT card FROM x) SELECT card FROM x",
            "customer.card",
        ),
        ("WITH RECURSIVE x AS (SELECT ssn FROM y), y AS (SELECT ssn FROM customer) SELECT ssn FROM x", ""),
        ("WITH RECURSIVE x AS (SELECT ssn FROM x UNION ALL SELECT ssn FROM customer) SELECT ssn FROM x", ""),
    ]);
}

#[test]
fn set_operations_combine_one_label() {
    check_kept(&[
        "SELECT ssn FROM customer UNION SELECT ssn FROM person",
        "SELECT ssn FROM customer EXCEPT SELECT ssn FROM person",
        "SELECT ssn FROM customer INTERSECT ALL SELECT ssn FROM person",
        "SELECT card FROM customer UNION ALL SELECT card FROM customer",
        "SELECT ssn FROM customer UNION ALL SELECT NULL",
        "SELECT id, NULL AS ssn FROM orders UNION ALL SELECT id, ssn FROM customer ORDER BY 1",
    ]);
    assert_eq!(
        columns("SELECT id, ssn FROM person UNION SELECT id, ssn FROM customer"),
        Some(vec![None, Some(5)])
    );
    assert_eq!(columns("SELECT NULL UNION ALL SELECT ssn FROM customer"), Some(vec![Some(1)]));
    check_refused(&[
        ("SELECT ssn FROM customer UNION ALL SELECT email FROM customer", "customer.ssn"),
        ("SELECT ssn FROM customer UNION ALL SELECT name FROM orders", "customer.ssn"),
        ("SELECT ssn FROM customer UNION ALL SELECT 'a'", "customer.ssn"),
        ("SELECT card FROM customer UNION SELECT card FROM customer", "customer.card"),
        ("SELECT ssn, id FROM customer UNION ALL SELECT id, ssn FROM customer", "customer.ssn"),
        ("SELECT ssn FROM customer UNION ALL SELECT * FROM orders", "customer.ssn"),
        ("SELECT ssn FROM customer UNION ALL SELECT ssn, id FROM customer", "customer.ssn"),
        ("SELECT ssn FROM customer UNION SELECT ssn FROM person ORDER BY ssn", "customer.ssn"),
        ("SELECT ssn FROM customer UNION SELECT ssn FROM person ORDER BY 1", "customer.ssn"),
        (
            "SELECT * FROM orders, (SELECT ssn FROM customer UNION ALL SELECT ssn FROM person) s",
            "customer.ssn",
        ),
    ]);
}

#[test]
fn views_inherit_their_columns_labels() {
    check_kept(&["SELECT mail FROM contact", "SELECT * FROM contact ORDER BY id"]);
    check_rewritten(&[(
        "SELECT id FROM contact WHERE mail = 'a@b'",
        "SELECT id FROM contact WHERE mail = «?0:a@b»",
    )]);
    let statement = accepted("SELECT id FROM contact").statements.pop().expect("one statement");
    assert_eq!(
        (statement.fields.reads, statement.fields.searches),
        (vec![], vec![1]),
        "what its own query compares"
    );
    check_refused(&[
        ("SELECT upper(mail) FROM contact", "customer.email"),
        ("INSERT INTO contact (mail) VALUES ('a@b')", ""),
        ("UPDATE contact SET mail = 'a@b'", ""),
        ("DELETE FROM contact", ""),
        ("SELECT id FROM customer_view", ""),
    ]);
}

#[test]
fn rows_are_inserted_from_queries() {
    check_kept(&[
        "INSERT INTO customer (ssn) SELECT ssn FROM person",
        "INSERT INTO customer (ssn) SELECT NULL FROM orders",
        "INSERT INTO customer (id, ssn) SELECT id, ssn FROM person ON CONFLICT (ssn) DO NOTHING",
        "INSERT INTO person (ssn) WITH x AS (SELECT ssn FROM customer) SELECT ssn FROM x",
        "INSERT INTO person (ssn) SELECT ssn FROM customer UNION ALL SELECT ssn FROM person",
    ]);
    check_rewritten(&[
        ("INSERT INTO customer (id, ssn) SELECT 1, 'a'", "INSERT INTO customer (id, ssn) SELECT 1, «S1:a»"),
        (
            "INSERT INTO customer (id, ssn) SELECT $1, $2 WHERE NOT EXISTS (SELECT 1 FROM customer WHERE ssn = $2)",
            "INSERT INTO customer (id, ssn) SELECT $1, $2 WHERE NOT EXISTS (SELECT 1 FROM customer WHERE ssn = $2) | $2=S?1",
        ),
        (
            "INSERT INTO customer SELECT id, name FROM orders",
            "INSERT INTO customer« (\"id\", \"name\") » SELECT id, name FROM orders",
        ),
    ]);
    check_refused(&[
        ("INSERT INTO customer (ssn) SELECT name FROM orders", "customer.ssn"),
        ("INSERT INTO customer (ssn) SELECT email FROM customer", "customer.ssn"),
        ("INSERT INTO customer (ssn) SELECT upper('a')", "customer.ssn"),
        ("INSERT INTO customer SELECT * FROM orders", ""),
        ("INSERT INTO customer (id, ssn) SELECT id FROM orders", ""),
        ("INSERT INTO customer (ssn) SELECT * FROM (VALUES ('a')) v", "customer.ssn"),
        ("INSERT INTO customer (ssn) SELECT 'a' UNION ALL VALUES ('b')", ""),
    ]);
}

#[test]
fn envelopes_copied_to_where_nothing_is_protected_are_told() {
    for (text, copies) in [
        ("INSERT INTO log (x) SELECT ssn FROM customer", vec![1]),
        ("SELECT ssn, id INTO t FROM customer", vec![1]),
        ("CREATE TABLE t AS SELECT id, ssn, email FROM customer", vec![0, 1]),
        ("CREATE TEMP TABLE t ON COMMIT DROP AS SELECT ssn FROM customer WITH NO DATA", vec![1]),
        ("CREATE TABLE t AS SELECT id FROM customer", vec![]),
        ("CREATE MATERIALIZED VIEW v AS SELECT ssn FROM customer", vec![]),
        ("CREATE OR REPLACE VIEW v AS SELECT ssn FROM customer", vec![]),
    ] {
        let statement = accepted(text).statements.pop().expect("one statement");
        assert_eq!(statement.fields.copies, copies, "{text}");
    }
    check_refused(&[
        ("CREATE VIEW v AS SELECT id FROM customer WHERE ssn = 'a'", ""),
        ("CREATE TABLE t AS SELECT upper(ssn) FROM customer", "customer.ssn"),
        ("CREATE SCHEMA s CREATE VIEW v AS SELECT ssn FROM customer", ""),
    ]);
}

#[test]
fn merge_takes_values_and_what_is_sealed_alike() {
    check_rewritten(&[(
        "MERGE INTO customer c USING person p ON c.ssn = p.ssn WHEN MATCHED THEN UPDATE SET email = 'a' WHEN NOT MATCHED THEN INSERT (id, ssn, email) VALUES (p.id, p.ssn, $1)",
        "MERGE INTO customer c USING person p ON c.ssn = p.ssn WHEN MATCHED THEN UPDATE SET email = «S0:a» WHEN NOT MATCHED THEN INSERT (id, ssn, email) VALUES (p.id, p.ssn, $1) | $1=S0",
    )]);
    check_kept(&["MERGE INTO customer USING orders ON true WHEN MATCHED THEN DELETE"]);
    check_refused(&[
        // The server finds the source's column there, not the target's.
        (
            "MERGE INTO customer c USING orders o ON o.id = c.id WHEN NOT MATCHED THEN INSERT (id, ssn) VALUES (o.id, ssn)",
            "customer.ssn",
        ),
        (
            "MERGE INTO customer c USING orders o ON o.id = c.id WHEN NOT MATCHED THEN INSERT VALUES (o.id, 'a')",
            "",
        ),
        (
            "MERGE INTO customer c USING orders o ON o.id = c.id WHEN MATCHED THEN UPDATE SET ssn = o.name",
            "customer.ssn",
        ),
    ]);
}

#[test]
fn a_choice_among_what_may_be_stored_is_stored() {
    check_rewritten(&[
        (
            "UPDATE customer SET ssn = COALESCE($1, ssn), email = CASE WHEN id = 1 THEN 'a' ELSE email END",
            "UPDATE customer SET ssn = COALESCE($1, ssn), email = CASE WHEN id = 1 THEN «S0:a» ELSE email END | $1=S1",
        ),
        (
            "UPDATE customer SET ssn = (SELECT p.ssn FROM person p WHERE p.id = customer.id)",
            "UPDATE customer SET ssn = (SELECT p.ssn FROM person p WHERE p.id = customer.id)",
        ),
        (
            "UPDATE customer SET email = (CASE WHEN (id = $1) THEN $2 WHEN id = 2 THEN 'b' ELSE NULL END)::text",
            "UPDATE customer SET email = (CASE WHEN (id = $1) THEN $2 WHEN id = 2 THEN «S0:b» ELSE NULL END)«» | $2=S0",
        ),
        (
            "UPDATE customer SET email = CASE WHEN id = 1 THEN 5 WHEN id = 2 THEN (NULL) END",
            "UPDATE customer SET email = CASE WHEN id = 1 THEN «S0:5» WHEN id = 2 THEN (NULL) END",
        ),
        (
            "UPDATE customer SET email = CASE id WHEN 1 THEN 'a' ELSE email END::text WHERE id < 9",
            "UPDATE customer SET email = CASE id WHEN 1 THEN «S0:a» ELSE email END«» WHERE id < 9",
        ),
    ]);
    check_refused(&[
        ("UPDATE customer SET ssn = COALESCE(name, ssn)", "customer.ssn"),
        ("UPDATE customer SET ssn = my.coalesce('a', ssn)", "customer.ssn"),
        ("UPDATE customer SET ssn = CASE ssn WHEN 'a' THEN 'b' END", "customer.ssn"),
        ("UPDATE customer SET ssn = CASE id WHEN 1 THEN 5 ELSE 'b' END", "customer.ssn"),
        ("UPDATE customer SET ssn = CASE id WHEN ssn THEN 'b' END", "customer.ssn"),
        ("UPDATE customer SET ssn = (CASE id WHEN 1 THEN name END)::text", "customer.ssn"),
        ("UPDATE customer SET ssn = (CASE WHEN id = 1 THEN 'a' END)::varchar(3)", "customer.ssn"),
        ("UPDATE customer SET ssn = (SELECT name FROM orders)", "customer.ssn"),
    ]);
}

#[test]
fn a_chain_of_sub_selects_makes_no_endless_list() {
    let mut text = String::from("WITH x0 AS (SELECT * FROM customer)");
    for n in 1..20 {
        let before = n - 1;
        text.push_str(&format!(", x{n} AS (SELECT a.*, b.* FROM x{before} a, x{before} b)"));
    }
    text.push_str(" SELECT * FROM x19");
    check_refused(&[(text.as_str(), "")]);
}

#[test]
fn rows_in_bulk_are_sealed_cell_by_cell() {
    check_rewritten(&[
        (
            "INSERT INTO customer (id, ssn) SELECT p0::BIGINT, p1::VARCHAR FROM (VALUES ($1, $2::VARCHAR, 0), ($3, 'b', 1)) AS imp_sen(p0, p1, sen_counter) ORDER BY sen_counter RETURNING customer.id",
            "INSERT INTO customer (id, ssn) SELECT p0::BIGINT, p1«» FROM (VALUES ($1, «$2», 0), ($3, «S1:b», 1)) AS imp_sen(p0, p1, sen_counter) ORDER BY sen_counter RETURNING customer.id | $2=S1",
        ),
        (
            "INSERT INTO customer (id, ssn) SELECT * FROM UNNEST(($1)::bigint[], ($2)::varchar[])",
            "INSERT INTO customer (id, ssn) SELECT * FROM UNNEST(($1)::bigint[], «$2::text[]») | $2=S1[]",
        ),
        (
            "INSERT INTO customer (id, ssn) SELECT * FROM UNNEST(ARRAY[1], ('{a,b}')::varchar[])",
            "INSERT INTO customer (id, ssn) SELECT * FROM UNNEST(ARRAY[1], «S1[]:{a,b}»«::text[]»)",
        ),
    ]);
    check_refused(&[
        // What is sealed would be used a second time.
        ("INSERT INTO customer (ssn) SELECT a::int FROM (VALUES ('007')) v (a)", "customer.ssn"),
        ("INSERT INTO customer (ssn) SELECT a FROM (VALUES ('007'), (8)) v (a)", "customer.ssn"),
        ("INSERT INTO customer (name, ssn) SELECT a, a FROM (VALUES ('x')) v (a)", "customer.ssn"),
        (
            "INSERT INTO customer (id, ssn) SELECT 1, a FROM (VALUES ('x')) v (a) WHERE a = 'x'",
            "customer.ssn",
        ),
        ("INSERT INTO customer (id, ssn) SELECT 1, a FROM (VALUES ('x')) v (a) ORDER BY a", "customer.ssn"),
        ("INSERT INTO customer (id, ssn) SELECT 1, upper(a) FROM (VALUES ('x')) v (a)", "customer.ssn"),
        (
            "INSERT INTO customer (id, ssn) SELECT * FROM UNNEST($1::bigint[], string_to_array('a', ','))",
            "customer.ssn",
        ),
    ]);
}
