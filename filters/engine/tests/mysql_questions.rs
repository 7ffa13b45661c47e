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
