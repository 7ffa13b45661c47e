//! After an error of the filter's own in a row's place filter and server hold the same statements and portals: what one
//! of them takes for one statement is never another's to the other.

#![allow(clippy::arithmetic_side_effects, clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::support::*;
use serde_json::json;

const CANARY: &str = "078-05-1120";
const INSERT: &str = "INSERT INTO customer (id, ssn) VALUES (7, $1)";

fn close(target: &str) -> Vec<u8> {
    message(b'C', &[target.as_bytes(), b"\0"].concat())
}

fn portal(name: &str, statement: &str) -> Vec<u8> {
    message(b'B', &[name.as_bytes(), b"\0", statement.as_bytes(), &[0; 7]].concat())
}

fn closed() -> Vec<u8> {
    message(b'3', b"")
}

fn describe() -> Vec<u8> {
    message(b'D', b"P\0")
}

/// `bad` reads values; `x` and the unnamed statement do not.
fn prepared() -> Dialogue {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    for (name, text) in [("x", "SELECT $1::text"), ("", "SELECT $1::text")] {
        dialogue.client(&[parse(name, text), sync()].concat());
        dialogue.server(&[message(b'1', b""), ready(b'I')].concat());
    }
    dialogue.client(&[parse("bad", "SELECT ssn FROM customer"), sync()].concat());
    let described = [message(b't', &[0, 0]), row_description(&[("ssn", 3)])].concat();
    dialogue.server(&[message(b'1', b""), described, ready(b'I')].concat());
    forget(&mut dialogue);
    dialogue
}

fn forget(dialogue: &mut Dialogue) {
    dialogue.take_to_server();
    dialogue.take_to_client();
}

/// A row that can not be opened.
fn bad_row() -> Vec<u8> {
    [message(b'2', b""), data_row(&[Some(CANARY.into())])].concat()
}

/// What the client is told when its group has these messages behind the one whose row can not be opened.
fn with_behind(behind: &[Vec<u8>]) -> Dialogue {
    let mut dialogue = prepared();
    dialogue.client(&[bind("bad", &[]), execute(), behind.concat(), sync()].concat());
    assert!(!dialogue.session.is_waiting());
    dialogue.server(&bad_row());
    dialogue
}

#[test]
fn what_the_server_does_behind_the_row_ends_the_session_and_says_so() {
    let refused = bind("none", &[]);
    let cases: [(&str, &[Vec<u8>]); 7] = [
        ("unnamed statement", &[parse("", INSERT)]),
        ("named statement", &[close("Sx"), parse("x", INSERT)]),
        ("portal", &[close("Pc"), portal("c", "bad")]),
        ("execute", &[portal("", "bad"), execute()]),
        ("query", &[query("SELECT 1")]),
        ("behind a description", &[describe(), parse("y", "SELECT 1")]),
        ("what is refused", &[refused]),
    ];
    for (case, behind) in cases {
        let mut dialogue = with_behind(behind);
        let told = dialogue.take_to_client();
        assert_eq!((tags(&told).as_str(), dialogue.closed), ("2E", true), "{case}");
        for part in ["FATAL", "XX001", "the server executes what the client sent behind"] {
            assert!(contains(&told, part.as_bytes()), "{case}: {part}");
        }
        assert!(!contains(&told, CANARY.as_bytes()), "{case}");
    }
}

/// What the client is told when its group wrote something before the row that can not be opened.
fn with_before(dialogue: &mut Dialogue) -> Vec<u8> {
    let write = [parse("", INSERT), bind("", &[CANARY.as_bytes()]), execute()].concat();
    dialogue.client(&[write, bind("bad", &[]), execute(), sync()].concat());
    assert!(!dialogue.session.is_waiting());
    dialogue.server(&[message(b'1', b""), message(b'2', b""), complete("INSERT 0 1"), bad_row()].concat());
    dialogue.take_to_client()
}

#[test]
fn what_the_group_wrote_before_the_row_and_would_be_kept_ends_the_session_and_says_so() {
    let mut dialogue = prepared();
    let told = with_before(&mut dialogue);
    assert_eq!((tags(&told).as_str(), dialogue.closed), ("12C2E", true));
    assert!(contains(&told, b"FATAL") && contains(&told, b"the pipeline did before"));
}

#[test]
fn what_a_transaction_block_wrote_before_the_row_is_still_the_clients_to_take_back() {
    let mut dialogue = prepared();
    dialogue.client(&query("BEGIN"));
    dialogue.server(&[complete("BEGIN"), ready(b'T')].concat());
    forget(&mut dialogue);
    let told = with_before(&mut dialogue);
    assert_eq!((tags(&told).as_str(), dialogue.closed), ("12C2E", false));
    assert!(!contains(&told, b"FATAL"));
}

#[test]
fn blocks_that_the_group_begins_and_ends_count_as_they_stand() {
    let execute_all = |names: &[&str]| -> Vec<u8> {
        let one = |text: &&str| [parse("", text), bind("", &[]), execute()].concat();
        [names.iter().map(one).collect::<Vec<_>>().concat(), bind("bad", &[]), execute(), sync()].concat()
    };
    let write = "INSERT INTO plain VALUES (1)";
    let cases: [(&[&str], &[&str], bool); 4] = [
        (&["BEGIN"], &["BEGIN"], false),
        (&["BEGIN", write], &["BEGIN", "INSERT 0 1"], false),
        (&["BEGIN", write, "COMMIT"], &["BEGIN", "INSERT 0 1", "COMMIT"], true),
        (&[write], &["INSERT 0 1"], true),
    ];
    for (texts, tags, ends) in cases {
        let mut dialogue = prepared();
        dialogue.client(&execute_all(texts));
        assert!(!dialogue.session.is_waiting(), "{texts:?}");
        for tag in tags {
            dialogue.server(&[message(b'1', b""), message(b'2', b""), complete(tag)].concat());
        }
        dialogue.server(&bad_row());
        assert_eq!(
            (contains(&dialogue.take_to_client(), b"FATAL"), dialogue.closed),
            (ends, ends),
            "{texts:?}"
        );
    }
}

#[test]
fn what_an_earlier_group_wrote_is_done_and_known_to_be() {
    let mut dialogue = prepared();
    dialogue.client(&[parse("", INSERT), bind("", &[CANARY.as_bytes()]), execute(), sync()].concat());
    let written = [message(b'1', b""), message(b'2', b""), complete("INSERT 0 1"), ready(b'I')].concat();
    dialogue.server(&written);
    forget(&mut dialogue);
    dialogue.client(&[bind("bad", &[]), execute(), sync()].concat());
    dialogue.server(&bad_row());
    assert_eq!((tags(&dialogue.take_to_client()).as_str(), dialogue.closed), ("2E", false));
}

#[test]
fn spent_budget_ends_the_session_likewise() {
    let budget = json!({"rows": 1, "per_seconds": 16, "then": {"treatment": "refuse"}});
    let limited = json!({"treatment": "reveal", "budget": budget});
    let mut dialogue = Dialogue::with_catalog(&[field("ssn", "deterministic", "text", limited, "seal")]);
    dialogue.client(&query(&format!("INSERT INTO customer (ssn) VALUES ('{CANARY}')")));
    let sent = dialogue.take_to_server();
    let start = sent.windows(4).position(|window| window == b"fv1.").unwrap();
    let value = sent[start..].split(|byte| *byte == b'\'').next().unwrap().to_vec();
    dialogue.server(&[complete("INSERT 0 1"), ready(b'I')].concat());
    forget(&mut dialogue);
    dialogue.client(&[parse("s", "SELECT ssn FROM customer"), bind("s", &[]), execute()].concat());
    dialogue.client(&[parse("", INSERT), sync()].concat());
    let described = [message(b't', &[0, 0]), row_description(&[("ssn", 3)]), message(b'2', b"")].concat();
    dialogue.server(&[message(b'1', b""), described, data_row(&[Some(value)]).repeat(2)].concat());
    let told = dialogue.take_to_client();
    assert!(contains(&told, b"FATAL") && contains(&told, b"C53400") && dialogue.closed);
}

#[test]
fn usual_shapes_go_on() {
    let described = || row_description(&[("ssn", 3)]);
    let cases = [
        ("alone", vec![], vec![]),
        ("described", vec![describe()], described()),
        ("closed", vec![close("P")], closed()),
        ("all", vec![describe(), close("P"), close("S")], [described(), closed(), closed()].concat()),
    ];
    for (case, behind, answers) in cases {
        let mut dialogue = with_behind(&behind);
        dialogue.server(&[complete("SELECT 1"), answers, ready(b'I')].concat());
        assert_eq!(tags(&dialogue.take_to_client()), "2EZ", "{case}");
        dialogue.take_to_server();
        let anew = [parse("", INSERT), bind("", &[CANARY.as_bytes()]), execute(), sync()].concat();
        dialogue.client(&anew);
        let sent = dialogue.take_to_server();
        assert!(contains(&sent, b"fv1.") && !contains(&sent, CANARY.as_bytes()), "{case}");
        let answer = [message(b'1', b""), message(b'2', b""), complete("INSERT 0 1"), ready(b'I')].concat();
        dialogue.server(&answer);
        assert_eq!((tags(&dialogue.take_to_client()).as_str(), dialogue.closed), ("12CZ", false), "{case}");
    }
}

#[test]
fn what_comes_after_the_row_up_to_the_sync_is_not_sent() {
    let mut dialogue = prepared();
    dialogue.client(&[bind("bad", &[]), execute()].concat());
    dialogue.server(&bad_row());
    dialogue.take_to_server();
    dialogue.client(&[parse("", INSERT), query("SELECT 2"), close("Sx"), sync()].concat());
    assert_eq!(tags(&dialogue.take_to_server()), "S");
    dialogue.server(&[complete("SELECT 1"), ready(b'I')].concat());
    assert_eq!((tags(&dialogue.take_to_client()).as_str(), dialogue.closed), ("2EZ", false));
    // The unnamed statement is what it was, and so is the named one.
    for name in ["", "x"] {
        let executes = [bind(name, &[b"a word"]), execute(), sync()].concat();
        dialogue.client(&executes);
        assert_eq!(dialogue.take_to_server(), executes);
    }
}

#[test]
fn statement_that_was_closed_behind_the_row_is_closed() {
    let mut dialogue = with_behind(&[close("Sx")]);
    dialogue.server(&[complete("SELECT 1"), closed(), ready(b'I')].concat());
    forget(&mut dialogue);
    dialogue.client(&[bind("x", &[b"a word"]), execute(), sync()].concat());
    assert!(!contains(&dialogue.take_to_server(), b"a word"));
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    // Another takes its name: its values are sealed.
    dialogue.client(&[parse("x", INSERT), sync()].concat());
    dialogue.server(&[message(b'1', b""), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.client(&[bind("x", &[CANARY.as_bytes()]), execute(), sync()].concat());
    let sent = dialogue.take_to_server();
    assert!(contains(&sent, b"fv1.") && !contains(&sent, CANARY.as_bytes()));
}

#[test]
fn close_that_an_error_of_the_server_overtakes_is_taken_back() {
    let mut dialogue = with_behind(&[close("Sx")]);
    dialogue.server(&[server_error("22012"), ready(b'I')].concat());
    assert_eq!(tags(&dialogue.take_to_client()), "2EZ");
    dialogue.take_to_server();
    let executes = [bind("x", &[b"a word"]), execute(), sync()].concat();
    dialogue.client(&executes);
    assert_eq!(dialogue.take_to_server(), executes);
}

#[test]
fn next_group_is_the_servers_as_the_client_sent_it() {
    let mut dialogue = prepared();
    let next = [parse("", INSERT), bind("", &[CANARY.as_bytes()]), execute(), sync()].concat();
    dialogue.client(&[bind("bad", &[]), execute(), sync(), next].concat());
    let sent = dialogue.take_to_server();
    assert!(contains(&sent, b"fv1.") && !contains(&sent, CANARY.as_bytes()));
    dialogue.server(&[bad_row(), complete("SELECT 1"), ready(b'I')].concat());
    dialogue.server(&[message(b'1', b""), message(b'2', b""), complete("INSERT 0 1"), ready(b'I')].concat());
    assert_eq!((tags(&dialogue.take_to_client()).as_str(), dialogue.closed), ("2EZ12CZ", false));
}

#[test]
fn portal_that_two_failed_groups_would_have_opened_is_neither_of_theirs() {
    let mut dialogue = prepared();
    dialogue.client(&query("BEGIN"));
    dialogue.server(&[complete("BEGIN"), ready(b'T')].concat());
    dialogue.client(&[portal("c", "bad"), sync()].concat());
    dialogue.server(&[message(b'2', b""), ready(b'T')].concat());
    dialogue.client(&query("SAVEPOINT s"));
    dialogue.server(&[complete("SAVEPOINT"), ready(b'T')].concat());
    let fails =
        [parse("", "SELECT 1/0"), bind("", &[]), execute(), close("Pc"), portal("c", ""), sync()].concat();
    dialogue.client(&fails.repeat(2));
    let failed = [message(b'1', b""), message(b'2', b""), server_error("22012"), ready(b'E')].concat();
    dialogue.server(&failed);
    dialogue.server(&[server_error("25P02"), ready(b'E')].concat());
    dialogue.client(&query("ROLLBACK TO s"));
    dialogue.server(&[complete("ROLLBACK"), ready(b'T')].concat());
    forget(&mut dialogue);
    dialogue.client(&[message(b'E', b"c\0\0\0\0\0"), sync()].concat());
    // The server has the first, which reads a value, and the filter does not take it for another: it is refused.
    let sent = dialogue.take_to_server();
    assert_eq!((tags(&sent).as_str(), dialogue.session.is_waiting()), ("PS", false));
}
