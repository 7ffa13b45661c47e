//! Clients that write a row back as they read it: object mappers update every column. What a principal was shown in a
//! value's place must not replace the value.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use crate::support::*;
use serde_json::{Value, json};

const VALUE: &str = "219-09-9999";
const MASK: &str = "***-**-1120";
const UPDATE: &str = "UPDATE customer SET name = $1, ssn = $2 WHERE id = $3";
const UPSERT: &str =
    "INSERT INTO customer (id, ssn) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET ssn = excluded.ssn";

fn masked() -> Value {
    json!({"treatment": "mask", "format": "last4"})
}

fn reading(read: &Value) -> Dialogue {
    Dialogue::with_catalog(&[field("ssn", "deterministic", "text", read.clone(), "seal")])
}

/// Whether the simple query reaches the server as a statement on the table.
fn passes(read: &Value, text: &str) -> bool {
    let mut dialogue = reading(read);
    dialogue.client(&query(text));
    let sent = dialogue.take_to_server();
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    let told = dialogue.take_to_client();
    let passes = contains(&sent, b"customer");
    assert_eq!(contains(&told, b"42501") && contains(&told, b"customer.ssn"), !passes, "{text}");
    passes
}

/// Whether what is bound to the statement reaches the server.
fn binds(read: &Value, text: &str, values: &[&[u8]]) -> bool {
    let mut dialogue = reading(read);
    dialogue.client(&[parse("s", text), sync()].concat());
    dialogue.server(&[message(b'1', b""), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.client(&[bind("s", values), execute(), sync()].concat());
    contains(&dialogue.take_to_server(), b"fv1.")
}

#[test]
fn mask_is_not_written_over_the_value() {
    for text in [
        format!("UPDATE customer SET name = 'x', ssn = '{MASK}' WHERE id = 1"),
        format!("UPDATE customer SET ssn = CASE id WHEN 1 THEN '{MASK}' ELSE ssn END"),
        format!(
            "INSERT INTO customer (id, ssn) VALUES (1, '{MASK}') ON CONFLICT (id) DO UPDATE SET ssn = excluded.ssn"
        ),
        format!("INSERT INTO customer (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET ssn = '{MASK}'"),
        format!(
            "MERGE INTO customer c USING orders o ON c.id = o.cid WHEN MATCHED THEN UPDATE SET ssn = '{MASK}'"
        ),
        format!("UPDATE customer SET name = 'x'; UPDATE customer SET ssn = '{MASK}'"),
    ] {
        assert!(!passes(&masked(), &text), "{text}");
        assert!(passes(&masked(), &text.replace(MASK, VALUE)), "{text}");
        assert!(passes(&json!({"treatment": "reveal"}), &text), "{text}");
    }
}

#[test]
fn bound_mask_is_not_written_over_the_value() {
    for (text, others) in [(UPDATE, [b"x".as_slice(), b"1"]), (UPSERT, [b"1".as_slice(), b""])] {
        let values = |ssn: &'static str| -> Vec<&[u8]> {
            let mut values = vec![others[0], ssn.as_bytes()];
            values.extend(others[1..].iter().filter(|value| !value.is_empty()));
            values
        };
        assert!(!binds(&masked(), text, &values(MASK)), "{text}");
        assert!(binds(&masked(), text, &values(VALUE)), "{text}");
    }
}

#[test]
fn null_is_not_written_over_a_value_that_is_shown_as_null() {
    let null = json!({"treatment": "null"});
    for text in [
        "UPDATE customer SET name = 'x', ssn = NULL WHERE id = 1",
        "UPDATE customer SET ssn = NULL::text",
        "INSERT INTO customer (id, ssn) VALUES (1, NULL) ON CONFLICT (id) DO UPDATE SET ssn = excluded.ssn",
    ] {
        assert!(!passes(&null, text), "{text}");
        // Who sees the value, or a part of it, may take it away.
        assert!(passes(&masked(), text), "{text}");
    }
}

#[test]
fn what_rows_past_a_budget_show_is_not_written_back_either() {
    let then =
        |then: Value| json!({"treatment": "reveal", "budget": {"rows": 5, "per_seconds": 60, "then": then}});
    let text = format!("UPDATE customer SET ssn = '{MASK}'");
    assert!(!passes(&then(masked()), &text));
    assert!(!passes(&then(json!({"treatment": "null"})), "UPDATE customer SET ssn = NULL"));
    assert!(passes(&then(json!({"treatment": "refuse"})), &text));
}

#[test]
fn new_row_may_hold_what_looks_like_a_mask_for_it_replaces_nothing() {
    for text in [
        format!("INSERT INTO customer (id, ssn) VALUES (1, '{MASK}')"),
        format!("INSERT INTO customer (id, ssn) VALUES (1, '{MASK}') ON CONFLICT (id) DO NOTHING"),
        format!(
            "INSERT INTO customer (id, ssn) VALUES (1, '{MASK}') ON CONFLICT (id) DO UPDATE SET name = 'x'"
        ),
        format!("SELECT id FROM customer WHERE ssn = '{MASK}'"),
    ] {
        assert!(passes(&masked(), &text), "{text}");
    }
    assert!(passes(&json!({"treatment": "null"}), "INSERT INTO customer (id, ssn) VALUES (1, NULL)"));
    // Of an empty text nothing is hidden.
    assert!(passes(&masked(), "UPDATE customer SET ssn = ''"));
}
