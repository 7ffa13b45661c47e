//! Every text that a test has analyzed: others of its shape are held to a fresh analysis.

use std::sync::atomic::{AtomicUsize, Ordering};

use fieldveil_sql::{Analysis, Catalog, Names, Refusal, Shape};

/// Texts that were compared.
pub static COMPARED: AtomicUsize = AtomicUsize::new(0);

/// What is written between quotes in the place of something else.
const SAID: &[&str] = &[
    "",
    " ",
    "x",
    "a person",
    "2020-01-31",
    "-5",
    "1e5",
    "007",
    "null",
    "true",
    "DEFAULT",
    "$1",
    "?",
    "@a",
    "%",
    "_a%",
    "{a,b}",
    "[1]",
    "0x41",
    "--",
    "-- x",
    "/* x",
    "a;b",
    "a,b",
    "(",
    ")",
    "::",
    "`",
    "#",
    "fv1.x",
    "E",
    "ssn",
    "+1 202 555",
    "O''Brien",
    "''",
    "\\\\",
    "it\\'s",
    "a\\nb\\t\\r\\\"",
    "C:\\dir\\",
    "a\nb\r\n\tc",
    "{\"a\": [1, null]}",
    "é",
    "日本😀",
    "fieldveil",
    "customer",
    "ends ",
    "true",
    "2024-02-29",
    "2024-02-29 00:00:00",
    "2024-02-29 12:30:00.5",
    "2024-02-29 12:30:00+01",
    "65536",
    "9999999999",
    "12.50",
    "1.25",
    "-0",
    "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
    "\\x00ff",
];
const NUMBERS: &[&str] = &["0", "1", "2", "3", "12", "65536", "2147483648", "999999999999999999"];
const DECIMALS: &[&str] = &["0.0", "0.5", "1.0", "1.25", "3.10", "65536.5", "99999999.99999999"];

/// Analyzes a text as the crate does.
pub fn analyze(text: &str, catalog: &Catalog) -> Result<Analysis, Refusal> {
    analyze_in(text, catalog, &())
}

/// The same for a session with names of its own.
pub fn analyze_in(text: &str, catalog: &Catalog, names: &dyn Names) -> Result<Analysis, Refusal> {
    let fresh = fieldveil_sql::analyze_in(text, catalog, names);
    if let (Ok(analysis), Some(shape)) = (&fresh, Shape::of(text, catalog)) {
        compare(text, analysis, &shape, catalog, names);
    }
    fresh
}

fn compare(text: &str, analysis: &Analysis, shape: &Shape, catalog: &Catalog, names: &dyn Names) {
    let Some(template) = shape.template(text, analysis) else { return };
    assert!(template.analysis(text, shape).as_ref() == Some(analysis), "{text}");
    for turn in 0..SAID.len() {
        let other = with_other_values(text, shape, turn);
        let matched = template.analysis_of(&other, catalog);
        let Some(shape) = Shape::of(&other, catalog).filter(|other| other.key() == shape.key()) else {
            assert!(matched.is_none(), "{text}\n  is not of the shape of\n{other}");
            continue;
        };
        let fresh = fieldveil_sql::analyze_in(&other, catalog, names);
        let known = template.analysis(&other, &shape);
        assert!(known == matched, "{text}\n  is of the shape of\n{other}");
        assert!(known.is_some() && known == fresh.ok(), "{text}\n  says nothing of\n{other}");
        COMPARED.fetch_add(1, Ordering::Relaxed);
    }
}

/// The text with other values in the places of its plain ones, equal where these are.
pub fn with_other_values(text: &str, shape: &Shape, turn: usize) -> String {
    let mut other = String::new();
    let mut from = 0;
    for range in shape.values() {
        let written = &text[range.clone()];
        let first = shape.values().iter().position(|range| &text[range.clone()] == written).unwrap();
        other.push_str(&text[from..range.start]);
        other.push_str(&in_place_of(written, turn + first));
        from = range.end;
    }
    other.push_str(&text[from..]);
    other
}

/// Another value that is written in the same way.
fn in_place_of(written: &str, number: usize) -> String {
    let one_of = |all: &[&str]| all[number % all.len()].to_owned();
    match written.as_bytes() {
        [b'\'', ..] => format!("'{}'", one_of(SAID)),
        [prefix @ (b'e' | b'E'), ..] => format!("{}'{}'", char::from(*prefix), one_of(SAID)),
        [b'$', ..] => format!("$${}$$", one_of(SAID)),
        [b'-', ..] => format!("-{}", in_place_of(&written[1..], number)),
        _ if written.contains('.') => one_of(DECIMALS),
        _ => one_of(NUMBERS),
    }
}
