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

/// Columns that share no keys, and columns that do, so that their values are opened together.
fn kinds_of_fields() -> [Fields; 3] {
    let of_kinds = |ssn: &str, notes: &str| {
        let mut fields = revealing();
        for (field, protection) in fields.iter_mut().zip([ssn, notes]) {
            field["protection"] = json!(protection);
        }
        fields
    };
    [revealing(), of_kinds("deterministic", "deterministic"), of_kinds("randomized", "randomized")]
}

/// How the server sends the rows.
#[derive(Clone, Copy, Debug)]
enum RowFormat {
    Select,
    Text,
    Csv,
    Binary,
}

const ROW_FORMATS: [RowFormat; 4] = [RowFormat::Select, RowFormat::Text, RowFormat::Csv, RowFormat::Binary];

impl RowFormat {
    fn statement(self) -> &'static str {
        match self {
            Self::Select => "SELECT ssn, notes FROM customer",
            Self::Text => "COPY customer (ssn, notes) TO STDOUT",
            Self::Csv => "COPY customer (ssn, notes) TO STDOUT (FORMAT csv, HEADER)",
            Self::Binary => "COPY customer (ssn, notes) TO STDOUT (FORMAT binary)",
        }
    }

    /// What the server sends before the rows.
    fn begin(self) -> Vec<u8> {
        match self {
            Self::Select => row_description(&[("ssn", 3), ("notes", 4)]),
            Self::Text => message(b'H', &[0, 0, 0]),
            Self::Csv => [message(b'H', &[0, 0, 0]), message(b'd', b"ssn,notes\n")].concat(),
            Self::Binary => message(b'H', &[1, 0, 0]),
        }
    }

    fn row(self, number: usize, row: &[Option<Vec<u8>>; 2]) -> Vec<u8> {
        let text = |null: &[u8], delimiter: &[u8]| {
            let [ssn, notes] = row.each_ref().map(|value| value.clone().unwrap_or_else(|| null.to_vec()));
            message(b'd', &[&ssn, delimiter, &notes, b"\n"].concat())
        };
        match self {
            Self::Select => data_row(row),
            Self::Text => text(b"\\N", b"\t"),
            Self::Csv => text(b"", b","),
            Self::Binary => {
                let header: &[u8] = if number == 0 { b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0" } else { b"" };
                let body: Vec<u8> = data_row(row).into_iter().skip(5).collect();
                message(b'd', &[header, &body].concat())
            }
        }
    }

    fn end(self) -> Vec<u8> {
        match self {
            Self::Select => [complete("SELECT 1"), ready(b'I')].concat(),
            Self::Text | Self::Csv | Self::Binary => {
                [message(b'c', b""), complete("COPY 1"), ready(b'I')].concat()
            }
        }
    }

    /// What the client gets where this row fails.
    fn failed_at(self, at: usize) -> String {
        match self {
            Self::Select => format!("T{}EZ", "D".repeat(at)),
            Self::Text | Self::Binary => format!("H{}EZ", "d".repeat(at)),
            Self::Csv => format!("Hd{}EZ", "d".repeat(at)),
        }
    }
}

/// What the client and the audit get of rows that come all at once, or one after the other.
fn answered(
    format: RowFormat,
    fields: &Fields,
    rows: &[[Option<Vec<u8>>; 2]],
    at_once: bool,
) -> (Vec<u8>, Vec<String>) {
    let mut dialogue = Dialogue::with_catalog(fields);
    dialogue.client(&query(format.statement()));
    dialogue.server(&format.begin());
    let rows: Vec<_> = rows.iter().enumerate().map(|(number, row)| format.row(number, row)).collect();
    if at_once {
        dialogue.server(&rows.concat());
    } else {
        rows.iter().for_each(|row| dialogue.server(row));
    }
    dialogue.server(&format.end());
    let counts = dialogue.worker.borrow_mut().take_counts();
    let counts = counts.into_iter().map(|(name, count)| format!("{name} {count}")).collect();
    (dialogue.take_to_client(), counts)
}

/// What the client and the audit get, which is the same whether the rows come at once or one after the other, for each format.
fn both(fields: &Fields, rows: &[[Option<Vec<u8>>; 2]]) -> Vec<(RowFormat, Vec<u8>, Vec<String>)> {
    let of_format = |format| {
        let at_once = answered(format, fields, rows, true);
        assert_eq!(at_once, answered(format, fields, rows, false), "{format:?}");
        (format, at_once.0, at_once.1)
    };
    ROW_FORMATS.into_iter().map(of_format).collect()
}

fn rows(fields: &Fields) -> Vec<[Option<Vec<u8>>; 2]> {
    let some: Vec<_> = (0..7).map(|number| stored(fields, &format!("note {number}"))).collect();
    some.iter().cycle().take(150).cloned().collect()
}

#[test]
fn rows_that_come_at_once_are_those_that_come_one_after_the_other() {
    for fields in kinds_of_fields() {
        let mut rows = rows(&fields);
        rows[3][0] = None;
        rows[70] = [None, None];
        for (format, to_client, counts) in both(&fields, &rows) {
            let shown = to_client.windows(CANARY.len()).filter(|text| *text == CANARY.as_bytes()).count();
            assert_eq!(shown, 148, "{format:?}");
            assert!(counts.contains(&"revealed.customer.notes 149".to_owned()), "{counts:?}");
        }
    }
}

#[test]
fn value_that_does_not_open_ends_the_answer_at_its_row() {
    for fields in kinds_of_fields() {
        for (at, column) in [(0, 0), (1, 1), (63, 0), (63, 1), (64, 0), (64, 1), (149, 0), (149, 1)] {
            let mut rows = rows(&fields);
            let byte = rows[at][column].as_mut().unwrap().get_mut(40).unwrap();
            *byte = if *byte == b'A' { b'B' } else { b'A' };
            for (format, to_client, _) in both(&fields, &rows) {
                assert_eq!(tags(&to_client), format.failed_at(at), "row {at}, column {column}");
            }
        }
    }
}

#[test]
fn value_under_another_columns_label_does_not_open() {
    for fields in kinds_of_fields() {
        let mut rows = rows(&fields);
        rows[9].swap(0, 1);
        for (format, to_client, _) in both(&fields, &rows) {
            assert_eq!(tags(&to_client), format.failed_at(9));
        }
    }
}

#[test]
fn rows_with_other_columns_are_copied_alike_at_once_and_one_after_the_other() {
    let fields = revealing();
    // Null, and what looks like the end of a field, stand in some rows and not in others.
    let names: [&[u8]; 4] = [b"Ada", b"", b"a\\\tb", b"\\N"];
    let row = |number: usize| {
        let [ssn, notes] = stored(&fields, &format!("note {number}")).map(Option::unwrap);
        let ssn = if number % 5 == 3 { b"\\N".to_vec() } else { ssn };
        let id = number.to_string().into_bytes();
        message(b'd', &[&id, &b"\t"[..], names[number % 4], b"\t", &ssn, b"\t", &notes, b"\n"].concat())
    };
    let rows: Vec<_> = (0..40).map(row).collect();
    let copied = |at_once: bool| {
        let mut dialogue = Dialogue::with_catalog(&fields);
        dialogue.client(&query("COPY customer TO STDOUT"));
        dialogue.server(&message(b'H', &[0, 0, 0]));
        rows.chunks(if at_once { 40 } else { 1 }).for_each(|rows| dialogue.server(&rows.concat()));
        dialogue.take_to_client()
    };
    let to_client = copied(true);
    assert_eq!(to_client, copied(false));
    for number in 0..40 {
        let ssn = if number % 5 == 3 { "\\N" } else { CANARY };
        let tail = format!("\t{ssn}\tnote {number}\n").into_bytes();
        let row = [number.to_string().as_bytes(), b"\t", names[number % 4], &tail].concat();
        assert!(to_client.windows(row.len()).any(|bytes| bytes == row), "{number}");
    }
}

#[test]
fn values_between_quotes_are_copied_alike_at_once_and_one_after_the_other() {
    let fields = revealing();
    let row = |number: usize| {
        let values = stored(&fields, &format!("note {number}")).map(Option::unwrap);
        // Both between quotes, one of them, or none.
        let quotes = [number % 2, number / 2 % 2].map(|times| b"\"".repeat(times));
        let [ssn, notes] = values.each_ref().map(Vec::as_slice);
        message(b'd', &[&quotes[0], ssn, &quotes[0], b",", &quotes[1], notes, &quotes[1], b"\n"].concat())
    };
    let rows: Vec<_> = (0..40).map(row).collect();
    let copied = |at_once: bool| {
        let mut dialogue = Dialogue::with_catalog(&fields);
        dialogue.client(&query("COPY customer (ssn, notes) TO STDOUT (FORMAT csv, FORCE_QUOTE *)"));
        dialogue.server(&message(b'H', &[0, 0, 0]));
        rows.chunks(if at_once { 40 } else { 1 }).for_each(|rows| dialogue.server(&rows.concat()));
        dialogue.take_to_client()
    };
    let clear = (0..40).flat_map(|number| message(b'd', format!("{CANARY},note {number}\n").as_bytes()));
    let expected = [message(b'H', &[0, 0, 0]), clear.collect()].concat();
    assert_eq!(copied(true), expected);
    assert_eq!(copied(false), expected);
}

#[test]
fn rows_past_a_budget_are_masked_or_null() {
    for then in [json!({"treatment": "mask", "format": "last4"}), json!({"treatment": "null"})] {
        let budget = json!({"rows": 80, "per_seconds": 3600, "then": then});
        let mut fields = revealing();
        fields[0]["read"] = json!({"treatment": "reveal", "budget": budget});
        let rows = rows(&fields);
        for (format, to_client, counts) in both(&fields, &rows) {
            let shown = to_client.windows(CANARY.len()).filter(|text| *text == CANARY.as_bytes()).count();
            assert_eq!(shown, 80, "{format:?}");
            assert!(counts.contains(&"revealed.customer.notes 150".to_owned()), "{counts:?}");
        }
    }
}

#[test]
fn concealed_rows_pass_but_for_what_is_no_envelope() {
    let fields = revealing();
    let mut rows = rows(&fields);
    rows.truncate(9);
    rows[2] = [None, rows[2][1].clone()];
    let mut concealing = fields;
    for field in &mut concealing {
        field["read"] = json!({"treatment": "conceal"});
        field["on_plaintext"] = json!("null");
    }
    for format in ROW_FORMATS {
        let shown = |rows: &[[Option<Vec<u8>>; 2]]| {
            let rows = rows.iter().enumerate().flat_map(|(number, row)| format.row(number, row));
            [format.begin(), rows.collect(), format.end()].concat()
        };
        let (to_client, counts) = answered(format, &concealing, &rows, true);
        assert!(to_client.ends_with(&shown(&rows).split_off(format.begin().len())), "{format:?}");
        assert!(counts.contains(&"concealed.customer.ssn 8".to_owned()), "{counts:?}");
        let mut with_plaintext = rows.clone();
        with_plaintext[5][1] = Some(CANARY.as_bytes().to_vec());
        let (to_client, counts) = answered(format, &concealing, &with_plaintext, true);
        with_plaintext[5][1] = None;
        assert!(to_client.ends_with(&shown(&with_plaintext).split_off(format.begin().len())), "{format:?}");
        assert!(counts.contains(&"plaintext.customer.notes 1".to_owned()), "{counts:?}");
    }
}

#[test]
fn value_that_its_quotes_make_look_like_an_envelope_is_not_shown() {
    let mut concealing = revealing();
    for field in &mut concealing {
        field["read"] = json!({"treatment": "conceal"});
        field["on_plaintext"] = json!("null");
    }
    let mut dialogue = Dialogue::with_catalog(&concealing);
    dialogue.client(&query("COPY customer (ssn) TO STDOUT (FORMAT csv, QUOTE 'f', FORCE_QUOTE *)"));
    let row = message(b'd', format!("fv1.{CANARY}f\n").as_bytes());
    dialogue.server(&[message(b'H', &[0, 0, 0]), row, message(b'c', b"")].concat());
    assert_eq!(
        dialogue.take_to_client(),
        [message(b'H', &[0, 0, 0]), message(b'd', b"\n"), message(b'c', b"")].concat()
    );
}
