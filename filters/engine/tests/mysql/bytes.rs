//! Bytes that a driver writes into a text of MySQL as they are.

use crate::mysql_support::*;
use crate::support::contains;

const CANARY: &[u8] = b"078-05-1120";
const TEXT: &[u8] = b"INSERT INTO customer (id, name, ssn) VALUES (1, _binary'\xff\\'\0', '078-05-1120')";

fn command(code: u8, text: &[u8]) -> Vec<u8> {
    packet(0, &[&[code], text].concat())
}

#[test]
fn statement_with_bytes_in_it_is_sealed_and_its_bytes_go_as_digits() {
    for code in [0x03, 0x16] {
        let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
        dialogue.client(&command(code, TEXT));
        assert!(contains(&dialogue.to_server, b"VALUES (1, _binary x'ff2700', 'fv1."));
        assert!(!contains(&dialogue.to_server, CANARY));
    }
}

#[test]
fn statement_that_touches_nothing_protected_is_forwarded_with_digits() {
    let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
    dialogue.client(&command(3, b"UPDATE orders SET a = _binary '\xff' WHERE id = 1"));
    assert_eq!(dialogue.to_server, query("UPDATE orders SET a = _binary  x'ff' WHERE id = 1"));
}

#[test]
fn first_statement_of_a_session_waits_for_how_it_is_read() {
    let mut dialogue = Dialogue::ready(&revealing(), 7);
    dialogue.client(&command(3, TEXT));
    dialogue.answer_questions();
    assert!(contains(&dialogue.to_server, b"_binary x'ff2700', 'fv1."));
}

#[test]
fn bytes_outside_of_a_binary_literal_are_refused() {
    for text in [
        b"INSERT INTO customer (id, name) VALUES (1, '\xff')".as_slice(),
        b"INSERT INTO customer (id, name) VALUES (1, _binary'\xff') -- \xff",
        b"INSERT INTO customer (id, notes) VALUES (1, _binary'\xff')",
    ] {
        let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
        dialogue.client(&command(3, text));
        assert_eq!(dialogue.to_server, command(3, b""));
    }
}

#[test]
fn token_in_a_comment_beside_bytes_does_not_reach_the_server() {
    let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
    let text = b"SELECT id FROM orders WHERE a = _binary'\xff' /*fieldveil.token='eyJhbGciOiJub25lIn0'*/";
    dialogue.client(&command(3, text));
    dialogue.answer_fetches();
    assert!(contains(&dialogue.to_server, b"_binary x'ff' /*fieldveil.token='xxxx"));
    assert!(!contains(&dialogue.to_server, b"eyJ"));
}

#[test]
fn where_nothing_is_protected_bytes_pass_as_they_are() {
    let mut dialogue = Dialogue::ready(&[], usize::MAX);
    dialogue.client(&command(3, TEXT));
    assert_eq!(dialogue.to_server, command(3, TEXT));
}
