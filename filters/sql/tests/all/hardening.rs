//! Ways around the analysis that are closed.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use crate::common::catalog;
use crate::common::shapes::analyze;
use fieldveil_sql::StatementKind;

fn refused(text: &str) -> bool {
    analyze(text, &catalog()).is_err()
}

#[test]
fn the_word_atomic_hides_no_statement() {
    for text in [
        "SET atomic.x = 1; INSERT INTO customer (id, ssn) VALUES (7, '078-05-1120')",
        "LISTEN atomic; INSERT INTO customer (id, ssn) VALUES (7, '078-05-1120')",
        "DROP TABLE IF EXISTS atomic; INSERT INTO customer (id, ssn) VALUES (7, '078-05-1120')",
        "CREATE TABLE atomic (a int); INSERT INTO customer (id, ssn) VALUES (7, '078-05-1120')",
        "SAVEPOINT atomic; INSERT INTO customer (id, ssn) VALUES (7, '078-05-1120')",
    ] {
        let sealed = analyze(text, &catalog()).is_ok_and(|a| a.splices.len() == 1);
        assert!(sealed || refused(text), "{text}");
    }
}

#[test]
fn a_table_made_in_the_same_text_is_neither_filled_nor_read() {
    let catalog = fieldveil_sql::Catalog::default().with_planned(vec!["customer".to_owned()]);
    for text in [
        "CREATE TABLE customer (id int, ssn text); INSERT INTO customer VALUES (1, 'x')",
        "ALTER TABLE old RENAME TO customer; INSERT INTO customer VALUES (1, 'x')",
        "CREATE TABLE customer (id int, ssn text); COPY customer FROM stdin",
        "CREATE TABLE customer AS SELECT 1 AS id, 'x' AS ssn",
        "SELECT 'x' AS ssn INTO customer",
        "CREATE TABLE customer (id int, ssn text DEFAULT 'x')",
    ] {
        assert!(analyze(text, &catalog).is_err(), "{text}");
    }
    for text in [
        "CREATE TABLE customer (id int, ssn text); CREATE INDEX ON customer (ssn)",
        "INSERT INTO customer VALUES (1)",
    ] {
        assert!(analyze(text, &catalog).is_ok(), "{text}");
    }
}

#[test]
fn a_text_of_more_tokens_than_are_told_apart_is_untouched_or_refused() {
    let many = format!("SELECT {} 1", "a,".repeat(100_000));
    assert!(
        analyze(&many, &catalog()).is_ok_and(|a| a.splices.is_empty() && a.statements[0].changes_catalog)
    );
    assert!(refused(&format!("{many} FROM customer")));
}

#[test]
fn a_cursor_does_not_change_settings_unseen() {
    assert!(refused("DECLARE c CURSOR FOR SELECT set_config('search_path', 'public', false)"));
    assert!(refused("PREPARE p AS SELECT set_config('search_path', 'public', false)"));
    assert!(
        analyze("SELECT set_config('search_path', 'x', false)", &catalog()).unwrap().statements[0]
            .changes_catalog
    );
}

#[test]
fn a_select_whose_common_table_expression_writes_is_not_only_a_read() {
    let kind = |text: &str| analyze(text, &catalog()).unwrap().statements[0].kind;
    assert_eq!(kind("WITH x AS (INSERT INTO log VALUES (1) RETURNING 1) SELECT 1"), StatementKind::Other);
    assert_eq!(kind("WITH x AS (SELECT 1) SELECT 1"), StatementKind::Select);
}
