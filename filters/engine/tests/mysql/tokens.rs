//! The end user's token, in the ways that MySQL's clients give it.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::mysql_support::*;
use crate::support::contains;

const TOKEN: &[u8] = b"eyJhbGciOiJub25lIn0.e30.";

fn prepare(text: &str) -> Vec<u8> {
    packet(0, &[b"\x16", text.as_bytes()].concat())
}

/// COM_STMT_EXECUTE of statement 1 with one parameter: a string, or one that was sent ahead.
fn execute(value: Option<&[u8]>) -> Vec<u8> {
    let mut payload = b"\x17\x01\0\0\0\0\x01\0\0\0\0\x01\xfd\0".to_vec();
    if let Some(value) = value {
        payload.push(u8::try_from(value.len()).unwrap());
        payload.extend(value);
    }
    packet(0, &payload)
}

/// A session that has prepared a SET of the token as its statement 1.
fn prepared() -> Dialogue {
    let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
    dialogue.client(&prepare("SET @fieldveil_token = ?"));
    dialogue.server(&[packet(1, &[0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]), definition(2, "", "?")].concat());
    dialogue.to_server.clear();
    dialogue
}

#[test]
fn token_in_a_parameter_is_replaced_by_a_word() {
    let mut dialogue = prepared();
    dialogue.client(&execute(Some(TOKEN)));
    assert!(contains(&dialogue.to_server, b"fieldveil-"), "the server has no word");
    assert!(!contains(&dialogue.to_server, b"eyJ"), "the server has the token");
}

#[test]
fn token_that_is_sent_ahead_is_kept() {
    let mut dialogue = prepared();
    for part in [&TOKEN[..3], &TOKEN[3..]] {
        dialogue.client(&packet(0, &[b"\x18\x01\0\0\0\0\0", part].concat()));
    }
    assert!(dialogue.to_server.is_empty(), "the server was told a part of the token");
    dialogue.client(&execute(None));
    assert!(contains(&dialogue.to_server, b"fieldveil-"), "the server has no word");
    assert!(!contains(&dialogue.to_server, b"eyJ"), "the server has the token");
}

#[test]
fn null_and_the_empty_text_in_a_parameter_set_no_token() {
    let mut dialogue = prepared();
    dialogue.client(&execute(Some(b"")));
    assert_eq!(dialogue.to_server, execute(Some(b"")));
    dialogue.server(&ok(1));
    dialogue.to_server.clear();
    let null = packet(0, b"\x17\x01\0\0\0\0\x01\0\0\0\x01\x01\xfd\0");
    dialogue.client(&null);
    dialogue.answer_who();
    assert!(dialogue.to_server.ends_with(&null));
}

#[test]
fn token_is_set_where_the_session_reads_another_character_set() {
    let mut dialogue = Dialogue::ready(&revealing(), usize::MAX);
    (dialogue.charset, dialogue.results) = ("swe7", "swe7");
    let text = format!("SET @fieldveil_token = '{}'", std::str::from_utf8(TOKEN).unwrap());
    dialogue.client(&query(&text));
    dialogue.answer_who();
    dialogue.answer_fetches();
    assert!(contains(&dialogue.to_server, b"SET @fieldveil_token = 'fieldveil-"));
    assert!(!contains(&dialogue.to_server, b"eyJ"));
    dialogue.server(&ok(1));
    dialogue.to_server.clear();
    dialogue.client(&query("SELECT ssn FROM customer"));
    dialogue.answer_who();
    assert!(dialogue.to_server.ends_with(&packet(0, b"\x03")), "what cannot be read is not refused");
}

#[test]
fn name_that_the_server_reads_as_the_same_does_not_show_the_token() {
    for name in ["'field\\veil_token'", "fïeldveil_token", "`FIELDVEIL_TOKÉN`"] {
        for fields in [revealing(), vec![]] {
            let mut dialogue = match fields.is_empty() {
                true => Dialogue::ready(&fields, usize::MAX),
                false => Dialogue::with_catalog(&fields, usize::MAX),
            };
            dialogue.client(&query(&format!("SET @{name} = 'eyJhbGciOiJub25lIn0'")));
            if fields.is_empty() {
                dialogue.answer_who();
            }
            dialogue.answer_fetches();
            assert!(!contains(&dialogue.to_server, b"eyJ"), "{name}: the server has the token");
        }
    }
}
