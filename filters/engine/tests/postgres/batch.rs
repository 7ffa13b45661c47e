//! Values of many rows are opened together: it is not to be seen, whichever rows come at once.

use crate::support::keys::{CANARY, envelopes};
use crate::support::*;
use serde_json::json;

type Fields = Vec<serde_json::Value>;

/// A `ssn` and `notes` as they are stored.
fn stored(fields: &Fields, notes: &str) -> [Option<Vec<u8>>; 2] {
    let mut dialogue = Dialogue::with_catalog(fields);
    dialogue.client(&query(&format!("INSERT INTO customer (ssn, notes) VALUES ('{CANARY}', '{notes}')")));
    let mut sealed = envelopes(&dialogue.to_server).into_iter().map(String::into_bytes);
    [sealed.next(), sealed.next()]
}

/// What the client and the audit get of rows that come all at once, or one after the other.
fn answered(fields: &Fields, rows: &[[Option<Vec<u8>>; 2]], at_once: bool) -> (Vec<u8>, Vec<String>) {
    let mut dialogue = Dialogue::with_catalog(fields);
    dialogue.client(&query("SELECT ssn, notes FROM customer"));
    dialogue.server(&row_description(&[("ssn", 3), ("notes", 4)]));
    let rows: Vec<_> = rows.iter().map(|row| data_row(row)).collect();
    if at_once {
        dialogue.server(&rows.concat());
    } else {
        rows.iter().for_each(|row| dialogue.server(row));
    }
    dialogue.server(&[complete("SELECT 1"), ready(b'I')].concat());
    let counts = dialogue.worker.borrow_mut().take_counts();
    let counts = counts.into_iter().map(|(name, count)| format!("{name} {count}")).collect();
    (dialogue.take_to_client(), counts)
}

fn rows(fields: &Fields) -> Vec<[Option<Vec<u8>>; 2]> {
    let some: Vec<_> = (0..7).map(|number| stored(fields, &format!("note {number}"))).collect();
    some.iter().cycle().take(150).cloned().collect()
}

#[test]
fn rows_that_come_at_once_are_those_that_come_one_after_the_other() {
    let fields = revealing();
    let mut rows = rows(&fields);
    rows[3][0] = None;
    rows[70] = [None, None];
    let both = answered(&fields, &rows, true);
    assert_eq!(both, answered(&fields, &rows, false));
    assert_eq!(both.0.windows(CANARY.len()).filter(|text| *text == CANARY.as_bytes()).count(), 148);
    assert!(both.1.contains(&"revealed.customer.notes 149".to_owned()), "{:?}", both.1);
}

#[test]
fn value_that_does_not_open_ends_the_answer_at_its_row() {
    let fields = revealing();
    for at in [0, 1, 63, 64, 149] {
        for column in [0, 1] {
            let mut rows = rows(&fields);
            let byte = rows[at][column].as_mut().unwrap().get_mut(40).unwrap();
            *byte = if *byte == b'A' { b'B' } else { b'A' };
            let both = answered(&fields, &rows, true);
            assert_eq!(both, answered(&fields, &rows, false), "row {at}, column {column}");
            assert_eq!(tags(&both.0), format!("T{}EZ", "D".repeat(at)));
        }
    }
}

#[test]
fn value_under_another_columns_label_does_not_open() {
    let fields = revealing();
    let mut rows = rows(&fields);
    rows[9].swap(0, 1);
    let both = answered(&fields, &rows, true);
    assert_eq!(both, answered(&fields, &rows, false));
    assert_eq!(tags(&both.0), format!("T{}EZ", "D".repeat(9)));
}

#[test]
fn rows_past_a_budget_are_masked_or_null() {
    for then in [json!({"treatment": "mask", "format": "last4"}), json!({"treatment": "null"})] {
        let budget = json!({"rows": 80, "per_seconds": 3600, "then": then});
        let mut fields = revealing();
        fields[0]["read"] = json!({"treatment": "reveal", "budget": budget});
        let rows = rows(&fields);
        let both = answered(&fields, &rows, true);
        assert_eq!(both, answered(&fields, &rows, false));
        assert_eq!(both.0.windows(CANARY.len()).filter(|text| *text == CANARY.as_bytes()).count(), 80);
        assert!(both.1.contains(&"revealed.customer.notes 150".to_owned()), "{:?}", both.1);
    }
}
