//! A statement that is executed again and again: the client is told of its columns, and gets its rows, as the server
//! describes them and the policy has them now, not as they were the time before.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::support::keys::*;
use crate::support::*;
use fieldveil_engine::fetch::{Fetch, FetchResponse};
use fieldveil_postgres_wire::backend::RowDescription;
use fieldveil_postgres_wire::frame::HEADER_LEN;
use fieldveil_postgres_wire::{Format, Header};
use serde_json::{Value, json};

const NAME: &str = "Ada";

/// A session with the prepared statement `s`.
fn prepared(text: &str) -> Dialogue {
    let mut dialogue = under("a");
    dialogue.client(&[parse("s", text), sync()].concat());
    // The filter asks for the columns of itself.
    let described = [message(b't', &[0, 0]), row_description(&[("ssn", 3)])].concat();
    dialogue.server(&[message(b'1', b""), described, ready(b'I')].concat());
    forget(&mut dialogue);
    dialogue
}

/// What the client gets for one execution, described by its portal, when the server answers so.
fn executed(dialogue: &mut Dialogue, description: &[u8], row: &[u8]) -> Vec<u8> {
    let describe = message(b'D', b"P\0");
    dialogue.client(&[bind("s", &[]), describe, execute(), sync()].concat());
    assert_eq!(tags(&dialogue.take_to_server()), "BDES");
    let answer = [&message(b'2', b""), description, row, &complete("SELECT 1"), &ready(b'I')];
    dialogue.server(&answer.concat());
    let told = dialogue.take_to_client();
    assert_eq!(tags(&told), "2TDCZ");
    told
}

fn sealed() -> Option<Vec<u8>> {
    Some(sealed_under("a").into_bytes())
}

fn name() -> Option<Vec<u8>> {
    Some(NAME.into())
}

/// The plan is renewed, with these fields.
fn renewed(dialogue: &mut Dialogue, fields: &[Value]) {
    dialogue.ports.borrow_mut().now_ms += 31_000;
    let now_ms = dialogue.ports.borrow().now_ms;
    let due = dialogue.worker.borrow_mut().due(now_ms);
    assert!(due.iter().any(|fetch| matches!(fetch, Fetch::Plan(_))));
    for fetch in due.iter().filter(|fetch| matches!(fetch, Fetch::Plan(_))) {
        let answer = FetchResponse::Body { body: &plan(fields), etag: None };
        dialogue.worker.borrow_mut().answered(fetch, answer, now_ms).unwrap();
    }
    dialogue.give_keys(&keys_among("a"));
    dialogue.client(&query("SELECT 1"));
    // For whom the session is, for the catalog, for both or for neither, by their ages.
    while dialogue.session.is_waiting() {
        dialogue.answer_catalog();
    }
    dialogue.server(&[complete("SELECT 1"), ready(b'I')].concat());
    forget(dialogue);
}

/// The types and formats of the columns that the client was told.
fn columns(told: &[u8]) -> Vec<(u32, Format)> {
    // Behind BindComplete.
    let description = &told[HEADER_LEN..];
    let length = Header::peek(description).unwrap().unwrap().total_len();
    let description = RowDescription::parse(&description[HEADER_LEN..length]).unwrap();
    description.fields.iter().map(|field| (field.type_oid, field.format)).collect()
}

#[test]
fn every_execution_is_answered_as_the_first() {
    let mut dialogue = prepared("SELECT name, ssn FROM customer");
    let (description, row) = (row_description(&[("name", 2), ("ssn", 3)]), data_row(&[name(), sealed()]));
    let first = executed(&mut dialogue, &description, &row);
    assert!(contains(&first, CANARY.as_bytes()));
    for _ in 0..3 {
        assert_eq!(executed(&mut dialogue, &description, &row), first);
    }
    let counts = dialogue.worker.borrow_mut().take_counts();
    assert_eq!(counts.get("revealed.customer.ssn"), Some(&4));
}

#[test]
fn rows_are_opened_where_the_server_now_has_the_column() {
    let mut dialogue = prepared("SELECT name, ssn FROM customer");
    let before = row_description(&[("name", 2), ("ssn", 3)]);
    executed(&mut dialogue, &before, &data_row(&[name(), sealed()]));
    let now = row_description(&[("ssn", 3), ("name", 2)]);
    let told = executed(&mut dialogue, &now, &data_row(&[sealed(), name()]));
    assert!(contains(&told, CANARY.as_bytes()) && contains(&told, NAME.as_bytes()));
    assert!(envelopes(&told).is_empty());
    // And back.
    let told = executed(&mut dialogue, &before, &data_row(&[name(), sealed()]));
    assert!(contains(&told, CANARY.as_bytes()) && envelopes(&told).is_empty());
}

#[test]
fn rows_come_in_the_format_that_the_server_now_names() {
    let mut dialogue = prepared("SELECT ssn FROM customer");
    let text = row_description(&[("ssn", 3)]);
    let mut binary = text.clone();
    *binary.last_mut().unwrap() = 1;
    for (description, format) in [(&text, Format::Text), (&binary, Format::Binary), (&text, Format::Text)] {
        let told = executed(&mut dialogue, description, &data_row(&[sealed()]));
        assert_eq!(columns(&told), [(25, format)]);
        assert!(contains(&told, CANARY.as_bytes()));
    }
}

#[test]
fn policy_that_changes_changes_description_and_rows() {
    let mut dialogue = prepared("SELECT ssn FROM customer");
    let (description, row) = (row_description(&[("ssn", 3)]), data_row(&[sealed()]));
    let varchar = |read: Value| vec![field("ssn", "deterministic", "varchar(20)", read, "seal")];
    let text = |read: Value| vec![field("ssn", "deterministic", "text", read, "seal")];
    assert!(contains(&executed(&mut dialogue, &description, &row), CANARY.as_bytes()));

    renewed(&mut dialogue, &text(json!({"treatment": "mask", "format": "last4"})));
    let masked = executed(&mut dialogue, &description, &row);
    assert!(contains(&masked, b"***-**-1120") && !contains(&masked, CANARY.as_bytes()));

    renewed(&mut dialogue, &text(json!({"treatment": "null"})));
    assert!(!contains(&executed(&mut dialogue, &description, &row), b"1120"));

    renewed(&mut dialogue, &varchar(json!({"treatment": "reveal"})));
    let told = executed(&mut dialogue, &description, &row);
    assert_eq!(columns(&told), [(1043, Format::Text)]);
    assert!(contains(&told, CANARY.as_bytes()));
}

#[test]
fn fetch_is_described_to_the_client_though_the_filter_asked_too() {
    let mut dialogue = under("a");
    dialogue.client(&query("BEGIN"));
    dialogue.server(&[complete("BEGIN"), ready(b'T')].concat());
    dialogue.status = b'T';
    dialogue.client(&query("DECLARE c CURSOR FOR SELECT ssn FROM customer"));
    dialogue.server(&[complete("DECLARE CURSOR"), ready(b'T')].concat());
    forget(&mut dialogue);
    parsed(&mut dialogue, "s", "FETCH 1 FROM c");
    forget(&mut dialogue);
    let describe = message(b'D', b"P\0");
    dialogue.client(&[bind("s", &[]), describe, execute(), sync()].concat());
    assert_eq!(tags(&dialogue.take_to_server()), "BDDES");
    let description = row_description(&[("ssn", 3)]);
    let described = [message(b'2', b""), description.clone(), description].concat();
    dialogue.server(&[described, data_row(&[sealed()]), complete("FETCH 1"), ready(b'T')].concat());
    let told = dialogue.take_to_client();
    assert_eq!(tags(&told), "2TDCZ");
    assert!(contains(&told, CANARY.as_bytes()));
}

fn forget(dialogue: &mut Dialogue) {
    dialogue.take_to_server();
    dialogue.take_to_client();
}
