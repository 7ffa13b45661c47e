//! More ways around the analysis that are closed, beyond `hardening.rs`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use crate::common::shapes::analyze;
use crate::common::{accepted, check_refused, check_rewritten, refused};
use fieldveil_sql::{Catalog, RefusalClass};

#[test]
fn only_a_routines_body_holds_semicolons() {
    check_rewritten(&[
        (
            "SET atomic.x = 1; INSERT INTO customer (id, ssn) VALUES (7,'078-05-1120')",
            "SET atomic.x = 1; INSERT INTO customer (id, ssn) VALUES (7,«S1:078-05-1120»)",
        ),
        (
            "SELECT begin atomic FROM t; INSERT INTO customer (ssn) VALUES ('x')",
            "SELECT begin atomic FROM t; INSERT INTO customer (ssn) VALUES («S1:x»)",
        ),
        (
            "CREATE TABLE t (begin atomic); INSERT INTO customer (ssn) VALUES ('123-45')",
            "CREATE TABLE t (begin atomic); INSERT INTO customer (ssn) VALUES («S1:123-45»)",
        ),
    ]);
    check_refused(&[
        (
            "CREATE TABLE t PARTITION OF customer begin atomic; INSERT INTO customer (ssn) VALUES ('123-45')",
            "",
        ),
        ("CREATE OR REPLACE FUNCTION f() BEGIN ATOMIC SELECT 1; END; SELECT ssn FROM customer", ""),
    ]);
    assert_eq!(accepted("CREATE PROCEDURE f() BEGIN ATOMIC SELECT 1; END; SELECT 3").statements.len(), 1);
    assert_eq!(accepted("CREATE FUNCTION f(begin atomic) AS 'x'; SELECT 3").statements.len(), 2);
}

#[test]
fn a_text_of_too_many_tokens_is_refused_or_surely_untouched() {
    let many = "1,".repeat(100_000);
    for text in [
        format!("SELECT {many} 1 FROM Customer"),
        format!("SELECT {many} 1 FROM U&\"\\0063ustomer\""),
        format!("SELECT {many} 1; SET Standard_Conforming_Strings = off"),
        format!("SELECT {many} 1; EXECUTE p"),
    ] {
        let refusal = refused(&text);
        assert_eq!(refusal.class, RefusalClass::TooComplex);
        assert!(refusal.remedy.contains("parameters"));
    }
    let untouched = accepted(&format!("INSERT INTO log VALUES ({many} 'executed, removed')"));
    assert!(untouched.statements[0].changes_catalog && !untouched.statements[0].touched);
}

#[test]
fn after_a_change_of_names_protected_tables_are_left_alone() {
    let catalog = Catalog::default().with_planned(vec!["customer".to_owned()]);
    for text in [
        "CREATE TABLE customer (ssn text); ALTER TABLE customer RENAME TO c; INSERT INTO c VALUES ('x')",
        "CREATE TABLE customer (ssn text); CREATE TABLE c () INHERITS (customer); INSERT INTO c VALUES ('x')",
        "CREATE TABLE customer AS TABLE orders",
        "EXPLAIN ANALYZE CREATE TABLE customer AS TABLE orders",
        "EXPLAIN ANALYZE SELECT 'x' AS ssn INTO customer",
        "(SELECT 'x' AS ssn INTO customer)",
        "CREATE VIEW customer AS TABLE orders",
        "CREATE OR REPLACE VIEW public.customer AS (TABLE orders)",
        "SET search_path = a; TRUNCATE Customer",
        "DO 'x'; SELECT * FROM customer",
        "SELECT set_config('search_path', 'a', false); SELECT * FROM customer",
        "FETCH c; SELECT * FROM customer",
        "what is this; MERGE INTO customer USING a ON true WHEN MATCHED THEN DELETE",
    ] {
        let refusal = analyze(text, &catalog).unwrap_err();
        assert!(refusal.remedy.contains("separately"), "{text}: {refusal}");
    }
    for text in [
        "DROP TABLE IF EXISTS customer; CREATE TABLE customer (ssn text); CREATE UNIQUE INDEX ON customer (ssn)",
        "WITH a AS (SELECT 1) INSERT INTO customer SELECT * FROM a",
        "CREATE TABLE customer (ssn text); INSERT INTO migrations VALUES (1)",
    ] {
        assert!(analyze(text, &catalog).is_ok(), "{text}");
    }
}

#[test]
fn every_field_whose_equality_the_server_evaluates_is_a_search() {
    for (text, searches) in [
        ("SELECT ssn, count(*) FROM customer GROUP BY ssn", vec![1]),
        ("SELECT email AS e, ssn, count(*) FROM customer GROUP BY e, 2", vec![0, 1]),
        ("SELECT DISTINCT ssn, name FROM customer", vec![1]),
        ("SELECT DISTINCT ON (email) ssn FROM customer", vec![0]),
        ("SELECT count(DISTINCT ssn) FROM customer", vec![1]),
        ("INSERT INTO customer (ssn) VALUES ('x') ON CONFLICT (ssn) DO NOTHING", vec![1]),
        ("INSERT INTO customer (ssn) VALUES ('x') ON CONFLICT DO NOTHING", vec![1]),
        ("INSERT INTO person (ssn) VALUES ('x') ON CONFLICT ON CONSTRAINT k DO NOTHING", vec![5, 6]),
        ("SELECT city FROM customer JOIN person USING (ssn)", vec![1, 5]),
        ("SELECT id FROM customer WHERE ssn IN ('x', $1) AND email = 'y'", vec![0, 1]),
        ("SELECT ssn FROM customer", vec![]),
    ] {
        assert_eq!(accepted(text).statements[0].fields.searches, searches, "{text}");
    }
}

#[test]
fn a_parameter_is_cast_to_text_alone() {
    for of in [
        "int",
        "bigint",
        "numeric",
        "float8",
        "bool",
        "uuid",
        "date",
        "timestamp",
        "timestamptz",
        "bytea",
        "json",
        "varchar(3)",
        "char",
        "int::text",
    ] {
        check_refused(&[(&format!("SELECT id FROM customer WHERE ssn = $1::{of}"), "customer.ssn")]);
        check_refused(&[(&format!("INSERT INTO customer (ssn) VALUES ($1::{of})"), "customer.ssn")]);
    }
    check_rewritten(&[
        ("SELECT id FROM customer WHERE ssn = $1::text", "SELECT id FROM customer WHERE ssn = «$1» | $1=?1"),
        (
            "SELECT id FROM customer WHERE ssn = $1::varchar",
            "SELECT id FROM customer WHERE ssn = «$1» | $1=?1",
        ),
    ]);
}
