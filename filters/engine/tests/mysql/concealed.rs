//! Rows of which the reader gets envelopes pass as they came, and only these.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::mysql_support::*;
use crate::support::contains;
use crate::support::keys::envelopes;
use serde_json::{Value, json};

/// `ssn` and `notes`, of which the reader gets envelopes.
fn concealing(on_plaintext: &str) -> Vec<Value> {
    let mut fields = revealing();
    for field in &mut fields {
        field["read"] = json!({"treatment": "conceal"});
        field["on_plaintext"] = on_plaintext.into();
    }
    fields
}

/// An `ssn` and `notes` as they are stored.
fn stored() -> Vec<String> {
    let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
    dialogue.client(&query("INSERT INTO customer (ssn, notes) VALUES ('078-05-1120', 'a note')"));
    envelopes(&dialogue.to_server)
}

fn answer(of: &[Vec<Option<&[u8]>>]) -> Vec<u8> {
    rows("customer", &["id", "ssn", "notes"], of)
}

/// What the client gets of these rows, and how many values were counted as concealed.
fn read(fields: &[Value], rows: &[Vec<Option<&[u8]>>], chunk: usize) -> (Vec<u8>, u64) {
    let mut dialogue = Dialogue::with_catalog(fields, chunk);
    dialogue.client(&query("SELECT id, ssn, notes FROM customer"));
    dialogue.server(&answer(rows));
    let counts = dialogue.worker.borrow_mut().take_counts();
    let concealed = counts.iter().filter(|(name, _)| name.starts_with("concealed.customer."));
    (dialogue.take_to_client(), concealed.map(|(_, count)| *count).sum())
}

#[test]
fn rows_of_envelopes_pass_as_they_came_however_they_are_cut_and_are_counted() {
    let stored = stored();
    let [ssn, notes] = [0, 1].map(|index| Some(stored[index].as_bytes()));
    let rows =
        [vec![Some(b"1".as_slice()), ssn, notes], vec![Some(b"2"), None, notes], vec![None, None, None]];
    let whole = answer(&rows);
    for chunk in 1..=whole.len() {
        let (shown, counted) = read(&concealing("refuse"), &rows, chunk);
        assert!(shown == whole, "chunks of {chunk}");
        assert_eq!(counted, 3, "chunks of {chunk}");
    }
}

#[test]
fn plaintext_among_envelopes_is_not_shown() {
    let stored = stored();
    let [ssn, notes] = [0, 1].map(|index| Some(stored[index].as_bytes()));
    let rows = |plaintext| {
        [
            vec![Some(b"1".as_slice()), ssn, notes],
            vec![Some(b"2"), ssn, plaintext],
            vec![Some(b"3"), ssn, notes],
        ]
    };
    let (shown, counted) = read(&concealing("null"), &rows(Some(b"in clear")), usize::MAX);
    assert!(shown == answer(&rows(None)));
    // As NULL it is counted, too.
    assert_eq!(counted, 6);
    let (shown, _) = read(&concealing("refuse"), &rows(Some(b"in clear")), usize::MAX);
    assert!(!contains(&shown, b"in clear") && contains(&shown, b"it is not an envelope"));
}
