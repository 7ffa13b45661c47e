//! What may go to a MySQL server before it was asked how the session's texts are read.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

mod mysql_support;
mod support;

use mysql_support::*;
use support::contains;

#[test]
fn what_asks_after_the_statement_before_goes_ahead_of_all_questions() {
    for text in ["SHOW WARNINGS", "show errors limit 5;", "SELECT ROW_COUNT() AS n", "COMMIT"] {
        let mut dialogue = Dialogue::ready(&revealing(), usize::MAX);
        dialogue.client(&query(text));
        assert_eq!(dialogue.to_server, query(text), "{text}");
    }
}

#[test]
fn statement_behind_one_that_needs_no_question_is_read() {
    let insert = "INSERT INTO customer VALUES (1, 'Ada', '078-05-1120', 'likes äöü')";
    for before in
        ["SHOW WARNINGS", "SHOW WARNINGS ", "SELECT ROW_COUNT()", "COMMIT", "SET @a = 1", "SET NAMES utf8mb4"]
    {
        for behind in [insert, "INSERT INTO customer VALUES (1, 'Ada', '078-05-1120', 'x')"] {
            let mut dialogue = Dialogue::ready(&revealing(), usize::MAX);
            dialogue.client(&query(&format!("{before};{behind}")));
            assert!(!contains(&dialogue.to_server, b"078-05-1120"), "{before}");
            dialogue.answer_questions();
            assert!(!contains(&dialogue.to_server, b"078-05-1120"), "{before}");
        }
    }
}

#[test]
fn table_that_another_connection_made_is_looked_for_before_a_statement_that_names_it() {
    let mut fields = revealing();
    let mut absent = fields[0].clone();
    absent["relation"] = "shop.patient".into();
    fields.push(absent);
    let mut dialogue = Dialogue::with_catalog(&fields, usize::MAX);
    dialogue.client(&query("SELECT 1 FROM orders"));
    assert_eq!(dialogue.to_server, query("SELECT 1 FROM orders"));
    dialogue.server(&ok(1));
    dialogue.to_server.clear();
    dialogue.client(&query("INSERT INTO Patient (ssn) VALUES ('078-05-1120')"));
    assert!(contains(&dialogue.to_server, b"information_schema.COLUMNS"));
    assert!(!contains(&dialogue.to_server, b"078-05-1120"));
}

#[test]
fn user_whose_name_the_server_takes_quotes_off_is_not_let_in() {
    let mut dialogue = Dialogue::new(&revealing(), usize::MAX);
    dialogue.server(&greeting());
    let mut response = handshake_response();
    let at = response.windows(4).position(|bytes| bytes == b"app\0").unwrap();
    response[at..at + 3].copy_from_slice(b"'a'");
    dialogue.client(&response);
    dialogue.answer_fetches();
    assert!(contains(&dialogue.to_server, b"fieldveil_"));
    assert!(!contains(&dialogue.to_server, b"'a'"));
}
