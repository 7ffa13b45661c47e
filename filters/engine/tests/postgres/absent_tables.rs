//! Tables of PostgreSQL that the policy names and the server had not when it was asked: another connection may have made them.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::support::*;

const INSERT: &str = "INSERT INTO Patient (ssn) VALUES ('078-05-1120')";

/// [`revealing`], and a column of `public.patient`.
fn with_patient() -> Vec<serde_json::Value> {
    let mut fields = revealing();
    let mut absent = fields[0].clone();
    absent["relation"] = "public.patient".into();
    fields.push(absent);
    fields
}

/// The catalog's rows with `public.patient (ssn)`.
fn rows_with_patient() -> Vec<Vec<Option<Vec<u8>>>> {
    let mut rows = catalog_rows();
    let row = [
        "16500", "public", "patient", "r", "t", "1", "ssn", "25", "f", "", "public", "patient", "t", "-1",
        "", "f",
    ];
    rows.push(row.map(|value| Some(value.as_bytes().to_vec())).to_vec());
    rows
}

#[test]
fn a_table_that_another_connection_made_is_looked_for_before_a_statement_that_names_it() {
    for text in [
        INSERT,
        "INSERT INTO public.\"patient\" VALUES ('078-05-1120')",
        "INSERT INTO U&\"p\\0061tient\" VALUES ('078-05-1120')",
    ] {
        let mut dialogue = Dialogue::with_catalog(&with_patient());
        dialogue.client(&query(text));
        assert_eq!(dialogue.asked(), [Asked::Digest], "{text}");
        assert!(!contains(&dialogue.to_server, b"078-05"), "{text}");
        dialogue.answer_catalog_with(rows_with_patient());
        assert!(!contains(&dialogue.to_server, b"078-05"), "{text}");
    }
}

#[test]
fn what_is_written_to_it_is_sealed() {
    let mut dialogue = Dialogue::with_catalog(&with_patient());
    dialogue.client(&query(INSERT));
    dialogue.answer_catalog_with(rows_with_patient());
    assert!(contains(&dialogue.to_server, b"INSERT INTO Patient (ssn) VALUES ('fv1."));
    dialogue.server(&[complete("INSERT 0 1"), ready(b'I')].concat());
    dialogue.client(&query(INSERT));
    assert_eq!(dialogue.asked(), []);
}

#[test]
fn a_table_that_is_still_not_there_is_looked_for_once_a_statement() {
    let mut dialogue = Dialogue::with_catalog(&with_patient());
    dialogue.client(&query("CREATE TABLE patient (ssn text)"));
    dialogue.answer_catalog();
    assert!(contains(&dialogue.to_server, b"CREATE TABLE patient"));
    assert_eq!(dialogue.asked(), []);
}

#[test]
fn statements_that_name_no_such_table_ask_nothing() {
    let mut dialogue = Dialogue::with_catalog(&with_patient());
    for text in [
        "SELECT 1 FROM orders",
        "INSERT INTO customer (ssn) VALUES ('078-05-1120')",
        "SELECT ssn FROM customer",
    ] {
        dialogue.client(&query(text));
        assert_eq!(dialogue.asked(), [], "{text}");
        dialogue.server(&[complete("SELECT 0"), ready(b'I')].concat());
    }
}

#[test]
fn where_every_table_is_there_no_text_asks_anything() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&query("INSERT INTO U&\"p\\0061tient\" VALUES (1)"));
    assert_eq!(dialogue.asked(), []);
}

#[test]
fn a_name_that_the_server_would_cut_is_not_let_in() {
    let mut dialogue = Dialogue::new();
    let name = "a".repeat(64);
    dialogue.client(&startup(&name));
    assert!(dialogue.fetches.is_empty(), "a plan is asked for");
    assert!(!contains(&dialogue.to_server, b"aaaa"));
    dialogue.server(&message(b'E', b"SFATAL\0VFATAL\0C28000\0Mno user\0\0"));
    assert!(contains(&dialogue.to_client, b"63 bytes"));
}
