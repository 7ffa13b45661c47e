//! Values of many rows of an INSERT are sealed together: it is not to be seen, whether they are parameters or literals.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::support::keys::{bound, envelopes, parsed, sealed_under};
use crate::support::*;

/// More values than are sealed at once.
const ROWS: usize = 200;

#[derive(Clone, Copy, Debug)]
enum Way {
    Parameters,
    Literals,
}

/// A row: its `ssn`, and its `notes`, some of which are longer than what is sealed together.
fn row(number: usize) -> [String; 2] {
    let notes = if number % 7 == 5 { "x".repeat(1000 + number) } else { format!("note {number}") };
    [format!("078-05-{number:04}"), notes]
}

fn rows() -> Vec<[String; 2]> {
    (0..ROWS).map(row).collect()
}

/// What the server gets of an INSERT of these rows.
fn inserted(dialogue: &mut Dialogue, way: Way, rows: &[[String; 2]]) -> Vec<u8> {
    let text = |row: &dyn Fn(usize) -> String| {
        let rows: Vec<String> = (0..rows.len()).map(row).collect();
        format!("INSERT INTO customer (ssn, notes) VALUES {}", rows.join(", "))
    };
    match way {
        Way::Parameters => {
            let text = text(&|row| format!("(${}, ${})", 2 * row + 1, 2 * row + 2));
            parsed(dialogue, "s", &text);
            let values: Vec<&[u8]> = rows.iter().flatten().map(|value| value.as_bytes()).collect();
            bound(dialogue, "s", &values)
        }
        Way::Literals => {
            dialogue.client(&query(&text(&|row| format!("('{}', '{}')", rows[row][0], rows[row][1]))));
            dialogue.take_to_server()
        }
    }
}

/// What the client is told when the server has failed what it got in the place of the statement.
fn told(dialogue: &mut Dialogue) -> String {
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    String::from_utf8_lossy(&dialogue.take_to_client()).into_owned()
}

#[test]
fn rows_come_out_as_they_went_in_and_each_value_is_counted() {
    for way in [Way::Parameters, Way::Literals] {
        // One row alone, the most that are sealed alone, and more values than are sealed at once.
        for count in [1, 4, 5, 127, 128, 129, ROWS] {
            let mut dialogue = Dialogue::with_catalog(&revealing());
            let sent = inserted(&mut dialogue, way, &rows()[..count]);
            assert!(!contains(&sent, b"078-05-") && !contains(&sent, b"note "), "{way:?}, {count}");
            assert_eq!(dialogue.sealed(), [count; 2]);
            let stored: Vec<_> = envelopes(&sent).into_iter().map(|value| Some(value.into_bytes())).collect();
            let stored: Vec<Vec<u8>> = stored.chunks(2).map(data_row).collect();
            let clear: Vec<_> = rows()[..count]
                .iter()
                .map(|row| data_row(&row.each_ref().map(|value| Some(value.clone().into_bytes()))))
                .collect();
            let mut reader = Dialogue::with_catalog(&revealing());
            reader.client(&query("SELECT ssn, notes FROM customer"));
            let begin = row_description(&[("ssn", 3), ("notes", 4)]);
            let end = [complete("SELECT"), ready(b'I')].concat();
            reader.server(&[begin.clone(), stored.concat(), end.clone()].concat());
            assert!(reader.take_to_client() == [begin, clear.concat(), end].concat(), "{way:?}, {count}");
        }
    }
}

#[test]
fn nothing_goes_of_rows_among_which_a_value_is_refused_and_those_before_it_are_counted() {
    for way in [Way::Parameters, Way::Literals] {
        for at in [0, 1, 100, 127, 128, ROWS - 1] {
            let mut rows = rows();
            rows[at][1] = sealed_under("a");
            // What is wrong behind it is not told.
            if let Some(row) = rows.get_mut(at + 1) {
                row[0] = "x".repeat((1 << 20) + 1);
            }
            let mut dialogue = Dialogue::with_catalog(&revealing());
            let sent = inserted(&mut dialogue, way, &rows);
            assert!(envelopes(&sent).is_empty() && !contains(&sent, b"078-05-"), "{way:?}, {at}");
            let told = told(&mut dialogue);
            assert!(told.contains("it is sealed already"), "{way:?}, {at}: {told}");
            assert_eq!(dialogue.sealed(), [at + 1, at], "{way:?}, {at}");
        }
    }
}

#[test]
fn nothing_goes_of_rows_whose_keys_are_gone() {
    for count in [2, 5, ROWS] {
        let mut dialogue = Dialogue::with_catalog(&revealing());
        let rows = &rows()[..count];
        let sent = inserted(&mut dialogue, Way::Parameters, rows);
        assert_eq!(envelopes(&sent).len(), 2 * count);
        dialogue.server(&[message(b'2', b""), complete("INSERT"), ready(b'I')].concat());
        dialogue.take_to_client();
        dialogue.sealed();
        let keys: serde_json::Value = serde_json::from_slice(&keys()).unwrap();
        let deterministic = &keys["keysets"]["pii"]["deterministic"];
        let keys =
            serde_json::json!({"revision": "less", "keysets": {"pii": {"deterministic": deterministic}}});
        dialogue.give_keys(keys.to_string().as_bytes());
        let values: Vec<&[u8]> = rows.iter().flatten().map(|value| value.as_bytes()).collect();
        let sent = bound(&mut dialogue, "s", &values);
        assert!(envelopes(&sent).is_empty() && !contains(&sent, b"078-05-"), "{count}");
        let told = told(&mut dialogue);
        assert!(told.contains("no keys for purpose aead"), "{told}");
        assert_eq!(dialogue.sealed(), [0, 0], "{count}");
    }
}
