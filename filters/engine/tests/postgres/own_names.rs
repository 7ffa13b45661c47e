//! Statements that SQL and the protocol prepare under the client's own names: a value leaves in clear only where it is
//! certain that nothing protected has the name.

#![allow(clippy::arithmetic_side_effects, clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used)]

use fieldveil_engine::fetch::{Fetch, FetchResponse};
use serde_json::{Value, json};

use crate::support::*;

const CANARY: &str = "078-05-1120";
const EXECUTE: &str = "EXECUTE p ('078-05-1120')";
const PROTECTED: &str = "UPDATE customer SET ssn = $1";

fn send(dialogue: &mut Dialogue, message: &[u8]) {
    dialogue.client(message);
    while !dialogue.asked().is_empty() {
        dialogue.answer_catalog();
    }
}

/// A query that the server does.
fn run(dialogue: &mut Dialogue, text: &str) {
    send(dialogue, &query(text));
    let sent = dialogue.take_to_server();
    assert!(contains(&sent, text.as_bytes()), "{text}");
    let end = ready(dialogue.status);
    dialogue.server(&[complete("DONE"), end].concat());
}

/// A query that fails at the server.
fn fail(dialogue: &mut Dialogue, text: &str, code: &str, status: u8) {
    send(dialogue, &query(text));
    dialogue.take_to_server();
    dialogue.server(&[server_error(code), ready(status)].concat());
}

/// A Parse that the server does.
fn prepare(dialogue: &mut Dialogue, text: &str) {
    send(dialogue, &[parse("p", text), sync()].concat());
    dialogue.server(&[message(b'1', b""), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.take_to_client();
}

/// What reaches the server of an EXECUTE.
#[derive(Debug, PartialEq)]
enum Sent {
    AsWritten,
    WithoutValues,
    Refused,
    Waits,
}

fn executed(dialogue: &mut Dialogue) -> Sent {
    dialogue.take_to_server();
    send(dialogue, &query(EXECUTE));
    if dialogue.session.is_waiting() {
        assert!(dialogue.take_to_server().is_empty());
        return Sent::Waits;
    }
    let sent = dialogue.take_to_server();
    if contains(&sent, EXECUTE.as_bytes()) {
        return Sent::AsWritten;
    }
    assert!(!contains(&sent, CANARY.as_bytes()));
    if contains(&sent, b"EXECUTE p") { Sent::WithoutValues } else { Sent::Refused }
}

fn session() -> Dialogue {
    Dialogue::with_catalog(&revealing())
}

#[test]
fn what_concerns_nothing_protected_is_executed_as_written_whoever_prepared_it() {
    let mut by_sql = session();
    run(&mut by_sql, "PREPARE p AS SELECT $1");
    assert_eq!(executed(&mut by_sql), Sent::AsWritten);
    let mut by_protocol = session();
    prepare(&mut by_protocol, "SELECT $1");
    assert_eq!(executed(&mut by_protocol), Sent::AsWritten);
    let mut nobody = session();
    assert_eq!(executed(&mut nobody), Sent::WithoutValues);
}

#[test]
fn name_of_a_protected_statement_of_the_protocol_is_not_taken_for_another() {
    let mut dialogue = session();
    prepare(&mut dialogue, PROTECTED);
    assert_eq!(executed(&mut dialogue), Sent::Refused);
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    // Until the server has said that the name is taken, it is not certain what it stands for.
    send(&mut dialogue, &query("PREPARE p AS SELECT $1"));
    assert_eq!(executed(&mut dialogue), Sent::Waits);
    dialogue.server(&[server_error("42P05"), ready(b'I')].concat());
    let sent = dialogue.take_to_server();
    assert!(contains(&sent, b"fieldveil refused") && !contains(&sent, CANARY.as_bytes()));
}

#[test]
fn statement_that_was_not_prepared_is_not_executed_with_its_values() {
    let mut dialogue = session();
    fail(&mut dialogue, "PREPARE p AS SELECT $1 FROM nothing", "42P01", b'I');
    assert_eq!(executed(&mut dialogue), Sent::WithoutValues);
}

#[test]
fn statement_stays_known_where_it_was_not_deallocated() {
    for deallocate in ["DEALLOCATE p", "DEALLOCATE ALL", "DISCARD ALL"] {
        let mut dialogue = session();
        run(&mut dialogue, "PREPARE p AS SELECT $1");
        fail(&mut dialogue, deallocate, "25001", b'I');
        assert_eq!(executed(&mut dialogue), Sent::AsWritten, "{deallocate}");
        let mut dialogue = session();
        prepare(&mut dialogue, PROTECTED);
        fail(&mut dialogue, deallocate, "25001", b'I');
        assert_eq!(executed(&mut dialogue), Sent::Refused, "{deallocate}");
        let mut dialogue = session();
        prepare(&mut dialogue, PROTECTED);
        run(&mut dialogue, deallocate);
        assert_eq!(executed(&mut dialogue), Sent::WithoutValues, "{deallocate}");
    }
}

#[test]
fn close_of_the_protocol_reaches_what_sql_prepared_under_its_own_name() {
    let close = message(b'C', b"Sp\0");
    let mut dialogue = session();
    run(&mut dialogue, "PREPARE p AS SELECT $1");
    send(&mut dialogue, &[close.clone(), sync()].concat());
    dialogue.server(&[message(b'3', b""), ready(b'I')].concat());
    assert_eq!(executed(&mut dialogue), Sent::WithoutValues);
    // But not what has a name of the filter's.
    let mut dialogue = session();
    send(&mut dialogue, &query(&format!("PREPARE p (text) AS {PROTECTED}")));
    dialogue.server(&[complete("PREPARE"), ready(b'I')].concat());
    send(&mut dialogue, &[close, sync()].concat());
    dialogue.server(&[message(b'3', b""), ready(b'I')].concat());
    dialogue.take_to_server();
    send(&mut dialogue, &query(EXECUTE));
    assert!(contains(&dialogue.to_server, b"EXECUTE \"fieldveil_") && contains(&dialogue.to_server, b"fv1."));
}

#[test]
fn statements_outlive_the_transaction_that_prepared_them() {
    let mut dialogue = session();
    dialogue.status = b'T';
    run(&mut dialogue, "BEGIN");
    run(&mut dialogue, "PREPARE p AS SELECT $1");
    dialogue.status = b'I';
    run(&mut dialogue, "ROLLBACK");
    assert_eq!(executed(&mut dialogue), Sent::AsWritten);
}

#[test]
fn a_pipeline_that_fails_as_one_is_not_waited_for_but_another_is() {
    let message = |text: &str| [parse("", text), bind("", &[]), execute()].concat();
    let mut dialogue = session();
    send(&mut dialogue, &message("PREPARE p AS SELECT $1"));
    send(&mut dialogue, &message(EXECUTE));
    assert!(contains(&dialogue.take_to_server(), EXECUTE.as_bytes()));
    send(&mut dialogue, &sync());
    send(&mut dialogue, &message(EXECUTE));
    assert!(dialogue.session.is_waiting());
    assert!(!contains(&dialogue.take_to_server(), EXECUTE.as_bytes()));
}

/// The catalog where the name means the protected table, or does not.
fn visible(is_visible: bool) -> Vec<Vec<Option<Vec<u8>>>> {
    let mut rows = catalog_rows();
    let text = if is_visible { b"t" } else { b"f" };
    rows.iter_mut().for_each(|row| row[4] = Some(text.to_vec()));
    rows
}

/// The search path changes, and the catalog with it.
fn set_path(dialogue: &mut Dialogue, is_visible: bool) {
    run(dialogue, "SET search_path = other");
    dialogue.client(&query("SELECT 1"));
    dialogue.answer_catalog_with(visible(is_visible));
    dialogue.server(&[complete("SELECT 1"), ready(b'I')].concat());
    dialogue.take_to_server();
}

/// The plan is renewed, with these fields.
fn renewed(dialogue: &mut Dialogue, fields: &[Value]) {
    dialogue.ports.borrow_mut().now_ms += 31_000;
    let now_ms = dialogue.ports.borrow().now_ms;
    let due = dialogue.worker.borrow_mut().due(now_ms);
    for fetch in due.iter().filter(|fetch| matches!(fetch, Fetch::Plan(_))) {
        let answer = FetchResponse::Body { body: &plan(fields), etag: None };
        dialogue.worker.borrow_mut().answered(fetch, answer, now_ms).unwrap();
    }
    dialogue.give_keys(&keys());
    send(dialogue, &query("SELECT 1"));
    dialogue.server(&[complete("SELECT 1"), ready(b'I')].concat());
    dialogue.take_to_server();
}

#[test]
fn statement_whose_table_is_protected_now_is_refused_also_when_it_is_not_any_more() {
    for by_protocol in [false, true] {
        let mut dialogue = session();
        set_path(&mut dialogue, false);
        match by_protocol {
            true => prepare(&mut dialogue, PROTECTED),
            false => run(&mut dialogue, &format!("PREPARE p AS {PROTECTED}")),
        }
        assert_eq!(executed(&mut dialogue), Sent::AsWritten);
        dialogue.server(&[complete("UPDATE 1"), ready(b'I')].concat());
        set_path(&mut dialogue, true);
        assert_eq!(executed(&mut dialogue), Sent::Refused);
        dialogue.server(&[server_error("42601"), ready(b'I')].concat());
        if !by_protocol {
            // The server may have looked the names up meanwhile, as a Describe has it do.
            set_path(&mut dialogue, false);
            assert_eq!(executed(&mut dialogue), Sent::Refused);
        }
    }
    let mut dialogue = session();
    prepare(&mut dialogue, PROTECTED);
    set_path(&mut dialogue, false);
    assert_eq!(executed(&mut dialogue), Sent::Refused, "it was sealed when it was prepared");
}

#[test]
fn statement_that_concerns_nothing_outlives_the_plan() {
    let mut dialogue = session();
    run(&mut dialogue, "PREPARE p AS SELECT $1");
    send(&mut dialogue, &query("PREPARE q AS SELECT ssn FROM customer"));
    dialogue.server(&[complete("PREPARE"), ready(b'I')].concat());
    renewed(&mut dialogue, &[field("ssn", "randomized", "text", json!({"treatment": "reveal"}), "seal")]);
    assert_eq!(executed(&mut dialogue), Sent::AsWritten);
    dialogue.server(&[complete("SELECT 1"), ready(b'I')].concat());
    send(&mut dialogue, &query("EXECUTE q"));
    assert!(contains(&dialogue.to_server, b"fieldveil refused"));
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    // It can be deallocated, by the name that the server has.
    dialogue.take_to_server();
    send(&mut dialogue, &query("DEALLOCATE q"));
    assert!(contains(&dialogue.to_server, b"DEALLOCATE \"fieldveil_"));
}

#[test]
fn statement_that_was_prepared_while_nothing_was_protected_is_refused() {
    let mut dialogue = Dialogue::ready(&[]);
    dialogue.client(&query("PREPARE p AS UPDATE customer SET ssn = $1"));
    dialogue.server(&[complete("PREPARE"), ready(b'I')].concat());
    renewed(&mut dialogue, &revealing());
    assert_eq!(executed(&mut dialogue), Sent::Refused);
}

/// Whether a Bind of what SQL prepared goes to the server as it came. If not, its value does not either.
fn bind_passes(dialogue: &mut Dialogue) -> bool {
    dialogue.take_to_server();
    let message = bind("p", &[CANARY.as_bytes()]);
    send(dialogue, &message);
    let sent = dialogue.take_to_server();
    assert!(contains(&sent, &message) || contains(&sent, b"fieldveil refused"));
    assert_eq!(contains(&sent, &message), contains(&sent, CANARY.as_bytes()));
    contains(&sent, &message)
}

#[test]
fn bind_finds_what_sql_prepared_if_it_concerns_nothing_protected() {
    let prepared = |text: &str| {
        let mut dialogue = session();
        send(&mut dialogue, &query(text));
        dialogue.server(&[complete("PREPARE"), ready(b'I')].concat());
        dialogue
    };
    assert!(bind_passes(&mut prepared("PREPARE p AS SELECT $1")));
    assert!(!bind_passes(&mut prepared("PREPARE q AS SELECT $1")));
    assert!(!bind_passes(&mut prepared("PREPARE p AS SELECT set_config('search_path', $1, false)")));
    assert!(!bind_passes(&mut prepared(&format!("PREPARE p (text) AS {PROTECTED}"))));
    let mut unseen = Dialogue::ready(&[]);
    unseen.client(&query("PREPARE p AS UPDATE customer SET ssn = $1"));
    unseen.server(&[complete("PREPARE"), ready(b'I')].concat());
    assert!(bind_passes(&mut unseen), "nothing is protected yet");
    unseen.client(&sync());
    unseen.server(&[message(b'2', b""), ready(b'I')].concat());
    renewed(&mut unseen, &revealing());
    assert!(!bind_passes(&mut unseen));
}

#[test]
fn bind_of_what_may_set_the_token_does_not_leave() {
    let mut dialogue = Dialogue::ready(&[]);
    dialogue.client(&query("PREPARE p AS SELECT set_config($1, $2, false)"));
    dialogue.server(&[complete("PREPARE"), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.client(&bind("p", &[b"Fieldveil.Token", CANARY.as_bytes()]));
    let sent = dialogue.take_to_server();
    assert!(contains(&sent, b"fieldveil refused") && !contains(&sent, CANARY.as_bytes()));
}

#[test]
fn bind_does_not_find_what_the_search_path_has_made_another_statement() {
    let mut dialogue = session();
    set_path(&mut dialogue, false);
    run(&mut dialogue, &format!("PREPARE p AS {PROTECTED}"));
    set_path(&mut dialogue, true);
    assert!(!bind_passes(&mut dialogue));
}

#[test]
fn bind_waits_until_the_server_has_answered_the_prepare() {
    let mut dialogue = session();
    send(&mut dialogue, &query("PREPARE p AS SELECT $1"));
    dialogue.take_to_server();
    dialogue.client(&bind("p", &[CANARY.as_bytes()]));
    assert!(dialogue.session.is_waiting());
    dialogue.server(&[server_error("42P05"), ready(b'I')].concat());
    assert!(contains(&dialogue.take_to_server(), b"fieldveil refused"));
}
