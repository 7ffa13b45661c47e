//! What was promised after an adversary's findings, beyond `hardening.rs`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
mod common;
use common::{accepted, check_refused, check_rewritten, refused};
use fieldveil_sql::RefusalClass;

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
    ]);
    check_refused(&[
        ("CREATE TABLE t (begin atomic); INSERT INTO customer (ssn) VALUES ('123-45')", ""),
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
        assert_eq!(refusal.class, RefusalClass::Unparsable);
        assert!(refusal.remedy.contains("parameters"));
    }
    let untouched = accepted(&format!("INSERT INTO log VALUES ({many} 'executed, removed')"));
    assert!(untouched.statements[0].changes_catalog && !untouched.statements[0].touched);
}
