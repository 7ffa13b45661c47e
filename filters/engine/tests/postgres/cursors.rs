//! Which FETCH makes the session ask the server anew what names mean and who it is for: one that may run what the
//! analysis has not seen.

#![allow(clippy::arithmetic_side_effects, clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::support::*;

const QUIET: &str = "DECLARE c CURSOR FOR SELECT id, ssn FROM customer";
const FETCH: &str = "FETCH 1 FROM c";

/// A query that the server does.
fn run(dialogue: &mut Dialogue, text: &str) {
    send(dialogue, text);
    dialogue.server(&[complete("DONE"), ready(b'T')].concat());
}

fn send(dialogue: &mut Dialogue, text: &str) {
    dialogue.client(&query(text));
    if dialogue.session.is_waiting() {
        dialogue.answer_catalog();
    }
    assert!(contains(&dialogue.take_to_server(), text.as_bytes()), "{text}");
}

/// Whether the server is asked before the next statement.
fn asks(dialogue: &mut Dialogue) -> bool {
    dialogue.client(&query("SELECT 1"));
    let asks = dialogue.session.is_waiting();
    if asks {
        dialogue.answer_catalog();
    }
    dialogue.take_to_server();
    dialogue.server(&[complete("SELECT 1"), ready(b'T')].concat());
    asks
}

fn in_transaction() -> Dialogue {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.status = b'T';
    run(&mut dialogue, "BEGIN");
    assert!(!asks(&mut dialogue));
    dialogue
}

#[test]
fn cursor_whose_query_changes_nothing_is_fetched_from_without_asking_the_server_anew() {
    let mut dialogue = in_transaction();
    run(&mut dialogue, QUIET);
    for text in [FETCH, "MOVE 5 FROM c", FETCH] {
        run(&mut dialogue, text);
        assert!(!asks(&mut dialogue), "{text}");
    }
    dialogue.client(&[parse("f", FETCH), sync()].concat());
    assert!(!dialogue.session.is_waiting());
}

#[test]
fn cursor_that_was_not_seen_declared_is_asked_after() {
    let mut dialogue = in_transaction();
    run(&mut dialogue, FETCH);
    assert!(asks(&mut dialogue));
    run(&mut dialogue, QUIET);
    for closed in ["CLOSE c", "CLOSE ALL"] {
        run(&mut dialogue, closed);
        run(&mut dialogue, FETCH);
        assert!(asks(&mut dialogue), "{closed}");
    }
}

#[test]
fn what_can_not_be_seen_through_may_have_put_another_cursor_under_the_name() {
    let mut dialogue = in_transaction();
    run(&mut dialogue, QUIET);
    run(&mut dialogue, "CALL f()");
    asks(&mut dialogue);
    run(&mut dialogue, FETCH);
    assert!(asks(&mut dialogue));
}

#[test]
fn failed_declaration_is_no_quiet_one() {
    let mut dialogue = in_transaction();
    send(&mut dialogue, QUIET);
    dialogue.server(&[server_error("42P03"), ready(b'T')].concat());
    run(&mut dialogue, FETCH);
    assert!(asks(&mut dialogue));
}

#[test]
fn portal_of_the_cursors_name_is_asked_after() {
    let mut dialogue = in_transaction();
    run(&mut dialogue, QUIET);
    let portal = message(b'B', b"c\0\0\0\0\0\0\0\0");
    dialogue.client(&[parse("", "SELECT set_config('search_path', 'a', false)"), portal, sync()].concat());
    dialogue.server(&[message(b'1', b""), message(b'2', b""), ready(b'T')].concat());
    dialogue.take_to_server();
    run(&mut dialogue, FETCH);
    assert!(asks(&mut dialogue));
}

#[test]
fn declaration_among_other_statements_is_no_quiet_one() {
    let mut dialogue = in_transaction();
    run(&mut dialogue, "DECLARE c CURSOR FOR SELECT 1; CALL f()");
    asks(&mut dialogue);
    run(&mut dialogue, FETCH);
    assert!(asks(&mut dialogue));
}

#[test]
fn cursor_that_is_declared_in_the_pipeline_that_begins_its_transaction_is_fetched_from_without_asking() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    let group =
        [parse("", "BEGIN"), bind("", &[]), execute(), parse("", QUIET), bind("", &[]), execute(), sync()];
    dialogue.client(&group.concat());
    let (parsed, bound) = (message(b'1', b""), message(b'2', b""));
    let begun = [&parsed[..], &bound, &complete("BEGIN")].concat();
    // Which columns come back is asked behind the Parse.
    let described = [message(b't', &[0, 0]), message(b'n', b"")].concat();
    let declared = [&parsed[..], &described, &bound, &complete("DECLARE CURSOR"), &ready(b'T')].concat();
    dialogue.server(&[begun, declared].concat());
    dialogue.take_to_server();
    dialogue.status = b'T';
    run(&mut dialogue, FETCH);
    assert!(!asks(&mut dialogue));
}

#[test]
fn cursor_is_known_no_longer_than_its_transaction() {
    for (end, status) in [("COMMIT", b'I'), ("ROLLBACK", b'I'), ("END", b'I'), ("COMMIT AND CHAIN", b'T')] {
        let mut dialogue = in_transaction();
        run(&mut dialogue, QUIET);
        send(&mut dialogue, end);
        dialogue.server(&[complete(end), ready(status)].concat());
        dialogue.status = status;
        if status == b'I' {
            dialogue.status = b'T';
            run(&mut dialogue, "BEGIN");
        }
        run(&mut dialogue, FETCH);
        assert!(asks(&mut dialogue), "{end}");
    }
}

#[test]
fn savepoint_leaves_cursors_what_they_are() {
    let mut dialogue = in_transaction();
    run(&mut dialogue, QUIET);
    for text in ["SAVEPOINT a", FETCH, "RELEASE a", FETCH] {
        run(&mut dialogue, text);
        assert!(!asks(&mut dialogue), "{text}");
    }
    run(&mut dialogue, "SAVEPOINT a");
    run(&mut dialogue, "ROLLBACK TO a");
    run(&mut dialogue, FETCH);
    assert!(asks(&mut dialogue));
}

#[test]
fn cursor_that_a_savepoint_took_away_is_asked_after() {
    let mut dialogue = in_transaction();
    for text in ["SAVEPOINT a", QUIET, "ROLLBACK TO a"] {
        run(&mut dialogue, text);
    }
    run(&mut dialogue, FETCH);
    assert!(asks(&mut dialogue));
}

#[test]
fn cursor_outside_of_a_transaction_is_asked_after() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&query("DECLARE c CURSOR WITH HOLD FOR SELECT id, ssn FROM customer"));
    dialogue.server(&[complete("DECLARE CURSOR"), ready(b'I')].concat());
    dialogue.client(&query(FETCH));
    dialogue.server(&[complete("FETCH 0"), ready(b'I')].concat());
    assert!(asks(&mut dialogue));
}

#[test]
fn texts_of_several_statements_may_have_put_another_cursor_under_the_name() {
    let mut dialogue = in_transaction();
    run(&mut dialogue, QUIET);
    run(&mut dialogue, "CLOSE c; SELECT opens('c'); FETCH 1 FROM c");
    assert!(asks(&mut dialogue));
    run(&mut dialogue, "CLOSE c");
    run(&mut dialogue, QUIET);
    run(&mut dialogue, "COMMIT; BEGIN; DECLARE c CURSOR FOR SELECT 2; SELECT reopens('c')");
    run(&mut dialogue, FETCH);
    assert!(asks(&mut dialogue));
}

#[test]
fn declaration_that_is_explained_declares_nothing() {
    let mut dialogue = in_transaction();
    run(&mut dialogue, "EXPLAIN DECLARE c CURSOR FOR SELECT 1");
    run(&mut dialogue, FETCH);
    assert!(asks(&mut dialogue));
}

#[test]
fn declaration_that_fails_makes_no_known_cursor_of_another_of_its_name() {
    let mut dialogue = in_transaction();
    run(&mut dialogue, "DECLARE c CURSOR FOR SELECT 1; CALL reopens('c')");
    asks(&mut dialogue);
    send(&mut dialogue, QUIET);
    dialogue.server(&[server_error("42P03"), ready(b'T')].concat());
    run(&mut dialogue, FETCH);
    assert!(asks(&mut dialogue));
}

#[test]
fn close_message_closes_the_cursor_of_its_name() {
    let mut dialogue = in_transaction();
    run(&mut dialogue, QUIET);
    dialogue.client(&[message(b'C', b"Pc\0"), sync()].concat());
    dialogue.server(&[message(b'3', b""), ready(b'T')].concat());
    dialogue.take_to_server();
    run(&mut dialogue, FETCH);
    assert!(asks(&mut dialogue));
}

#[test]
fn portal_that_was_taken_back_may_be_there() {
    let mut dialogue = in_transaction();
    run(&mut dialogue, QUIET);
    let portal = message(b'B', b"c\0\0\0\0\0\0\0\0");
    dialogue.client(&[parse("", "SELECT set_config('search_path', 'a', false)"), portal, sync()].concat());
    dialogue.server(&[message(b'1', b""), server_error("42P03"), ready(b'T')].concat());
    dialogue.take_to_server();
    run(&mut dialogue, FETCH);
    assert!(asks(&mut dialogue));
}

#[test]
fn execute_of_a_cursor_is_a_fetch_of_its_rows() {
    let mut dialogue = in_transaction();
    run(&mut dialogue, QUIET);
    let asked = message(b'D', b"Pc\0");
    let executed = message(b'E', b"c\0\0\0\0\0");
    dialogue.client(&[executed.clone(), sync()].concat());
    let sent = dialogue.take_to_server();
    assert_eq!(sent, [asked, executed, sync()].concat());
    // No portal without a name is open.
    dialogue.client(&[execute(), sync()].concat());
    assert!(contains(&dialogue.take_to_server(), b"fieldveil refused"));
}
