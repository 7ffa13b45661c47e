//! What a client may try to get past the session, and what goes wrong between two messages.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::support::*;
use serde_json::json;

const CANARY: &str = "078-05-1120";

#[test]
fn statement_sent_before_the_session_is_up_waits_for_it() {
    let mut dialogue = Dialogue::new();
    dialogue.client(&startup("app"));
    dialogue.answer_fetches(Ok(&plan(&revealing())), Ok(&keys()));
    dialogue.take_to_server();
    let insert = query(&format!("INSERT INTO customer (id, ssn) VALUES (7, '{CANARY}')"));
    dialogue.client(&[message(b'p', b"secret"), insert].concat());
    assert_eq!(tags(&dialogue.take_to_server()), "p");
    dialogue.server(&[message(b'R', &[0, 0, 0, 0]), ready(b'I')].concat());
    dialogue.answer_catalog();
    let sent = dialogue.take_to_server();
    assert!(contains(&sent, b"fv1.") && !contains(&sent, CANARY.as_bytes()));
}

#[test]
fn end_of_an_implicit_transaction_has_the_catalog_read_again() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    let set = [parse("", "SET LOCAL search_path TO empty"), bind("", &[]), execute()].concat();
    dialogue.client(&set);
    dialogue.take_to_server();
    dialogue.client(&parse("", "SELECT 1"));
    assert_eq!(tags(&dialogue.take_to_server()), "PBECCH");
    dialogue.server(&[message(b'1', b""), message(b'2', b""), complete("SET")].concat());
    let answer = dialogue.answer_with(catalog_rows());
    dialogue.server(&answer);
    dialogue.client(&sync());
    dialogue.take_to_server();
    dialogue.client(&query(&format!("INSERT INTO customer (id, ssn) VALUES (7, '{CANARY}')")));
    assert_eq!(tags(&dialogue.take_to_server()), "PBECCS");
}

#[test]
fn undo_of_a_failed_parse_leaves_a_later_statement_alone() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&[parse("s", "INSERT INTO other (id, t) VALUES ($1, $2)"), sync()].concat());
    dialogue.server(&[message(b'1', b""), ready(b'I')].concat());
    let close = message(b'C', b"Ss\0");
    let sealing = parse("s", "INSERT INTO customer (id, ssn) VALUES ($1, $2)");
    dialogue.client(&[parse("s", "SELECT 1"), sync(), close, sealing, sync()].concat());
    dialogue.server(&[server_error("42P05"), ready(b'I')].concat());
    dialogue.server(&[message(b'3', b""), message(b'1', b""), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.client(&[bind("s", &[b"7", CANARY.as_bytes()]), execute(), sync()].concat());
    let sent = dialogue.take_to_server();
    assert!(contains(&sent, b"fv1.") && !contains(&sent, CANARY.as_bytes()));
}

#[test]
fn bind_of_a_statement_that_failed_to_be_prepared_is_refused_and_never_waits() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(
        &[parse("h", "SELECT 1"), sync(), parse("h", "SELECT 1"), sync(), bind("h", &[]), sync()].concat(),
    );
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    assert!(!dialogue.session.is_waiting());
}

#[test]
fn copy_data_sent_ahead_waits_until_the_server_asks_for_it() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    let copy = [parse("", "COPY other FROM STDIN"), bind("", &[]), execute()].concat();
    let data = [message(b'd', b"7\tx\n"), message(b'c', b""), sync()].concat();
    dialogue.client(&[copy, data.clone()].concat());
    // A Flush asks for the answer.
    assert_eq!(tags(&dialogue.take_to_server()), "PBEH");
    dialogue.server(&[message(b'1', b""), message(b'2', b""), message(b'G', &[0, 0, 0])].concat());
    assert_eq!(dialogue.take_to_server(), data);
    dialogue.server(&[complete("COPY 1"), ready(b'I')].concat());
    assert_eq!((tags(&dialogue.to_client), dialogue.closed), ("12GCZ".to_owned(), false));
}

#[test]
fn copy_data_that_belongs_to_no_copy_goes_nowhere() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&[query("SELECT 1"), message(b'd', CANARY.as_bytes()), query("SELECT 2")].concat());
    assert_eq!(dialogue.take_to_server(), query("SELECT 1"));
    dialogue.server(&[complete("SELECT 1"), ready(b'I')].concat());
    assert_eq!(dialogue.take_to_server(), query("SELECT 2"));
}

#[test]
fn unfinished_messages_of_all_connections_are_bounded_together() {
    let first = Dialogue::ready(&revealing());
    let mut sessions = vec![];
    let mut closed = 0;
    for _ in 0..20 {
        let mut dialogue = first.beside();
        dialogue.client(&startup("app"));
        dialogue.server(&[message(b'R', &[0, 0, 0, 0]), ready(b'I')].concat());
        let mut unfinished = query(&"x".repeat(15 << 20));
        unfinished.pop();
        dialogue.client(&unfinished);
        closed += usize::from(dialogue.closed);
        sessions.push(dialogue);
    }
    assert!((8..=13).contains(&closed), "{closed}");
}

#[test]
fn execute_in_sql_of_a_statement_prepared_in_the_protocol_is_refused() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&[parse("s1", "INSERT INTO customer (id, ssn) VALUES ($1, $2)"), sync()].concat());
    dialogue.server(&[message(b'1', b""), ready(b'I')].concat());
    dialogue.take_to_server();
    for text in ["EXECUTE s1(7, '078-05-1120')", "EXPLAIN EXECUTE \"s1\"(7, '078-05-1120')"] {
        dialogue.client(&query(text));
        assert!(!contains(&dialogue.take_to_server(), CANARY.as_bytes()), "{text}");
        dialogue.server(&[server_error("42601"), ready(b'I')].concat());
        assert!(contains(&dialogue.take_to_client(), b"0A000"), "{text}");
    }
}

/// What of the client's texts may reach the server after these statements, in SQL's and the protocol's namespace.
fn after(messages: &[Vec<u8>], last: &str) -> Vec<u8> {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    for sent in messages {
        dialogue.client(sent);
        dialogue.server(&[complete("DONE"), ready(b'I')].concat());
        if dialogue.session.is_waiting() {
            dialogue.answer_catalog();
        }
    }
    dialogue.take_to_server();
    dialogue.client(&query(last));
    if dialogue.session.is_waiting() {
        dialogue.answer_catalog();
    }
    dialogue.take_to_server()
}

#[test]
fn what_is_executed_goes_by_a_name_that_nobody_else_can_give() {
    let prepare = query("PREPARE p (text) AS UPDATE customer SET ssn = $1");
    let sent = after(std::slice::from_ref(&prepare), "EXECUTE p ('078-05-1120')");
    assert!(contains(&sent, b"EXECUTE \"fieldveil_") && contains(&sent, b"fv1."));
    assert!(!contains(&sent, CANARY.as_bytes()));
    // What is prepared again under a name was not deallocated: it is refused, and the first one stands.
    let again = after(&[prepare, query("PREPARE p (text) AS SELECT $1")], "EXECUTE p ('078-05-1120')");
    assert!(!contains(&again, CANARY.as_bytes()));
}

#[test]
fn a_text_that_changes_names_executes_nothing() {
    let prepare = query("PREPARE p (text) AS UPDATE customer SET ssn = $1");
    for last in [
        "SET search_path = other; EXECUTE p ('078-05-1120')",
        "COMMIT; EXECUTE p ('078-05-1120')",
        "END; INSERT INTO customer (id, ssn) VALUES (1, '078-05-1120')",
        "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END; EXECUTE p ('078-05-1120')",
    ] {
        assert!(!contains(&after(std::slice::from_ref(&prepare), last), CANARY.as_bytes()), "{last}");
    }
}

#[test]
fn a_portal_that_is_not_known_is_not_executed() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    let execute = [b"cursor\0".as_slice(), &[0; 4]].concat();
    dialogue.client(&[message(b'E', &execute), sync()].concat());
    assert_eq!(tags(&dialogue.take_to_server()), "PS");
}

#[test]
fn a_catalog_question_that_the_server_skips_is_not_waited_for() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    let change = [parse("", "ALTER TABLE nothing ADD x int"), bind("", &[]), execute()].concat();
    dialogue.client(&change);
    dialogue.client(&[parse("", "SELECT ssn FROM customer"), bind("", &[]), execute(), sync()].concat());
    assert!(dialogue.session.is_waiting(), "the change may have changed names");
    dialogue.server(&server_error("42P01"));
    dialogue.server(&[ready(b'I')].concat());
    assert!(!dialogue.session.is_waiting() && !dialogue.closed);
    assert_eq!(tags(&dialogue.take_to_client()), "EZ");
    dialogue.client(&query("SELECT 1"));
    assert!(dialogue.session.is_waiting(), "the catalog is asked for anew");
}

#[test]
fn a_parameter_that_is_stored_and_looked_for_needs_the_right_to_search() {
    let conceal = [field("ssn", "deterministic", "text", json!({"treatment": "conceal"}), "seal")];
    let update = "UPDATE customer SET ssn = $1 WHERE ssn = $1";
    let mut dialogue = Dialogue::with_catalog(&conceal);
    for text in [query(&format!("PREPARE p AS {update}")), [parse("", update), sync()].concat()] {
        dialogue.take_to_server();
        dialogue.take_to_client();
        dialogue.client(&text);
        assert!(!contains(&dialogue.to_server, b"UPDATE"));
        dialogue.server(&[server_error("42601"), ready(b'I')].concat());
        assert!(contains(&dialogue.to_client, b"42501"));
    }
}

/// The name that the first message in `sent` gives or uses: a Parse's, or a Bind's, behind the unnamed portal.
fn statement_named_in(sent: &[u8]) -> Vec<u8> {
    let body = &sent[5..];
    let mut names = body.split(|byte| *byte == 0);
    let first = names.next().unwrap().to_vec();
    if first.is_empty() { names.next().unwrap().to_vec() } else { first }
}

#[test]
fn question_that_fails_when_it_is_prepared_leaves_no_statement_that_a_refusal_or_the_next_one_meets() {
    let mut dialogue = Dialogue::ready(&revealing());
    dialogue.client(&query("SELECT 1"));
    let question = statement_named_in(&dialogue.take_to_server());
    assert!(dialogue.session.is_waiting() && question.starts_with(b"fieldveil_"));
    // Cancelled: its Close is skipped.
    dialogue.server(&[message(b'1', b""), message(b'2', b""), server_error("57014"), ready(b'I')].concat());
    assert_eq!(tags(&dialogue.take_to_server()), "Q");
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    assert!(contains(&dialogue.take_to_client(), b"57P03"));
    dialogue.client(&[bind("none", &[]), sync()].concat());
    let refused = statement_named_in(&dialogue.take_to_server());
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    dialogue.client(&query("SELECT 1"));
    let next = statement_named_in(&dialogue.take_to_server());
    assert!(dialogue.session.is_waiting());
    assert!(refused != question && next != question);
}

#[test]
fn long_values_wait_for_the_plan_in_force() {
    let mut dialogue = Dialogue::ready_in_chunks(&[], 1 << 20);
    dialogue.client(&[parse("s", "INSERT INTO customer (id, ssn) VALUES ($1, $2)"), sync()].concat());
    dialogue.server(&[message(b'1', b""), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.ports.borrow_mut().now_ms += 301_000;
    let long = vec![b'1'; 17 << 20];
    dialogue.client(&bind("s", &[b"7", &long]));
    assert!(dialogue.take_to_server().is_empty(), "they pass under a plan that is too old");
    dialogue.answer_fetches(Ok(&plan(&revealing())), Ok(&keys()));
    dialogue.answer_catalog();
    assert!(!contains(&dialogue.take_to_server(), &long[..64]), "the server has what is protected now");
}
