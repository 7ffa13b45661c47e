//! Commands that are too long to be held.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::mysql_support::*;
use crate::support::contains;

const LONGEST: usize = 0xff_ffff;

/// A command of more than 16 MiB that begins so.
fn long(begin: &[u8]) -> Vec<u8> {
    let mut payload = begin.to_vec();
    payload.resize(LONGEST, b' ');
    [packet(0, &payload), packet(1, &[b' '; 64])].concat()
}

#[test]
fn long_text_passes_where_nothing_is_protected() {
    let mut dialogue = Dialogue::ready(&[], usize::MAX);
    let text = long(b"\x03SELECT 1");
    dialogue.client(&text);
    assert!(dialogue.to_server == text, "it does not pass as it is");
}

#[test]
fn long_text_is_refused_once_the_plan_protects_something() {
    let mut dialogue = Dialogue::ready(&[], usize::MAX);
    dialogue.change_plan(&revealing());
    dialogue.client(&long(b"\x03INSERT INTO customer (ssn) VALUES ('078-05-1120')"));
    dialogue.answer_fetches();
    if contains(&dialogue.to_server, b"SELECT CURRENT_USER()") {
        dialogue.answer_questions();
    }
    assert!(!contains(&dialogue.to_server, b"078-05-1120"), "the server has the value");
    assert!(dialogue.to_server.ends_with(&packet(0, b"\x03")), "it is not refused");
}

#[test]
fn long_execution_is_refused_once_the_plan_protects_its_table() {
    let mut dialogue = Dialogue::ready(&[], usize::MAX);
    dialogue.client(&packet(0, b"\x16INSERT INTO customer (ssn) VALUES (?)"));
    dialogue.server(&[packet(1, &[0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]), definition(2, "", "?")].concat());
    dialogue.to_server.clear();
    dialogue.change_plan(&revealing());
    let value = b"\xfe\x00\x00\x00\x01\x00\x00\x00\x00078-05-1120";
    dialogue.client(&long(&[b"\x17\x01\0\0\0\0\x01\0\0\0\0\x01\xfd\0".as_slice(), value].concat()));
    dialogue.answer_fetches();
    if contains(&dialogue.to_server, b"SELECT CURRENT_USER()") {
        dialogue.answer_questions();
    }
    assert!(!contains(&dialogue.to_server, b"078-05-1120"), "the server has the value");
    assert!(dialogue.to_server.ends_with(&packet(0, b"\x03")), "it is not refused");
}
