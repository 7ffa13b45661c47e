//! Values of many rows of a COPY are sealed together: it is not to be seen, however the data is cut.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::copy::{copied, copy_in, copy_out};
use crate::support::{Dialogue, contains, message, query, revealing, tags};

const ROWS: usize = 200;

/// A row: its id, and what is protected of it. Some of that is NULL, and some is longer than what is sealed together.
fn row(number: usize) -> [Option<String>; 3] {
    let notes = match number % 7 {
        3 => None,
        5 => Some("x".repeat(1000 + number)),
        _ => Some(format!("note {number}")),
    };
    [(number % 11 != 4).then(|| format!("078-05-{number:04}")), Some(number.to_string()), notes]
}

struct Format {
    options: &'static str,
    begin: &'static [u8],
    end: &'static [u8],
    row: fn(&[Option<String>; 3]) -> Vec<u8>,
}

const FORMATS: [Format; 3] = [
    Format { options: "", begin: b"", end: b"", row: |row| text_row(row, "\t", "\\N") },
    Format { options: "(FORMAT csv)", begin: b"", end: b"", row: |row| text_row(row, ",", "") },
    Format {
        options: "(FORMAT binary)",
        begin: b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0",
        end: &[0xff, 0xff],
        row: binary_row,
    },
];

fn text_row(row: &[Option<String>; 3], delimiter: &str, null: &str) -> Vec<u8> {
    let fields: Vec<&str> = row.iter().map(|value| value.as_deref().unwrap_or(null)).collect();
    format!("{}\n", fields.join(delimiter)).into_bytes()
}

fn binary_row(row: &[Option<String>; 3]) -> Vec<u8> {
    let field = |value: &Option<String>| match value {
        None => (-1_i32).to_be_bytes().to_vec(),
        Some(value) => {
            [&u32::try_from(value.len()).unwrap_or_default().to_be_bytes(), value.as_bytes()].concat()
        }
    };
    [vec![0, 3], row.iter().flat_map(field).collect()].concat()
}

#[test]
fn rows_come_out_as_they_went_in_and_each_value_is_counted() {
    let rows: Vec<_> = (0..ROWS).map(row).collect();
    for Format { options, begin, end, row } in FORMATS {
        let rows: Vec<Vec<u8>> = rows.iter().map(row).collect();
        let data = [begin, &rows.concat(), end].concat();
        for size in [5, 97, 8192, data.len()] {
            let (dialogue, sent) =
                copy_in(&format!("COPY customer (ssn, id, notes) FROM STDIN {options}"), &data, size);
            assert!(!contains(&sent, b"078-05-") && !contains(&sent, b"note "), "{options}, {size}");
            assert_eq!(dialogue.sealed()[1], 171, "{options}, {size}");
            let stored = copied(&sent);
            let (_, got) = copy_out(
                &format!("COPY customer (ssn, id, notes) TO STDOUT {options}"),
                &server_rows(&stored, options),
            );
            assert_eq!(copied(&got), data, "{options}, {size}");
        }
    }
}

/// As the server sends what it got: a row a message.
fn server_rows<'s>(stored: &'s [u8], options: &str) -> Vec<&'s [u8]> {
    if !options.contains("binary") {
        return stored.split_inclusive(|byte| *byte == b'\n').collect();
    }
    let mut rows = Vec::new();
    let (mut rest, mut header) = (stored, 19);
    loop {
        let mut length = header + 2;
        for _ in 0..if rest.len() > length { 3 } else { 0 } {
            let field = i32::from_be_bytes(rest[length..length + 4].try_into().unwrap());
            length += 4 + usize::try_from(field).unwrap_or(0);
        }
        let (row, behind) = rest.split_at(length);
        rows.push(row);
        if behind.is_empty() {
            return rows;
        }
        (rest, header) = (behind, 0);
    }
}

#[test]
fn rows_before_the_one_at_fault_go_and_nothing_of_that_one() {
    for at in [0, 1, 3, 84, 85, 86, ROWS - 1] {
        let mut rows: Vec<Vec<u8>> = (0..ROWS).map(|number| text_row(&row(number), "\t", "\\N")).collect();
        // A sealed value comes before what is wrong.
        rows[at] = b"at fault\t7\t\\000\n".to_vec();
        let (dialogue, sent) = copy_in("COPY customer (ssn, id, notes) FROM STDIN", &rows.concat(), 1 << 20);
        let stored = copied(&sent);
        assert_eq!(stored.iter().filter(|byte| **byte == b'\n').count(), at);
        assert!(stored.is_empty() || stored.ends_with(b"\n"));
        assert!(tags(&sent).ends_with('f'), "CopyFail");
        let notes = (0..at).filter(|number| row(*number)[2].is_some()).count();
        assert_eq!(dialogue.sealed()[1], notes, "row {at}");
    }
}

#[test]
fn no_row_goes_of_those_that_wait_for_keys_that_are_gone() {
    for Format { options, begin, end, row: write } in FORMATS {
        // Less than what is sealed together, and more.
        for count in [5, ROWS] {
            let mut dialogue = Dialogue::with_catalog(&revealing());
            dialogue.client(&query(&format!("COPY customer (ssn, id, notes) FROM STDIN {options}")));
            dialogue.server(&message(b'G', &[0, 0, 0]));
            dialogue.take_to_server();
            dialogue.give_keys(br#"{"revision": "none", "keysets": {}}"#);
            // Without the long ones, which are sealed alone.
            let short =
                (0..count).map(row).filter(|row| row[2].as_ref().is_none_or(|notes| notes.len() < 1000));
            let rows: Vec<u8> = short.flat_map(|row| write(&row)).collect();
            dialogue.client(&message(b'd', &[begin, &rows, end].concat()));
            let sent = dialogue.take_to_server();
            assert!(tags(&sent).ends_with('f'), "CopyFail");
            assert_eq!(copied(&sent), begin, "{options}, {count} rows: a header at most");
        }
    }
}
