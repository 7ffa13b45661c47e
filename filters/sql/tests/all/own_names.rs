//! Statements that are prepared under the client's own names.

#![allow(clippy::expect_used, clippy::panic)]

use std::rc::Rc;

use crate::common::shapes::analyze_in;
use crate::common::{accepted, catalog, check_refused, check_rewritten, check_untouched, render};
use fieldveil_sql::{
    Analysis, Catalog, Names, OwnName, Prepared, PreparedText, Refusal, RefusalClass, SessionUse, Statement,
    is_unprotected,
};

/// A session that prepared one statement under a name of the client's, `p`, or did not.
struct Own(OwnName);

impl Own {
    fn texts(texts: &[&str]) -> Self {
        Self(OwnName::Texts(texts.iter().map(|text| PreparedText::from(*text)).collect()))
    }
}

impl Names for Own {
    fn prepared(&self, _: &str) -> Option<Rc<Prepared>> {
        None
    }

    fn own_name(&self, name: &str) -> OwnName {
        if name == "p" { self.0.clone() } else { OwnName::Unknown }
    }

    fn cursor(&self, _: &str) -> Option<Statement> {
        None
    }

    fn server_name(&self, name: &str) -> String {
        format!("ours_{name}")
    }
}

fn analyzed(text: &str, session: &Own) -> Result<Analysis, Refusal> {
    analyze_in(text, &catalog().with_planned(vec!["customer".to_owned()]), session)
}

#[test]
fn what_concerns_nothing_protected_is_prepared_under_its_own_name_as_written() {
    for (text, prepared) in [
        ("PREPARE p AS SELECT 1", "SELECT 1"),
        (
            "PREPARE \"P q\" (int, text) AS INSERT INTO orders VALUES ($1, $2)",
            "INSERT INTO orders VALUES ($1, $2)",
        ),
        (
            "PREPARE p AS SELECT * FROM other.customer WHERE ssn = $1",
            "SELECT * FROM other.customer WHERE ssn = $1",
        ),
        ("PREPARE p AS SELECT FROM WHERE", "SELECT FROM WHERE"),
    ] {
        let analysis = accepted(text);
        assert!(analysis.splices.is_empty() && analysis.parameters.is_empty(), "{text}");
        let Some(SessionUse::Prepare { name, server_name, text: own, .. }) = &analysis.statements[0].session
        else {
            panic!("{text}")
        };
        assert_eq!((name, own.as_deref()), (server_name, Some(prepared)), "{text}");
    }
    // A protected column, a protected table, its rows as a type, a setting, and a name of the filter's own.
    check_rewritten(&[
        ("PREPARE p AS SELECT ssn FROM customer", "PREPARE «\"p\"» AS SELECT ssn FROM customer"),
        ("PREPARE p AS SELECT id FROM customer", "PREPARE «\"p\"» AS SELECT id FROM customer"),
    ]);
    for text in ["PREPARE p (customer) AS SELECT $1", "PREPARE p AS SELECT * FROM pg_settings"] {
        assert!(render(text, &accepted(text)).starts_with("PREPARE «\"p\"»"), "{text}");
    }
    let text = "PREPARE fieldveil_1 AS SELECT 1";
    assert_eq!(render(text, &accepted(text)), "PREPARE «\"fieldveil_1\"» AS SELECT 1");
}

#[test]
fn what_is_no_statement_goes_to_the_server_if_it_can_name_nothing_protected() {
    check_untouched(&[
        "PREPARE p",
        "PREPARE p AS",
        "PREPARE p AS nonsense",
        "PREPARE p nonsense",
        "PREPARE 'p' AS SELECT 1",
        "PREPARE p AS DROP TABLE orders",
        "DECLARE c",
        "DECLARE c CURSOR FOR",
        "DECLARE c CURSOR FOR nonsense",
        "DECLARE c nonsense",
        "DECLARE 1 CURSOR FOR SELECT 1",
        "EXECUTE",
        "EXECUTE 1",
        "EXPLAIN",
        "EXPLAIN nonsense",
        "EXPLAIN (ANALYZE nonsense",
        "EXPLAIN PREPARE p AS nonsense",
    ]);
    check_refused(&[
        ("PREPARE p AS nonsense customer", ""),
        ("PREPARE p customer", ""),
        ("DECLARE c nonsense FROM customer", ""),
        ("DECLARE c CURSOR FOR nonsense FROM customer", ""),
        ("EXECUTE 1 customer", ""),
        ("EXPLAIN nonsense customer", ""),
        ("PREPARE p AS nonsense query_to_xml('SELECT ssn FROM customer')", ""),
    ]);
}

#[test]
fn what_has_its_own_name_is_executed_as_written_while_it_concerns_nothing_protected() {
    let session = Own::texts(&["INSERT INTO orders VALUES ($1)"]);
    for text in [
        "EXECUTE p",
        "EXECUTE p ('078-05-1120')",
        "EXECUTE p (upper('x') || $1)",
        "EXPLAIN (ANALYZE) EXECUTE p (1)",
        "CREATE TEMP TABLE t (n) AS EXECUTE p (1) WITH NO DATA",
        "EXPLAIN ANALYZE CREATE TABLE t AS EXECUTE p (1)",
        "DEALLOCATE p",
    ] {
        let analysis = analyzed(text, &session).expect(text);
        assert_eq!(render(text, &analysis), text);
        assert!(analysis.statements[0].session.is_some(), "{text} goes by a name");
    }
    for text in [
        "EXECUTE p ((SELECT ssn FROM customer))",
        "EXECUTE p (query_to_xml('SELECT ssn FROM customer', true, true, ''))",
        "EXECUTE other ('x')",
        "EXECUTE fieldveil_1",
        "CREATE TABLE customer AS EXECUTE p",
        "CREATE TABLE t AS EXECUTE other",
        "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END; EXECUTE p ('x')",
        "SET search_path = a; EXECUTE p ('x')",
        "DEALLOCATE p; EXECUTE p ('x')",
    ] {
        assert!(analyzed(text, &session).is_err(), "{text}");
    }
    let changes = |text: &str| analyzed(text, &session).expect(text).statements[0].changes_catalog;
    assert!(!changes("EXECUTE p (1)") && changes("EXECUTE p (set_config('search_path', 'a', false))"));
}

#[test]
fn what_has_come_to_concern_something_protected_is_not_executed() {
    for texts in [
        &["INSERT INTO customer (ssn) VALUES ($1)"][..],
        &["SELECT id FROM customer"],
        &["SELECT 1", "UPDATE customer SET ssn = $1"],
        &["EXECUTE q (1)"],
        &["SELECT 1; SELECT 2"],
        &["COPY orders TO STDOUT"],
        &["SET search_path = a"],
        &["SELECT set_config($1, $2, false)"],
        &["SELECT 'not ended"],
        &[""],
    ] {
        for text in ["EXECUTE p ('x')", "EXPLAIN EXECUTE p ('x')", "CREATE TABLE t AS EXECUTE p ('x')"] {
            assert!(analyzed(text, &Own::texts(texts)).is_err(), "{texts:?}");
        }
        assert!(!texts.iter().all(|text| is_unprotected(text, &catalog())), "{texts:?}");
    }
    assert!(is_unprotected("SELECT 1", &catalog()));
}

#[test]
fn values_for_a_name_that_stands_for_nothing_do_not_leave() {
    let session = Own(OwnName::Free);
    // The protected table may be there later.
    let absent = Catalog::default().with_planned(vec!["customer".to_owned()]);
    for (text, expected) in [
        ("EXECUTE p", "EXECUTE p"),
        ("EXECUTE p ('x', upper('y'))", "EXECUTE p «»"),
        ("EXPLAIN EXECUTE p('x')", "EXPLAIN EXECUTE p«»"),
        ("EXECUTE p ('x', (2)", "EXECUTE p «»"),
        ("CREATE TABLE t AS EXECUTE p ('x') WITH NO DATA", "CREATE TABLE t AS EXECUTE p «» WITH NO DATA"),
    ] {
        assert_eq!(render(text, &analyzed(text, &session).expect(text)), expected);
        assert_eq!(render(text, &analyze_in(text, &absent, &session).expect(text)), expected);
    }
    assert!(analyzed("EXECUTE p ('x')", &Own(OwnName::Unknown)).is_err());
}

#[test]
fn a_name_that_is_taken_is_not_given_to_a_protected_statement() {
    let session = Own::texts(&["SELECT 1"]);
    let refusal = analyzed("PREPARE p AS SELECT ssn FROM customer", &session).expect_err("taken");
    assert_eq!(
        (refusal.class, refusal.reason.as_str()),
        (RefusalClass::DuplicateName, "prepared statement \"p\" already exists")
    );
    // The server itself says so of another.
    assert!(analyzed("PREPARE p AS SELECT 2", &session).is_ok());
}

#[test]
fn a_text_executes_what_it_prepares_under_its_own_name() {
    let text = "PREPARE p AS INSERT INTO orders VALUES ($1); EXECUTE p ('x'); EXECUTE p ('y')";
    assert_eq!(render(text, &accepted(text)), text);
    check_refused(&[("PREPARE p AS SELECT 1; SET search_path = a; EXECUTE p ('x')", "")]);
}
