//! Sessions in a mode of sql_mode that gives texts another meaning: what names nothing protected passes as it is.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::mysql_support::*;
use crate::support::contains;

const MODES: [&str; 3] = ["ORACLE", "EMPTY_STRING_IS_NULL", "HIGH_NOT_PRECEDENCE"];
const SECRET: &str = "SELECT ssn FROM customer WHERE NOT id";

/// A session that was asked for its settings in this mode.
fn in_mode(sql_mode: &'static str) -> Dialogue {
    let mut dialogue = Dialogue::ready(&revealing(), usize::MAX);
    dialogue.sql_mode = sql_mode;
    pass(&mut dialogue, &query("SELECT 1 FROM orders"));
    dialogue
}

/// Sends a command, and answers those of the filter's questions that it gives rise to.
fn send(dialogue: &mut Dialogue, command: &[u8]) {
    dialogue.client(command);
    if contains(&dialogue.to_server, b"SELECT CAST(CURRENT_USER()") {
        dialogue.answer_who();
    }
    if contains(&dialogue.to_server, b"information_schema.COLUMNS") {
        dialogue.answer_catalog(&customer());
    }
}

/// The command reaches the server as it is, once the filter's questions are answered.
fn pass(dialogue: &mut Dialogue, command: &[u8]) {
    send(dialogue, command);
    assert!(dialogue.to_server.ends_with(command), "{:?}", String::from_utf8_lossy(&dialogue.to_client));
    dialogue.server(&ok(1));
    dialogue.to_server.clear();
    dialogue.to_client.clear();
}

/// The command is refused for the mode, and nothing of it reaches the server.
fn refuse(dialogue: &mut Dialogue, command: &[u8]) {
    send(dialogue, command);
    assert!(!contains(&dialogue.to_server, &command[5..]), "{:?}", dialogue.sql_mode);
    // A query without a text went in its place.
    dialogue.server(&error(1, 1065, "Query was empty"));
    let told = String::from_utf8_lossy(&dialogue.to_client).into_owned();
    assert!(told.contains("the session's sql_mode has"), "{:?} {told}", dialogue.sql_mode);
    dialogue.to_server.clear();
    dialogue.to_client.clear();
}

fn prepare(text: &str) -> Vec<u8> {
    packet(0, &[b"\x16", text.as_bytes()].concat())
}

fn execute(id: u8) -> Vec<u8> {
    packet(0, &[0x17, id, 0, 0, 0, 0, 1, 0, 0, 0])
}

#[test]
fn text_that_names_nothing_protected_passes_and_another_is_refused() {
    for mode in MODES {
        let mut dialogue = in_mode(mode);
        for text in [
            "SELECT NOT 1 BETWEEN -5 AND 5",
            "SHOW TABLES",
            "SET @@sql_mode = CONCAT(@@sql_mode, '')",
            "SELECT ''",
        ] {
            pass(&mut dialogue, &query(text));
            refuse(&mut dialogue, &query(SECRET));
        }
    }
}

#[test]
fn set_of_what_is_written_in_it_passes_whatever_it_names() {
    for mode in MODES {
        let mut dialogue = in_mode(mode);
        pass(&mut dialogue, &query("SET sql_mode = '', @customer = 1"));
        dialogue.sql_mode = "";
        pass(&mut dialogue, &query("SELECT id FROM customer WHERE NOT id"));
    }
}

#[test]
fn statement_is_prepared_where_it_names_nothing_protected() {
    for mode in MODES {
        let mut dialogue = in_mode(mode);
        refuse(&mut dialogue, &prepare(SECRET));
        dialogue.client(&prepare("SELECT '' FROM orders"));
        assert!(dialogue.to_server.ends_with(&prepare("SELECT '' FROM orders")), "{mode}");
        dialogue.server(&packet(1, &[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
        dialogue.to_server.clear();
        dialogue.to_client.clear();
        pass(&mut dialogue, &execute(1));
    }
}

#[test]
fn what_was_prepared_before_the_mode_is_refused_where_it_names_something_protected() {
    for mode in MODES {
        let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
        dialogue.client(&prepare(SECRET));
        dialogue.server(
            &[&packet(1, &[0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])[..], &definition(2, "customer", "ssn")]
                .concat(),
        );
        dialogue.to_server.clear();
        dialogue.to_client.clear();
        pass(&mut dialogue, &query("SET SESSION sql_mode = CONCAT(@@sql_mode, @mode)"));
        dialogue.sql_mode = mode;
        refuse(&mut dialogue, &execute(1));
    }
}

#[test]
fn value_is_sealed_where_not_alone_is_read_otherwise_and_the_text_has_none() {
    let mut dialogue = in_mode("HIGH_NOT_PRECEDENCE");
    dialogue.client(&query("INSERT INTO customer VALUES (1, 'Ada', '078-05-1120', 'x')"));
    assert!(contains(&dialogue.to_server, b"fv1.") && !contains(&dialogue.to_server, b"078-05"));
}

#[test]
fn no_question_has_an_empty_string_that_may_be_null_to_the_session() {
    let mut dialogue = Dialogue::ready(&revealing(), usize::MAX);
    dialogue.client(&query("SELECT 1 FROM orders"));
    for _ in 0..2 {
        let text = String::from_utf8_lossy(&dialogue.to_server).replace("x''", "");
        assert!(!text.contains("''") && !text.contains("\"\""), "{text}");
        match contains(&dialogue.to_server, b"information_schema.COLUMNS") {
            true => dialogue.answer_catalog(&customer()),
            false => dialogue.answer_who(),
        }
    }
    assert!(contains(&dialogue.to_server, b"SELECT 1 FROM orders"));
}
