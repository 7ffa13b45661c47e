//! Values of many rows of an INSERT, or of a file, are sealed together: it is not to be seen.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::mysql_support::{rows as result, *};
use crate::support::contains;
use crate::support::keys::envelopes;
use serde_json::Value;

/// More values than are sealed at once.
const ROWS: usize = 200;

#[derive(Clone, Copy, Debug)]
enum Way {
    Parameters,
    Literals,
    File,
}

const WAYS: [Way; 3] = [Way::Parameters, Way::Literals, Way::File];

/// Rows of `ssn` and `notes`.
fn rows() -> Vec<[String; 2]> {
    (0..ROWS).map(|number| [format!("078-05-{number:04}"), format!("note {number}")]).collect()
}

/// A session under this plan, whose columns hold so many bytes, which has sent these rows.
fn inserted(way: Way, fields: &[Value], most: &'static str, rows: &[[String; 2]]) -> Dialogue {
    let mut dialogue = Dialogue::ready(fields, usize::MAX);
    dialogue.text_holds = most;
    dialogue.client(&query("SELECT 1 FROM orders"));
    dialogue.answer_questions();
    dialogue.server(&ok(1));
    if let Way::Parameters = way {
        let rows = vec!["(?, ?)"; rows.len()].join(", ");
        dialogue
            .client(&packet(0, format!("\x16INSERT INTO customer (ssn, notes) VALUES {rows}").as_bytes()));
        let [low, high] = u16::try_from(2 * ROWS).unwrap().to_le_bytes();
        let mut answer = packet(1, &[0, 1, 0, 0, 0, 0, 0, low, high, 0, 0, 0]);
        let number = |number: usize| u8::try_from((number + 2) % 256).unwrap();
        (0..2 * ROWS).for_each(|parameter| answer.extend(definition(number(parameter), "", "?")));
        dialogue.server(&answer);
    } else if let Way::File = way {
        dialogue.client(&query(
            "LOAD DATA LOCAL INFILE 'f' INTO TABLE customer CHARACTER SET utf8mb4 (ssn, notes)",
        ));
        dialogue.server(&packet(1, b"\xfbf"));
    }
    dialogue.to_server.clear();
    dialogue.to_client.clear();
    send(&mut dialogue, way, rows);
    dialogue
}

fn send(dialogue: &mut Dialogue, way: Way, rows: &[[String; 2]]) {
    let values = || rows.iter().flatten();
    match way {
        Way::Parameters => {
            let mut payload = [b"\x17".as_slice(), &1_u32.to_le_bytes(), &[0, 1, 0, 0, 0]].concat();
            payload.extend(vec![0; values().count().div_ceil(8)]);
            payload.push(1);
            values().for_each(|_| payload.extend([0xfd, 0]));
            values().for_each(|value| payload.extend(string(value.as_bytes())));
            dialogue.client(&packet(0, &payload));
        }
        Way::Literals => {
            let rows: Vec<String> = rows.iter().map(|row| format!("('{}', '{}')", row[0], row[1])).collect();
            let text = format!("INSERT INTO customer (ssn, notes) VALUES {}", rows.join(", "));
            dialogue.client(&query(&text));
        }
        Way::File => {
            let rows: Vec<String> = rows.iter().map(|row| format!("{}\t{}\n", row[0], row[1])).collect();
            dialogue.client(&[packet(2, rows.concat().as_bytes()), packet(3, b"")].concat());
        }
    }
}

/// The envelopes that the server gets.
fn sealed(way: Way, dialogue: &Dialogue, values: usize) -> Vec<String> {
    let sent = &dialogue.to_server;
    match way {
        Way::Literals => envelopes(sent),
        Way::File => of_file(sent),
        Way::Parameters => {
            let mut rest = &sent[4 + 10 + values.div_ceil(8) + 1 + 2 * values..];
            let mut next = || {
                let (value, behind) = rest[1..].split_at(usize::from(rest[0]));
                rest = behind;
                String::from_utf8(value.to_vec()).unwrap()
            };
            (0..values).map(|_| next()).collect()
        }
    }
}

fn of_file(sent: &[u8]) -> Vec<String> {
    let mut content = Vec::new();
    let mut rest = sent;
    while let [a, b, 0, _, behind @ ..] = rest {
        let (payload, next) = behind.split_at(usize::from(*a) | usize::from(*b) << 8);
        content.extend_from_slice(payload);
        rest = next;
    }
    let fields = content.split(|byte| b"\t\n".contains(byte)).filter(|field| field.starts_with(b"66763"));
    let byte = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
    fields.map(|field| String::from_utf8(field.chunks(2).map(byte).collect()).unwrap()).collect()
}

#[test]
fn rows_come_out_as_they_went_in_and_each_value_is_counted() {
    for way in WAYS {
        let dialogue = inserted(way, &revealing(), "", &rows());
        assert!(!contains(&dialogue.to_server, b"078-05-") && !contains(&dialogue.to_server, b"note "));
        assert_eq!(dialogue.sealed(), [ROWS; 2], "{way:?}");
        let stored = sealed(way, &dialogue, 2 * ROWS);
        assert_eq!(stored.len(), 2 * ROWS, "{way:?}");
        let stored: Vec<Vec<_>> =
            stored.chunks(2).map(|row| row.iter().map(|value| Some(value.as_bytes())).collect()).collect();
        let clear = rows();
        let clear: Vec<Vec<_>> =
            clear.iter().map(|row| row.iter().map(|value| Some(value.as_bytes())).collect()).collect();
        let mut reader = Dialogue::with_catalog(&revealing(), usize::MAX);
        reader.client(&query("SELECT ssn, notes FROM customer"));
        reader.server(&result("customer", &["ssn", "notes"], &stored));
        let rows = result("customer", &["ssn", "notes"], &clear);
        let first = rows.windows(6).position(|window| window == b"078-05").unwrap();
        assert!(reader.to_client.ends_with(&rows[first..]), "{way:?}");
    }
}

#[test]
fn nothing_goes_of_rows_among_which_a_value_is_refused_and_those_before_it_are_counted() {
    let sealed_already =
        sealed(Way::Literals, &inserted(Way::Literals, &revealing(), "", &rows()), 0).remove(0);
    // `text` has no longest value, so that what is sealed may be too long for the column.
    let mut fields = revealing();
    fields.iter_mut().for_each(|field| field["type"] = "text".into());
    let faults =
        [(sealed_already.clone(), "it is sealed already", 0), ("x".repeat(200), "its column holds 250", 1)];
    for way in WAYS {
        for at in [0, 1, 127, 128, ROWS - 1] {
            for (fault, told, counts) in &faults {
                let mut rows = rows();
                rows[at][1].clone_from(fault);
                // What is wrong behind it is not told.
                if let Some(row) = rows.get_mut(at + 1) {
                    row[0].clone_from(&sealed_already);
                }
                let mut dialogue = inserted(way, &fields, "250", &rows);
                assert!(
                    !contains(&dialogue.to_server, b"078-05-") && !contains(&dialogue.to_server, b"fv1.")
                );
                assert!(!contains(&dialogue.to_server, b"6676312e"), "{way:?}, {at}");
                assert_eq!(dialogue.sealed(), [at + 1, at + counts], "{way:?}, {at}, {told}");
                if !matches!(way, Way::File) {
                    dialogue.server(&error(1, 1065, "Query was empty"));
                    let client = String::from_utf8_lossy(&dialogue.to_client).into_owned();
                    assert!(
                        client.contains(told) && client.contains("customer.notes"),
                        "{way:?}, {at}: {client}"
                    );
                }
            }
        }
    }
}
