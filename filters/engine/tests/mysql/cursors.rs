//! Rows that are fetched from cursors: for whom, and under which plan.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::mysql_support::*;
use crate::support::contains;
use serde_json::{Value, json};

const TEXT: &str = "SELECT ssn FROM customer";
const CURSOR_EXISTS: u8 = 0x40;

fn prepare(text: &str) -> Vec<u8> {
    packet(0, &[b"\x16", text.as_bytes()].concat())
}

fn fetch() -> Vec<u8> {
    packet(0, &[b"\x1c".as_slice(), &1_u32.to_le_bytes(), &2_u32.to_le_bytes()].concat())
}

/// A session with an open cursor of statement 1.
fn opened() -> Dialogue {
    let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
    dialogue.client(&prepare(TEXT));
    let told = packet(1, &[0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    dialogue.server(&[told, definition(2, "customer", "ssn")].concat());
    dialogue.client(&packet(0, b"\x17\x01\0\0\0\x01\x01\0\0\0"));
    let end = packet(3, &[0xfe, 0, 0, 2 | CURSOR_EXISTS, 0, 0, 0]);
    dialogue.server(&[packet(1, b"\x01"), definition(2, "customer", "ssn"), end].concat());
    dialogue.to_server.clear();
    dialogue.to_client.clear();
    dialogue
}

/// What the client gets of a fetched row that holds a NULL and then what `stored` is.
fn fetched(dialogue: &mut Dialogue, stored: &[u8]) -> Vec<u8> {
    dialogue.to_client.clear();
    let row = [b"\0\0".as_slice(), &[u8::try_from(stored.len()).unwrap()], stored].concat();
    dialogue.server(&[packet(1, &row), packet(2, &[0xfe, 0, 0, 2 | CURSOR_EXISTS, 0, 0, 0])].concat());
    std::mem::take(&mut dialogue.to_client)
}

/// The same fields, of which rows get this.
fn read_as(read: &Value) -> Vec<Value> {
    let mut fields = revealing();
    for field in &mut fields {
        field["read"] = read.clone();
    }
    fields
}

#[test]
fn rows_are_fetched_under_the_plan_that_the_cursor_was_opened_under() {
    let mut dialogue = opened();
    dialogue.client(&fetch());
    assert_eq!(dialogue.to_server, fetch());
    assert!(contains(&fetched(&mut dialogue, b"no envelope"), b"\xff"), "it was not opened");
}

#[test]
fn rows_are_fetched_under_the_plan_in_force_then() {
    let mut dialogue = opened();
    dialogue.change_plan(&read_as(&json!({"treatment": "null"})));
    dialogue.client(&fetch());
    dialogue.answer_fetches();
    assert_eq!(dialogue.to_server, fetch());
    // A NULL is what the row holds now, whatever is stored.
    assert_eq!(fetched(&mut dialogue, b"no envelope")[..6], [2, 0, 0, 1, 0, 4]);
}

#[test]
fn fetch_is_refused_when_the_client_was_told_other_columns() {
    let mut more = revealing();
    more.push(json!({"relation": "shop.customer", "column": "name", "label": "customer.name", "keyset": "pii",
        "tenant": "", "protection": "randomized", "type": "varchar(64)", "read": {"treatment": "reveal"}, "write": "seal"}));
    for fields in [more, revealing()[1..].to_vec(), vec![]] {
        let mut dialogue = opened();
        dialogue.change_plan(&fields);
        dialogue.client(&fetch());
        dialogue.answer_fetches();
        if contains(&dialogue.to_server, b"information_schema") {
            dialogue.answer_catalog(&customer());
        }
        assert!(!contains(&dialogue.to_server, &fetch()), "rows are fetched");
        assert!(dialogue.to_server.ends_with(b"\x03"), "it is not refused");
    }
}

#[test]
fn fetch_without_a_cursor_is_refused() {
    let mut dialogue = opened();
    dialogue.client(&packet(0, b"\x1a\x01\0\0\0"));
    dialogue.server(&ok(1));
    dialogue.to_server.clear();
    dialogue.client(&fetch());
    assert_eq!(dialogue.to_server, packet(0, b"\x03"));
}
