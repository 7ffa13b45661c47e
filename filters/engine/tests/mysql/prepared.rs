//! Prepared statements of MySQL's protocol: their parameters are sealed however they come, and what the client was told of
//! a statement stays true when keys change.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::mysql_support::*;
use crate::support::{contains, keys_among};

const CANARY: &[u8] = b"078-05-1120";
const SEARCH: &str = "SELECT ssn FROM customer WHERE ssn = ?";
/// The number of what was prepared last.
const LAST: u32 = u32::MAX;

fn prepare(text: &str) -> Vec<u8> {
    packet(0, &[b"\x16", text.as_bytes()].concat())
}

/// COM_STMT_EXECUTE with strings as values; None for one that was sent ahead.
fn execute(id: u32, values: &[Option<&[u8]>]) -> Vec<u8> {
    let mut payload = [b"\x17".as_slice(), &id.to_le_bytes(), &[0, 1, 0, 0, 0]].concat();
    payload.extend(vec![0; values.len().div_ceil(8)]);
    payload.push(1);
    values.iter().for_each(|_| payload.extend([0xfd, 0]));
    for value in values.iter().flatten() {
        payload.push(u8::try_from(value.len()).unwrap());
        payload.extend(*value);
    }
    packet(0, &payload)
}

fn long_data(id: u32, parameter: u16, part: &[u8]) -> Vec<u8> {
    packet(0, &[b"\x18".as_slice(), &id.to_le_bytes(), &parameter.to_le_bytes(), part].concat())
}

/// The answer to COM_STMT_PREPARE: parameters, and one column of `customer`.
fn prepared(id: u8, parameters: u8) -> Vec<u8> {
    let mut answer = packet(1, &[0, id, 0, 0, 0, 1, 0, parameters, 0, 0, 0, 0]);
    for number in 0..parameters {
        answer.extend(definition(2 + number, "", "?"));
    }
    answer.extend(definition(2 + parameters, "customer", "ssn"));
    answer
}

/// A session that has prepared the search as its statement 1.
fn searching() -> Dialogue {
    searching_in("utf8mb4")
}

/// The same of a client that writes this character set.
fn searching_in(charset: &'static str) -> Dialogue {
    let mut dialogue = Dialogue::with_charset(&revealing(), usize::MAX, charset);
    dialogue.client(&prepare(SEARCH));
    assert_eq!(dialogue.to_server, prepare(SEARCH));
    dialogue.server(&prepared(1, 1));
    dialogue.to_server.clear();
    dialogue
}

/// The packets in `bytes`, each by its number and first byte.
fn packets(mut bytes: &[u8]) -> Vec<(u8, u8)> {
    let mut packets = Vec::new();
    while let [a, b, c, sequence, rest @ ..] = bytes {
        let length = usize::from(*a) | usize::from(*b) << 8 | usize::from(*c) << 16;
        packets.push((*sequence, rest.first().copied().unwrap_or_default()));
        bytes = &rest[length..];
    }
    packets
}

#[test]
fn value_of_a_protected_parameter_is_sealed() {
    let mut dialogue = searching();
    dialogue.client(&execute(1, &[Some(CANARY)]));
    assert!(!contains(&dialogue.to_server, CANARY));
    assert!(contains(&dialogue.to_server, b"fv1."));
    assert_eq!(packets(&dialogue.to_server), [(0, 0x17)]);
}

#[test]
fn parts_of_a_protected_value_are_kept_until_the_execution_seals_them() {
    let mut whole = searching();
    whole.client(&execute(1, &[Some(CANARY)]));
    let mut dialogue = searching();
    dialogue.client(&long_data(1, 0, &CANARY[..4]));
    dialogue.client(&long_data(1, 0, &CANARY[4..]));
    assert!(dialogue.to_server.is_empty(), "the server was told a part of the value");
    dialogue.client(&execute(1, &[None]));
    assert_eq!(dialogue.to_server, whole.to_server);
}

#[test]
fn execution_of_the_last_statement_waits_until_the_server_has_prepared_it() {
    let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
    dialogue.client(&[prepare(SEARCH), execute(LAST, &[Some(CANARY)])].concat());
    assert_eq!(dialogue.to_server, prepare(SEARCH));
    dialogue.to_server.clear();
    dialogue.server(&prepared(7, 1));
    assert_eq!(packets(&dialogue.to_server), [(0, 0x17)]);
    assert_eq!(dialogue.to_server[5..9], 7_u32.to_le_bytes(), "it names another statement");
    assert!(!contains(&dialogue.to_server, CANARY));
}

#[test]
fn execution_of_what_the_server_did_not_prepare_is_refused() {
    let mut dialogue = searching();
    dialogue.client(&[prepare("SELECT ssn FROM customer WHERE"), execute(LAST, &[Some(CANARY)])].concat());
    dialogue.server(&error(1, 1064, "no"));
    assert!(!contains(&dialogue.to_server, CANARY));
    assert!(!contains(&dialogue.to_server, b"\x17\x01\0\0\0"), "the statement before was executed");
}

#[test]
fn statement_is_prepared_anew_under_new_keys_and_keeps_its_number() {
    let mut dialogue = searching();
    dialogue.give_keys(&keys_among("ba"));
    dialogue.to_client.clear();
    dialogue.client(&execute(1, &[Some(CANARY)]));
    assert_eq!(packets(&dialogue.to_server), [(0, 0x16)]);
    assert!(contains(&dialogue.to_server, b"?, ?"), "a value has two envelopes now");
    dialogue.to_server.clear();
    dialogue.server(&prepared(2, 2));
    // COM_STMT_CLOSE of the old one, then the execution.
    assert_eq!(packets(&dialogue.to_server), [(0, 0x19), (0, 0x17)]);
    assert_eq!(dialogue.to_server[5..9], 1_u32.to_le_bytes());
    assert_eq!(dialogue.to_server[14..18], 2_u32.to_le_bytes());
    assert!(!contains(&dialogue.to_server, CANARY));
    assert!(dialogue.to_client.is_empty(), "the client was told of it");
}

#[test]
fn client_is_told_of_its_own_parameters_alone() {
    let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
    dialogue.give_keys(&keys_among("ba"));
    dialogue.client(&prepare(SEARCH));
    assert!(contains(&dialogue.to_server, b"?, ?"));
    dialogue.server(&prepared(1, 2));
    let told = packets(&dialogue.to_client);
    assert_eq!(told.iter().map(|(sequence, _)| *sequence).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(dialogue.to_client[11..13], [1, 0], "how many parameters there are");
}

#[test]
fn execution_of_an_unprotected_statement_passes_as_it_came_under_its_own_number() {
    let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
    dialogue.client(&prepare("SELECT what FROM orders WHERE id = ?"));
    dialogue.server(&prepared(3, 1));
    for id in [3, LAST] {
        dialogue.to_server.clear();
        dialogue.client(&execute(id, &[Some(b"5")]));
        assert_eq!(dialogue.to_server, execute(3, &[Some(b"5")]));
        dialogue.server(&ok(1));
    }
}

/// COM_STMT_EXECUTE without types, of strings.
fn execute_again(id: u32, values: &[&[u8]]) -> Vec<u8> {
    let mut payload = [b"\x17".as_slice(), &id.to_le_bytes(), &[0, 1, 0, 0, 0, 0, 0]].concat();
    for value in values {
        payload.push(u8::try_from(value.len()).unwrap());
        payload.extend(*value);
    }
    packet(0, &payload)
}

#[test]
fn statement_that_was_prepared_anew_gets_the_types_that_the_client_sends_once() {
    let text = "SELECT ssn FROM customer WHERE ssn = '078-05-1120' AND name = ?";
    let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
    dialogue.client(&prepare(text));
    dialogue.server(&prepared(1, 1));
    dialogue.client(&execute(1, &[Some(b"Ada")]));
    dialogue.server(&ok(1));
    dialogue.give_keys(&keys_among("ba"));
    dialogue.client(&execute_again(1, &[b"Bob"]));
    dialogue.to_server.clear();
    dialogue.server(&prepared(2, 1));
    assert_eq!(dialogue.to_server[9..], execute(2, &[Some(b"Bob")]));
}

#[test]
fn refused_execution_takes_what_was_sent_ahead_with_it() {
    let text = "SELECT ssn FROM customer WHERE ssn = ? AND name = ?";
    let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
    dialogue.client(&prepare(text));
    dialogue.server(&prepared(1, 2));
    dialogue.client(&long_data(1, 1, b"Ada"));
    dialogue.client(&long_data(1, 0, &[b'1'; 65]));
    dialogue.to_server.clear();
    dialogue.to_client.clear();
    dialogue.client(&execute(1, &[None, None]));
    assert_eq!(dialogue.to_server, packet(0, b"\x1a\x01\0\0\0"), "the server keeps what was sent ahead");
    dialogue.server(&ok(1));
    assert_eq!(packets(&dialogue.to_client), [(1, 0xff)]);
    dialogue.to_server.clear();
    dialogue.client(&long_data(1, 0, CANARY));
    dialogue.client(&execute(1, &[None, Some(b"Ada")]));
    assert!(contains(&dialogue.to_server, b"fv1."), "the value holds what was sent before the refusal");
}

#[test]
fn part_of_sixteen_megabytes_is_refused_where_the_execution_is() {
    let mut dialogue = searching();
    dialogue.to_client.clear();
    let part = vec![b'1'; 0xff_ffff - 7];
    dialogue.client(&[long_data(1, 0, &part), packet(1, b"")].concat());
    assert!(dialogue.to_server.is_empty() && dialogue.to_client.is_empty(), "a part has no answer");
    dialogue.client(&execute(1, &[None]));
    assert_eq!(dialogue.to_server, packet(0, b"\x03"));
}

#[test]
fn part_that_is_shorter_than_its_own_head_ends_the_session() {
    let mut dialogue = searching();
    dialogue.give_keys(&keys_among("ba"));
    dialogue.client(&[packet(0, b"\x18\x01\0"), query("SELECT 1 FROM orders")].concat());
    dialogue.server(&error(1, 1065, "Query was empty"));
    assert!(dialogue.closed);
}

#[test]
fn statement_of_twenty_thousand_parameters_is_prepared_and_sealed() {
    let rows = vec!["(?, ?, ?, ?)"; 5_000].join(", ");
    let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
    dialogue.client(&prepare(&format!("INSERT INTO customer VALUES {rows}")));
    let count = 20_000_u16.to_le_bytes();
    let mut answer = packet(1, &[0, 1, 0, 0, 0, 0, 0, count[0], count[1], 0, 0, 0]);
    for number in 0..20_000_u32 {
        answer.extend(definition(number.wrapping_add(2).to_le_bytes()[0], "", "?"));
    }
    dialogue.server(&answer);
    dialogue.to_server.clear();
    dialogue.client(&execute(1, &vec![Some(b"1".as_slice()); 20_000]));
    assert!(contains(&dialogue.to_server, b"fv1."));
}

#[test]
fn string_that_is_not_ascii_is_refused_where_its_characters_are_not_known() {
    const UMLAUT: &[u8] = b"\xc3\xa4";
    for (charset, is_ahead) in [("gbk", false), ("gbk", true), ("sjis", false)] {
        let mut dialogue = searching_in(charset);
        if is_ahead {
            dialogue.client(&long_data(1, 0, UMLAUT));
        }
        dialogue.client(&execute(1, &[Some(UMLAUT).filter(|_| !is_ahead)]));
        assert!(!contains(&dialogue.to_server, UMLAUT), "{charset}: the server was told of it");
        dialogue.server(&error(1, 1065, "Query was empty"));
        assert_eq!(packets(&dialogue.to_client).last(), Some(&(1, 0xff)), "{charset}");
        assert!(contains(&dialogue.to_client, b"SET NAMES utf8mb4"), "{charset}: no remedy");
        assert!(!dialogue.closed);
    }
    let mut dialogue = searching();
    dialogue.client(&execute(1, &[Some(UMLAUT)]));
    assert_eq!(packets(&dialogue.to_server), [(0, 0x17)], "UTF-8 is sealed");
}

#[test]
fn string_is_read_in_the_character_set_of_the_client() {
    let sealed = |charset, value: &[u8], is_ahead: bool| {
        let mut dialogue = searching_in(charset);
        if is_ahead {
            dialogue.client(&long_data(1, 0, value));
        }
        dialogue.client(&execute(1, &[Some(value).filter(|_| !is_ahead)]));
        dialogue.take_to_server()
    };
    let expected = sealed("utf8mb4", "жЄ".as_bytes(), false);
    assert!(contains(&expected, b"fv1."));
    for is_ahead in [false, true] {
        assert_eq!(sealed("cp1251", b"\xe6\xaa", is_ahead), expected);
        assert_eq!(sealed("koi8u", b"\xd6\xb4", is_ahead), expected);
    }
    // Two letters, of which UTF-8 would be one.
    assert_eq!(sealed("latin1", b"\xc3\xa4", false), sealed("utf8mb4", "Ã¤".as_bytes(), false));
}

#[test]
fn string_that_the_server_would_store_with_question_marks_is_refused() {
    for (value, is_held) in [("é", true), ("ж", false)] {
        let mut dialogue = searching();
        dialogue.connection = Some("latin1");
        dialogue.client(&query("SET character_set_connection = latin1"));
        dialogue.server(&ok(1));
        dialogue.to_server.clear();
        dialogue.client(&execute(1, &[Some(value.as_bytes())]));
        dialogue.answer_questions();
        assert_eq!(contains(&dialogue.to_server, b"fv1."), is_held, "{value}");
    }
}

#[test]
fn string_of_ascii_is_sealed_alike_under_another_character_set() {
    let sealed = |charset| {
        let mut dialogue = searching_in(charset);
        dialogue.client(&execute(1, &[Some(CANARY)]));
        dialogue.take_to_server()
    };
    assert!(contains(&sealed("latin1"), b"fv1."));
    assert_eq!(sealed("latin1"), sealed("utf8mb4"));
}
