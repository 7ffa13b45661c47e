//! What the columns of a FETCH are, where the server names no table: those of the query whose cursor or portal has the
//! name now.

#![allow(clippy::arithmetic_side_effects, clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::support::*;
use serde_json::json;

/// Its column comes from no table, and is protected.
const SEALED: &str = "DECLARE c CURSOR FOR SELECT ssn FROM customer UNION ALL SELECT NULL";
const HELD: &str = "DECLARE c CURSOR WITH HOLD FOR SELECT ssn FROM customer UNION ALL SELECT NULL";
const PLAIN: &str = "DECLARE c CURSOR FOR SELECT 'x'";

/// A transaction of a principal to whom a protected value is NULL.
fn in_transaction() -> Dialogue {
    let fields = [field("ssn", "deterministic", "text", json!({"treatment": "null"}), "seal")];
    let mut dialogue = Dialogue::with_catalog(&fields);
    dialogue.status = b'T';
    run(&mut dialogue, &["BEGIN"]);
    dialogue
}

fn send(dialogue: &mut Dialogue, message: &[u8]) {
    dialogue.client(message);
    while dialogue.session.is_waiting() {
        dialogue.answer_catalog();
    }
    dialogue.take_to_client();
}

/// Queries that the server does.
fn run(dialogue: &mut Dialogue, texts: &[&str]) {
    for text in texts {
        send(dialogue, &query(text));
        assert!(contains(&dialogue.take_to_server(), text.as_bytes()), "{text}");
        let ends = ["COMMIT", "ROLLBACK", "DISCARD ALL"].contains(text);
        dialogue.status = if ends { b'I' } else { b'T' };
        let completed = text.split("; ").flat_map(|_| complete("DONE")).collect();
        let ready = ready(dialogue.status);
        dialogue.server(&[completed, ready].concat());
    }
}

/// A query that fails, in a transaction that goes on by a savepoint.
fn fail(dialogue: &mut Dialogue, message: &[u8]) {
    send(dialogue, message);
    dialogue.server(&[server_error("XX000"), ready(b'T')].concat());
}

/// `Bind` of a portal of the cursor's name.
fn bind_portal(text: &str) -> Vec<u8> {
    [parse("", text), message(b'B', b"c\0\0\0\0\0\0\0\0"), sync()].concat()
}

fn open_portal(dialogue: &mut Dialogue, text: &str) {
    send(dialogue, &bind_portal(text));
    let described = match text.contains("ssn") {
        true => [message(b't', &[0, 0]), of_no_table()].concat(),
        false => vec![],
    };
    let parsed = [message(b'1', b""), described, message(b'2', b""), ready(b'T')];
    dialogue.server(&parsed.concat());
}

fn of_no_table() -> Vec<u8> {
    let mut description = row_description(&[("column", 0)]);
    let table = description.windows(4).position(|bytes| bytes == 16400_u32.to_be_bytes()).unwrap();
    description[table..table + 4].fill(0);
    description
}

/// Whether what is fetched is treated as a protected value.
fn is_protected(dialogue: &mut Dialogue) -> bool {
    send(dialogue, &query("FETCH 1 FROM c"));
    let row = data_row(&[Some(b"value".to_vec())]);
    let ready = ready(dialogue.status);
    dialogue.server(&[of_no_table(), row.clone(), complete("FETCH 1"), ready].concat());
    let answer = dialogue.take_to_client();
    let protected = contains(&answer, &data_row(&[None]));
    assert!(protected != contains(&answer, &row));
    protected
}

#[test]
fn cursor_whose_declaration_is_explained_anew_is_what_it_was() {
    let mut dialogue = in_transaction();
    run(&mut dialogue, &[SEALED, "EXPLAIN DECLARE c CURSOR FOR SELECT 1"]);
    assert!(is_protected(&mut dialogue));
}

#[test]
fn cursor_ends_with_its_transaction_unless_it_is_held() {
    for (texts, there) in [
        (vec![SEALED, "COMMIT", "BEGIN"], false),
        (vec![SEALED, "COMMIT AND CHAIN"], false),
        (
            vec!["COMMIT", "DECLARE c CURSOR FOR SELECT ssn FROM customer UNION ALL SELECT NULL; COMMIT"],
            false,
        ),
        (vec![HELD, "COMMIT", "BEGIN"], true),
        (vec![HELD, "ROLLBACK", "BEGIN"], false),
        (vec![HELD, "COMMIT", "BEGIN", "ROLLBACK"], true),
        (vec![HELD, "COMMIT", "DISCARD ALL"], false),
        (vec![HELD, "COMMIT", "DEALLOCATE ALL"], true),
        (vec![HELD, "COMMIT", "ROLLBACK PREPARED 'p'"], true),
    ] {
        let mut dialogue = in_transaction();
        run(&mut dialogue, &texts);
        assert_eq!(is_protected(&mut dialogue), there, "{texts:?}");
    }
}

#[test]
fn cursor_of_a_text_ends_with_the_text_outside_of_a_transaction() {
    let mut dialogue = in_transaction();
    run(&mut dialogue, &["COMMIT"]);
    send(&mut dialogue, &query(&format!("{SEALED}; SELECT 1")));
    dialogue.server(&[complete("DECLARE CURSOR"), complete("SELECT 0"), ready(b'I')].concat());
    run(&mut dialogue, &["BEGIN"]);
    assert!(!is_protected(&mut dialogue));
}

#[test]
fn cursor_is_there_as_far_as_the_savepoint_reaches() {
    for (texts, there) in [
        (vec!["SAVEPOINT a", SEALED, "ROLLBACK TO a"], false),
        (vec!["SAVEPOINT a", SEALED, "ROLLBACK WORK TO SAVEPOINT A"], false),
        (vec![SEALED, "SAVEPOINT a", "ROLLBACK TO a"], true),
        (vec!["SAVEPOINT a", "SAVEPOINT b", SEALED, "RELEASE b", "ROLLBACK TO a"], false),
        (vec!["SAVEPOINT a", SEALED, "RELEASE SAVEPOINT a", "SAVEPOINT a", "ROLLBACK TO a"], true),
        (vec!["SAVEPOINT a", SEALED, "SAVEPOINT b", "ROLLBACK TO b"], true),
        (vec!["SAVEPOINT a", SEALED, "SAVEPOINT a", "ROLLBACK TO a"], true),
        (vec!["SAVEPOINT a", SEALED, "SAVEPOINT b", "ROLLBACK TO a", "ROLLBACK TO a"], false),
        (vec!["SAVEPOINT a", HELD, "ROLLBACK TO a"], false),
    ] {
        let mut dialogue = in_transaction();
        run(&mut dialogue, &texts);
        assert_eq!(is_protected(&mut dialogue), there, "{texts:?}");
    }
}

#[test]
fn cursor_is_there_when_what_would_end_it_fails() {
    for text in ["ROLLBACK TO a", "CLOSE c", PLAIN] {
        let mut dialogue = in_transaction();
        run(&mut dialogue, &["SAVEPOINT a", SEALED]);
        fail(&mut dialogue, &query(text));
        assert!(is_protected(&mut dialogue), "{text}");
    }
    for message in [bind_portal("SELECT 1"), [message(b'C', b"Pc\0"), sync()].concat()] {
        let mut dialogue = in_transaction();
        run(&mut dialogue, &[SEALED]);
        fail(&mut dialogue, &message);
        assert!(is_protected(&mut dialogue));
    }
}

#[test]
fn portal_has_the_name_of_a_cursor_that_is_closed() {
    let mut dialogue = in_transaction();
    run(&mut dialogue, &[PLAIN, "COMMIT", "BEGIN"]);
    open_portal(&mut dialogue, "SELECT ssn FROM customer UNION ALL SELECT NULL");
    assert!(is_protected(&mut dialogue));

    let mut dialogue = in_transaction();
    run(&mut dialogue, &[PLAIN]);
    send(&mut dialogue, &[message(b'C', b"Pc\0"), sync()].concat());
    dialogue.server(&[message(b'3', b""), ready(b'T')].concat());
    open_portal(&mut dialogue, "SELECT ssn FROM customer UNION ALL SELECT NULL");
    assert!(is_protected(&mut dialogue));
}

#[test]
fn cursor_has_the_name_of_a_portal_that_is_closed() {
    let mut dialogue = in_transaction();
    open_portal(&mut dialogue, "SELECT ssn FROM customer UNION ALL SELECT NULL");
    run(&mut dialogue, &["CLOSE c"]);
    assert!(!is_protected(&mut dialogue), "another may have the name");
    run(&mut dialogue, &["CLOSE c", SEALED]);
    assert!(is_protected(&mut dialogue));
    run(&mut dialogue, &["CLOSE c"]);
    open_portal(&mut dialogue, "SELECT 1");
    run(&mut dialogue, &["CLOSE c", SEALED]);
    assert!(is_protected(&mut dialogue));
}
