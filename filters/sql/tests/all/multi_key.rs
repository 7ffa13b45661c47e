//! What becomes of comparisons while a value has several ciphertexts: one for each enabled key.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common::shapes::{analyze, analyze_in};
use crate::common::{
    Session, accepted, catalog, catalog_under_several_keys, check_rewritten, check_rewritten_in, render,
};
use fieldveil_sql::SessionUse;

fn check(cases: &[(&str, &str)]) {
    check_rewritten_in(&catalog_under_several_keys(), cases);
}

#[test]
fn a_value_that_is_looked_for_becomes_an_array() {
    check(&[
        ("SELECT 1 FROM customer WHERE ssn = 'x'", "SELECT 1 FROM customer WHERE ssn = «ANY (»«?1*:x»«)»"),
        ("SELECT 1 FROM customer WHERE ssn='x'", "SELECT 1 FROM customer WHERE ssn=«ANY (»«?1*:x»«)»"),
        (
            "SELECT 1 FROM customer WHERE ssn <> 'x' AND id != 1",
            "SELECT 1 FROM customer WHERE ssn <> «ALL (»«?1*:x»«)» AND id != 1",
        ),
        (
            "SELECT 1 FROM customer c WHERE c.ssn::text != ('x')",
            "SELECT 1 FROM customer c WHERE c.ssn::text != «ALL (»«?1*:x»«)»",
        ),
        (
            "UPDATE customer SET name = 'n' WHERE (ssn) = $1",
            "UPDATE customer SET name = 'n' WHERE (ssn) = «ANY (»«$1::text[]»«)» | $1=?1*",
        ),
        (
            "DELETE FROM customer WHERE NOT ssn = CAST($1 AS text) OR email = $2",
            "DELETE FROM customer WHERE NOT ssn = «ANY (»«$1::text[]»«)» OR email = «ANY (»«$2::text[]»«)» | $1=?1* $2=?0*",
        ),
        (
            "SELECT 1 FROM blob WHERE data = $1 OR data = 'x'",
            "SELECT 1 FROM blob WHERE data = «ANY (»«$1::bytea[]»«)» OR data = «ANY (»«?9*:x»«)» | $1=?9*",
        ),
    ]);
}

#[test]
fn a_value_left_of_its_column_changes_places_with_it() {
    check(&[
        ("SELECT 1 FROM customer WHERE 'x' = ssn", "SELECT 1 FROM customer WHERE «ssn» = «ANY (»«?1*:x»«)»"),
        (
            "SELECT 1 FROM customer c WHERE ($1) <> c.ssn",
            "SELECT 1 FROM customer c WHERE «c.ssn» <> «ALL (»«$1::text[]»«)» | $1=?1*",
        ),
        (
            "SELECT 1 FROM customer c WHERE NOT 'x'=((c.ssn))",
            "SELECT 1 FROM customer c WHERE NOT «c.ssn»=«ANY (»«?1*:x»«)»",
        ),
    ]);
}

#[test]
fn null_stays_null() {
    check(&[
        ("SELECT 1 FROM customer WHERE ssn = NULL", "SELECT 1 FROM customer WHERE ssn = NULL"),
        (
            "SELECT 1 FROM customer WHERE ssn IS DISTINCT FROM NULL",
            "SELECT 1 FROM customer WHERE ssn IS DISTINCT FROM NULL",
        ),
        (
            "SELECT 1 FROM customer WHERE ssn NOT IN ('x', NULL)",
            "SELECT 1 FROM customer WHERE ssn «<> ALL (ARRAY[»«?1*:x», «1*:NULL»«])»",
        ),
    ]);
}

#[test]
fn lists_become_arrays_of_arrays() {
    check(&[
        (
            "SELECT 1 FROM customer WHERE ssn IN ('x', $1, ($2)) AND id IN (1, 2)",
            "SELECT 1 FROM customer WHERE ssn «= ANY (ARRAY[»«?1*:x», «$1::text[]», «$2::text[]»«])» AND id IN (1, 2) | $1=?1* $2=?1*",
        ),
        (
            "SELECT 1 FROM customer WHERE ssn not in('x')",
            "SELECT 1 FROM customer WHERE ssn «<> ALL (ARRAY[»«?1*:x»«])»",
        ),
        (
            "SELECT 1 FROM customer WHERE ssn = ANY (ARRAY['x', $1]::text[])",
            "SELECT 1 FROM customer WHERE ssn = ANY (ARRAY[«?1*:x», «$1::text[]»]::text[]) | $1=?1*",
        ),
        (
            "SELECT 1 FROM customer WHERE ssn = ANY ('{x,y}') OR ssn <> ALL ($1)",
            "SELECT 1 FROM customer WHERE ssn = ANY («?1[]:{x,y}») OR ssn <> ALL ($1) | $1=?1[]",
        ),
    ]);
}

#[test]
fn distinct_from_compares_with_the_value_that_the_column_holds() {
    check(&[
        (
            "SELECT 1 FROM customer c WHERE c.ssn IS NOT DISTINCT FROM $1 AND id = 1",
            "SELECT 1 FROM customer c WHERE c.ssn IS NOT DISTINCT FROM «(CASE WHEN c.ssn = ANY (»«$1::text[]»«) THEN c.ssn ELSE (»«$1::text[]»«)[1] END)» AND id = 1 | $1=?1*",
        ),
        (
            "SELECT 1 FROM customer WHERE 'x' IS DISTINCT FROM ssn",
            "SELECT 1 FROM customer WHERE «(CASE WHEN ssn = ANY (»«?1*:x»«) THEN ssn ELSE (»«?1*:x»«)[1] END)» IS DISTINCT FROM ssn",
        ),
    ]);
}

#[test]
fn a_parameter_that_is_stored_too_is_stored_under_the_primary_key() {
    check(&[
        (
            "UPDATE customer SET ssn = $1 WHERE ssn <> $1",
            "UPDATE customer SET ssn = «($1::text[])[1]» WHERE ssn <> «ALL (»«$1::text[]»«)» | $1=S?1*",
        ),
        (
            "INSERT INTO customer (ssn) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM customer WHERE ssn = $1)",
            "INSERT INTO customer (ssn) SELECT «($1::text[])[1]» WHERE NOT EXISTS (SELECT 1 FROM customer WHERE ssn = «ANY (»«$1::text[]»«)») | $1=S?1*",
        ),
        (
            "UPDATE customer SET ssn = $1 WHERE email = $2",
            "UPDATE customer SET ssn = $1 WHERE email = «ANY (»«$2::text[]»«)» | $1=S1 $2=?0*",
        ),
    ]);
    check_rewritten(&[(
        "UPDATE customer SET ssn = $1 WHERE ssn <> $1",
        "UPDATE customer SET ssn = $1 WHERE ssn <> $1 | $1=S?1",
    )]);
}

#[test]
fn columns_that_are_compared_with_each_other_are_told() {
    for (text, compares) in [
        ("SELECT 1 FROM customer WHERE ssn = 'x' AND email IN ($1)", vec![]),
        ("SELECT count(ssn) FROM customer WHERE ssn IS NOT NULL", vec![]),
        ("SELECT count(DISTINCT ssn) FROM customer", vec![1]),
        ("SELECT DISTINCT ssn FROM customer", vec![1]),
        ("SELECT ssn FROM customer GROUP BY ssn", vec![1]),
        ("SELECT ssn FROM customer UNION SELECT ssn FROM person", vec![1, 5]),
        ("SELECT ssn FROM customer UNION ALL SELECT ssn FROM person", vec![]),
        ("SELECT 1 FROM customer c JOIN person p ON p.ssn = c.ssn", vec![1, 5]),
        ("SELECT 1 FROM customer c JOIN person p USING (ssn)", vec![1, 5]),
        ("SELECT 1 FROM customer WHERE ssn IN (SELECT ssn FROM person)", vec![1, 5]),
        ("INSERT INTO customer (ssn) VALUES ('x')", vec![]),
        ("INSERT INTO customer (ssn) VALUES ('x') ON CONFLICT (ssn) DO NOTHING", vec![1]),
        ("INSERT INTO customer (id, ssn) VALUES (1, 'x') ON CONFLICT (id) DO NOTHING", vec![]),
        ("INSERT INTO customer (id, ssn) VALUES (1, 'x') ON CONFLICT DO NOTHING", vec![1]),
        ("INSERT INTO customer (id, ssn) SELECT id, ssn FROM person ON CONFLICT DO NOTHING", vec![1]),
        ("INSERT INTO customer (id, name) VALUES (1, 'x') ON CONFLICT DO NOTHING", vec![]),
        ("INSERT INTO vault (token) VALUES ('x') ON CONFLICT DO NOTHING", vec![13]),
        ("SELECT 1 FROM vault a JOIN vault b ON a.token = b.token", vec![13]),
        ("SELECT 1 FROM vault WHERE token IN (SELECT token FROM vault)", vec![13]),
        ("SELECT 1 FROM vault WHERE token = 'x' OR token IN ('y')", vec![]),
    ] {
        for catalog in [catalog(), catalog_under_several_keys()] {
            let analysis = analyze(text, &catalog).expect(text);
            assert_eq!(analysis.statements[0].fields.compares, compares, "{text}");
        }
    }
}

#[test]
fn what_has_no_place_for_an_array_is_refused() {
    for text in [
        "SELECT 1 FROM customer WHERE 'x' = ssn::text",
        "SELECT 1 FROM customer WHERE ssn = lower('x')",
        "UPDATE customer SET ssn = $1 WHERE email = $1",
        "SELECT 1 FROM customer WHERE ssn = ALL ('{x}')",
        "SELECT 1 FROM customer WHERE ssn <> ANY ($1)",
        "SELECT 1 FROM customer WHERE ssn <> SOME (ARRAY['x'])",
    ] {
        assert!(analyze(text, &catalog_under_several_keys()).is_err(), "{text}");
    }
}

#[test]
fn what_sql_prepares_under_one_key_is_executed_under_several() {
    check_rewritten(&[
        (
            "PREPARE p (text) AS SELECT 1 FROM customer WHERE ssn = $1",
            "PREPARE «\"p\"» («unknown») AS SELECT 1 FROM customer WHERE ssn = «ANY (»«$1::text[]»«)»",
        ),
        // Of an indexed column a value has one index, whatever keys there are.
        (
            "PREPARE p AS SELECT 1 FROM vault WHERE token = $1",
            "PREPARE «\"p\"» AS SELECT 1 FROM vault WHERE «pg_catalog.left(»token«, 33)» = $1",
        ),
    ]);
    let prepared = accepted("PREPARE p AS UPDATE customer SET ssn = $2 WHERE ssn IN ($1) AND email <> $3");
    let session = Session(vec![("p", prepared)]);
    for catalog in [catalog(), catalog_under_several_keys()] {
        let text = "EXECUTE p('x', 'y', NULL)";
        let analysis = analyze_in(text, &catalog, &session).expect(text);
        assert_eq!(render(text, &analysis), "EXECUTE «\"p\"»(«?1*:x», «S1:y», «0*:NULL»)");
    }
}

#[test]
fn a_prepared_text_tells_which_fields_it_holds_values_of() {
    for (text, expected) in [
        ("PREPARE p AS SELECT 1 FROM customer WHERE ssn = $1", vec![]),
        ("PREPARE p AS SELECT 1 FROM customer WHERE ssn = 'x' AND email = $1", vec![1]),
        ("PREPARE p AS INSERT INTO customer (notes, email) VALUES ('x', 'y')", vec![0, 4]),
        ("PREPARE p AS SELECT 1 FROM customer WHERE ssn IN ($1, NULL)", vec![1]),
    ] {
        let analysis = accepted(text);
        let Some(SessionUse::Prepare { sealed, .. }) = &analysis.statements[0].session else {
            panic!("{text}")
        };
        assert_eq!(*sealed, expected, "{text}");
    }
}
