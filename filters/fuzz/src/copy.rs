//! The data of COPY: rows in text, CSV and binary.

use fieldveil_postgres_wire::copy_data::{CopyDataError, Dialect, Found, Quotes, Scanner, binary, csv, text};

/// The first byte picks how rows are written, the second where the data is cut.
pub(crate) fn copy(bytes: &[u8]) {
    let [kind, cut, data @ ..] = bytes else { return };
    let dialect = dialect(*kind);
    let cut = usize::from(*cut).min(data.len());
    let (before, after) = data.split_at(cut);
    assert_eq!(
        ends(&dialect, &[data]),
        ends(&dialect, &[before, after]),
        "fields end where they end at every cut"
    );
    let bytes: Vec<_> = data.chunks(1).collect();
    assert_eq!(ends(&dialect, &[data]), ends(&dialect, &bytes), "fields end where they end byte by byte");
    match dialect.quotes {
        None => {
            let _ = text::decode(&dialect, data);
        }
        Some(quotes) => {
            for forced in [(false, false), (true, false), (false, true)] {
                let _ = csv::decode(&dialect, quotes, data, forced.0, forced.1);
            }
        }
    }
    for read in [binary::header, binary::row, binary::length] {
        let _ = read(data);
    }
    // PostgreSQL's text values hold no NUL byte.
    if !data.contains(&0) {
        check_round_trip(&dialect, Some(data));
    }
    check_round_trip(&dialect, None);
}

fn dialect(kind: u8) -> Dialect {
    let quotes = match (kind >> 1) % 4 {
        0 => None,
        1 => Some(Quotes { quote: b'"', escape: b'"' }),
        2 => Some(Quotes { quote: b'"', escape: b'\\' }),
        _ => Some(Quotes { quote: b'\'', escape: b'"' }),
    };
    let (delimiter, null) = match (kind & 1, quotes) {
        (0, None) => (b'\t', &b"\\N"[..]),
        (0, Some(_)) => (b',', &b""[..]),
        (_, None) => (b'|', &b"null"[..]),
        (_, Some(_)) => (b';', &b"NULL"[..]),
    };
    Dialect { delimiter, null: null.to_vec(), quotes }
}

/// Every field's end in the data, however it comes.
fn ends(dialect: &Dialect, pieces: &[&[u8]]) -> Result<Vec<(char, usize, bool)>, CopyDataError> {
    let mut scanner = Scanner::default();
    let mut found = Vec::new();
    let mut start = 0;
    for piece in pieces {
        let mut rest = *piece;
        loop {
            let (kind, at) = match scanner.find(dialect, rest)? {
                Found::More => break,
                Found::Delimiter(at) => ('d', at),
                Found::Newline(at) => ('n', at),
                Found::Marker(at) => ('m', at),
            };
            found.push((kind, start + at, scanner.take_carriage()));
            start += at + 1;
            rest = &rest[at + 1..];
        }
        start += rest.len();
    }
    Ok(found)
}

/// A value that is written is one field, and read as it was.
fn check_round_trip(dialect: &Dialect, value: Option<&[u8]>) {
    let mut field = Vec::new();
    match dialect.quotes {
        None => text::encode(dialect, value, &mut field),
        Some(quotes) => csv::encode(dialect, quotes, value, &mut field),
    }
    let read = match dialect.quotes {
        None => text::decode(dialect, &field),
        Some(quotes) => csv::decode(dialect, quotes, &field, false, false),
    };
    // Text has no quotes: a value that is NULL's text is NULL to the server too.
    let is_null = dialect.quotes.is_none() && value == Some(&dialect.null);
    // `\N` is not such a value: its backslash is doubled.
    let is_null = is_null && !dialect.null.contains(&b'\\');
    assert_eq!(read.as_deref(), value.filter(|_| !is_null), "a field is read as it was written");
    let length = field.len();
    field.push(b'\n');
    assert_eq!(ends(dialect, &[&field]).as_deref(), Ok(&[('n', length, false)][..]), "a value is one field");
}
