//! What the client is told of the columns of a prepared statement, and what its rows get, is the same at its first execution
//! and at any other: whatever the server, the plan and the session's settings have become in between.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::mysql_support::*;
use crate::support::contains;
use serde_json::{Value, json};

const CANARY: &[u8] = b"078-05-1120";
/// How many columns it returns is the server's to say.
const READ: &str = "SELECT * FROM customer WHERE id = ?";

fn prepare() -> Vec<u8> {
    packet(0, &[b"\x16", READ.as_bytes()].concat())
}

/// The server's answer to that.
fn told() -> Vec<u8> {
    let told = packet(1, &[0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0]);
    [told, definition(2, "", "?"), definition(3, "customer", "ssn")].concat()
}

fn execution() -> Vec<u8> {
    packet(0, b"\x17\x01\0\0\0\0\x01\0\0\0\0\x01\xfd\0\x017")
}

/// The answer to an execution: a row with the same value in all columns.
fn answer(definitions: &[Vec<u8>], value: &[u8]) -> Vec<u8> {
    let count = u8::try_from(definitions.len()).unwrap();
    let mut answer = packet(1, &[count]);
    definitions.iter().for_each(|definition| answer.extend(definition));
    let value = [&[u8::try_from(value.len()).unwrap()], value].concat();
    let row = [vec![0; 1 + (definitions.len() + 9) / 8], value.repeat(definitions.len())].concat();
    answer.extend(packet(2 + count, &row));
    answer.extend(packet(3 + count, &[0xfe, 0, 0, 2, 0, 0, 0]));
    answer
}

/// What one and the same statement may return as its table is altered.
fn answers(value: &[u8]) -> Vec<Vec<u8>> {
    let column = |number, name| definition(number, "customer", name);
    let mut of_bytes = column(2, "ssn");
    let charset = of_bytes.len() - 12;
    of_bytes[charset..charset + 2].copy_from_slice(&63_u16.to_le_bytes());
    let answers = [
        vec![column(2, "ssn")],
        // As many bytes as before, of a column that is not protected.
        vec![column(2, "own")],
        vec![of_bytes],
        vec![definition(2, "orders", "ssn")],
        vec![column(2, "name"), column(3, "ssn")],
        vec![column(2, "ssn"), column(3, "name")],
        (0..60).map(|number| column(2 + number, "ssn")).collect(),
    ];
    answers.iter().map(|definitions| answer(definitions, value)).collect()
}

fn concealing() -> Vec<Value> {
    let mut fields = revealing();
    fields[0]["read"] = json!({"treatment": "conceal"});
    fields
}

/// A value as the server has it.
fn sealed() -> Vec<u8> {
    let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
    dialogue.client(&query(&format!(
        "INSERT INTO customer (ssn) VALUES ('{}')",
        str::from_utf8(CANARY).unwrap()
    )));
    let sent = dialogue.take_to_server();
    let start = sent.windows(4).position(|window| window == b"fv1.").unwrap();
    let length = sent[start..].iter().position(|byte| *byte == b'\'').unwrap();
    sent[start..start + length].to_vec()
}

/// A session that has prepared the statement.
fn prepared(fields: &[Value], results: &'static str, chunk: usize) -> Dialogue {
    let mut dialogue = Dialogue::ready(fields, chunk);
    dialogue.results = results;
    dialogue.client(&prepare());
    if !fields.is_empty() {
        dialogue.answer_questions();
    }
    dialogue.server(&told());
    dialogue
}

/// What the client gets of an answer.
fn shown(dialogue: &mut Dialogue, answer: &[u8]) -> Vec<u8> {
    dialogue.to_server.clear();
    dialogue.to_client.clear();
    dialogue.client(&execution());
    if contains(&dialogue.to_server, b"SELECT CAST(CURRENT_USER()") {
        dialogue.answer_who();
    }
    if contains(&dialogue.to_server, b"information_schema.COLUMNS") {
        dialogue.answer_catalog(&customer());
    }
    // What a plan protects that the one before did not is in another form.
    if contains(&dialogue.to_server, READ.as_bytes()) {
        dialogue.server(&told());
    }
    assert!(contains(&dialogue.to_server, b"\x17\x01\0\0\0"), "not executed");
    dialogue.server(answer);
    assert!(!dialogue.closed);
    std::mem::take(&mut dialogue.to_client)
}

/// What it gets of a session that has executed nothing before.
fn shown_first(fields: &[Value], results: &'static str, answer: &[u8]) -> Vec<u8> {
    shown(&mut prepared(fields, results, usize::MAX), answer)
}

#[test]
fn execution_after_others_shows_what_a_first_one_does() {
    let answers = answers(&sealed());
    let first: Vec<_> = answers.iter().map(|answer| shown_first(&revealing(), "utf8mb4", answer)).collect();
    assert!(contains(&first[0], CANARY) && !contains(&first[1], CANARY));
    for chunk in [usize::MAX, 1, 7, 61] {
        let mut dialogue = prepared(&revealing(), "utf8mb4", chunk);
        for step in 1..answers.len() {
            for at in (0..3 * answers.len()).map(|time| time / 3 * step % answers.len()) {
                assert_eq!(shown(&mut dialogue, &answers[at]), first[at], "{at} in pieces of {chunk}");
            }
        }
    }
}

#[test]
fn same_definitions_show_what_the_plan_in_force_says() {
    let mut dialogue = prepared(&revealing(), "utf8mb4", usize::MAX);
    for answer in answers(&sealed()) {
        for fields in [revealing(), concealing(), revealing(), Vec::new(), concealing()] {
            dialogue.change_plan(&fields);
            let first = shown_first(&fields, "utf8mb4", &answer);
            for _ in 0..3 {
                assert_eq!(shown(&mut dialogue, &answer), first);
            }
        }
    }
}

#[test]
fn same_definitions_are_told_as_the_settings_of_now_say() {
    let mut dialogue = prepared(&revealing(), "utf8mb4", usize::MAX);
    let answer = &answers(&sealed())[0];
    let mut told = Vec::new();
    for results in ["utf8mb4", "binary", "utf8mb4"] {
        // COM_INIT_DB, after which the session's settings are asked for.
        dialogue.results = results;
        dialogue.client(&packet(0, b"\x02shop"));
        dialogue.server(&ok(1));
        let first = shown_first(&revealing(), results, answer);
        for _ in 0..3 {
            assert_eq!(shown(&mut dialogue, answer), first, "{results}");
        }
        told.push(first);
    }
    assert!(told[0] == told[2] && told[0] != told[1], "the settings change nothing");
}

#[test]
fn definitions_are_numbered_as_the_execution_before_them_was_answered() {
    let mut dialogue = prepared(&revealing(), "utf8mb4", usize::MAX);
    let answer = &answers(&sealed())[0];
    let usual = shown(&mut dialogue, answer);
    for _ in 0..2 {
        assert_eq!(shown(&mut dialogue, answer), usual);
    }
    // A server that counts on from elsewhere.
    let mut other = answer.clone();
    other[3] = 5;
    let shown = shown(&mut dialogue, &other);
    assert_eq!(shown[3], 5);
    assert_eq!(shown[4..], usual[4..]);
}
