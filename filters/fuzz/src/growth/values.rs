//! What reads values of every declared type, and the rows of files.

use super::text::{Chance, Text};
use super::{Case, Input};
use crate::values::{TYPES, masks, values};
use crate::{copy, load_data};

/// Bytes of the largest input.
const BYTES: usize = 4 << 10;
const KINDS_OF_FILES: u8 = 4;

/// A value, with the numbers of its type and of what the client calls it.
fn value(text: Text<'static>, kind: usize, from: u8) -> Case {
    Case::new("value", BYTES, move |times| {
        let mut bytes = vec![u8::try_from(kind).expect("few types"), from];
        bytes.extend(text.write(times).into_bytes());
        Input::new(&bytes.clone(), move || values(&bytes))
    })
}

/// The names of types for which these are not the inputs of every other.
const OF: [(&str, &[Text<'static>]); 8] = [
    ("text", TEXTS),
    ("char(5)", TEXTS),
    ("bytea", TEXTS),
    ("numeric", NUMBERS),
    ("float8", NUMBERS),
    ("jsonb", DOCUMENTS),
    ("text[]", ARRAYS),
    ("jsonb[]", ARRAYS),
];

pub(super) fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for (name, texts) in OF {
        let kind = TYPES.iter().position(|declared| declared.name() == name).expect("a known type");
        all.extend(texts.iter().map(|text| value(*text, kind, 0)));
    }
    for (number, text) in [TEXTS, NUMBERS, DOCUMENTS, ARRAYS].into_iter().flatten().enumerate() {
        all.push(value(*text, number % TYPES.len(), u8::try_from(number % 256).expect("a byte")));
    }
    for text in ROWS {
        for kind in 0..KINDS_OF_FILES {
            all.push(file("copy", copy::copy, *text, kind));
        }
        for kind in (0..KINDS_OF_FILES).map(|kind| kind * 5) {
            all.push(file("load-data", load_data::load_data, *text, kind));
        }
    }
    for element in [&b"\0\0\0\x01x"[..], b"\xff\xff\xff\xff", b"\0\0\0\0"] {
        all.push(Case::new("value", BYTES, move |times| {
            let count = u32::try_from(times).expect("few").to_be_bytes();
            let head = [&[23, 0x89, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 25][..], &count, &[0, 0, 0, 1]].concat();
            let bytes = [&head[..], &element.repeat(times)].concat();
            Input::new(&bytes.clone(), move || values(&bytes))
        }));
    }
    all
}

fn file(reader: &'static str, read: fn(&[u8]), text: Text<'static>, kind: u8) -> Case {
    Case::new(reader, BYTES, move |times| {
        let mut bytes = vec![kind, 0];
        bytes.extend(text.write(times).into_bytes());
        Input::new(&bytes.clone(), move || read(&bytes))
    })
}

pub(super) fn composed(chance: &mut Chance) -> Case {
    let unit = chance.some(PIECES, 5, "");
    let [head, tail, close] =
        [(); 3].map(|()| if chance.below(2) == 0 { String::new() } else { chance.some(PIECES, 2, "") });
    let start = [(); 2].map(|()| u8::try_from(chance.below(256)).expect("a byte"));
    let (name, read) = chance.pick(&[
        ("value", values as fn(&[u8])),
        ("value", values),
        ("masks", masks),
        ("copy", copy::copy),
        ("load-data", load_data::load_data),
    ]);
    Case::new(name, BYTES, move |times| {
        let text = Text { head: &head, open: &unit, core: "1", close: &close, tail: &tail };
        let bytes = [&start[..], text.write(times).as_bytes()].concat();
        Input::new(&bytes.clone(), move || read(&bytes))
    })
}

const TEXTS: &[Text<'static>] = &[
    Text::repeat("", "a", ""),
    Text::repeat("", " ", ""),
    Text::repeat("a", " ", "a"),
    Text::repeat("", "é", ""),
    Text::repeat("\\x", "41", ""),
    Text::repeat("", "\\101", ""),
    Text::repeat("", "\\\\", ""),
    Text::repeat("", "a@", "b.c"),
    Text::repeat("X'", "41", "'"),
    Text::repeat("0x", "41", ""),
];

const NUMBERS: &[Text<'static>] = &[
    Text::repeat("", "1", ""),
    Text::repeat("", "0", "1"),
    Text::repeat("0.", "0", "1"),
    Text::repeat("1.", "1", ""),
    Text::repeat("-", "9", ".5e-10"),
    Text::repeat("1e", "0", "9"),
    Text::repeat("", "1_", "1"),
    Text::repeat("", " ", "1"),
    Text::repeat("1", " ", ""),
    Text::repeat("", "-", "1"),
    Text::repeat("0.", "9", "e308"),
];

const DOCUMENTS: &[Text<'static>] = &[
    Text::new("", "[", "1", "]", ""),
    Text::new("", "{\"a\":", "1", "}", ""),
    Text::repeat("{", "\"a{i}\":1,", "\"z\":1}"),
    Text::repeat("{", "\"a\":1,", "\"z\":1}"),
    Text::repeat("{", "\"\":1,", "\"z\":1}"),
    Text::repeat("[", "1,", "1]"),
    Text::repeat("[", "1e50,", "1]"),
    Text::repeat("[", "1.50,", "1]"),
    Text::repeat("[", "\"a\",", "1]"),
    Text::repeat("[", "{},", "1]"),
    Text::repeat("\"", "\\u0041", "\""),
    Text::repeat("\"", "\\n", "\""),
    Text::repeat("", " ", "1"),
    Text::repeat("", "[", ""),
    Text::repeat("", "{\"a\":", ""),
    Text::repeat("1", "0", ""),
    Text::repeat("{\"", "a", "\":1}"),
];

const ARRAYS: &[Text<'static>] = &[
    Text::repeat("{", "a,", "a}"),
    Text::repeat("{", "NULL,", "a}"),
    Text::repeat("{", "\"a\",", "a}"),
    Text::repeat("{", "\"{}\",", "\"{}\"}"),
    Text::repeat("{\"", "\\\"", "\"}"),
    Text::repeat("{\"", "\\\\", "\"}"),
    Text::repeat("{", "{a},", "{a}}"),
    Text::new("", "{", "a", "}", ""),
    Text::repeat("[", "1:1][", "1:1]={a}"),
    Text::repeat("{", " ", "a}"),
    Text::repeat("{", ",", "}"),
    Text::repeat("", "{", ""),
    Text::repeat("{", "\"", ""),
];

const ROWS: &[Text<'static>] = &[
    Text::repeat("", "a\tb\n", ""),
    Text::repeat("", "a,b\r\n", ""),
    Text::repeat("", "\"a\",\"b\"\n", ""),
    Text::repeat("\"", "\"\"", "\"\n"),
    Text::repeat("", "\"", ""),
    Text::repeat("", "\\", "\n"),
    Text::repeat("", "\\.", "\n"),
    Text::repeat("", "\\.\n", ""),
    Text::repeat("", "\\N\t", "\n"),
    Text::repeat("", "\n", ""),
    Text::repeat("", "\r", ""),
    Text::repeat("", "\t", ""),
    Text::repeat("", ">", ""),
    Text::repeat("", ">>a||", "|\n"),
    Text::repeat("", "|", ""),
    Text::repeat("", ";", ""),
    Text::repeat("'", "a'", "\n"),
    Text::repeat("", "a", ""),
];

const PIECES: &[&str] = &[
    "a",
    "1",
    "0",
    "9",
    ".",
    "-",
    "+",
    "e",
    "E",
    "e9",
    "_",
    " ",
    "\t",
    "\n",
    "\r",
    "\\",
    "\\.",
    "\\N",
    "\\x",
    "\"",
    "'",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    ";",
    "|",
    ">",
    ">>",
    "||",
    "/",
    "T",
    "Z",
    "NULL",
    "null",
    "true",
    "infinity",
    "NaN",
    "2020-01-01",
    "12:30:00",
    "é",
    "\u{feff}",
    "\0",
    "\\u0041",
    "{\"a\":",
    "BC",
    "PGCOPY\n",
];
