//! The file of a LOAD DATA: fields and lines.

use fieldveil_mysql_wire::load_data::{End, Field, Format, Found, LineScanner, Scanner, line_start};

/// The first byte picks how the file is written, the second where it is cut.
pub(crate) fn load_data(bytes: &[u8]) {
    let [kind, cut, data @ ..] = bytes else { return };
    let format = format(*kind);
    let cut = usize::from(*cut).min(data.len());
    let mut rest = data;
    while !rest.is_empty() {
        let found =
            Scanner::default().find(&format, rest, true).expect("a file that ends has a field that does");
        assert_eq!(in_pieces(&format, rest, cut), found, "a field ends where it ends at every cut");
        let raw = &rest[..found.len];
        let value = Field { raw, enclosed: found.enclosed }.value(&format);
        assert!(
            value.is_none_or(|value| value.len() <= raw.len()),
            "a value is no longer than it is written"
        );
        let end = match found.end {
            End::Field => &format.field_end,
            End::Line => &format.line_end,
            End::Content => break,
        };
        assert!(rest[found.len..].starts_with(end));
        rest = &rest[found.len + end.len()..];
    }
    let line = LineScanner::default().find(&format, data, true);
    let mut scanner = LineScanner::default();
    let first = scanner.find(&format, &data[..cut], false);
    assert_eq!(
        first.or_else(|| scanner.find(&format, data, true)),
        line,
        "a line ends where it ends at every cut"
    );
    match line_start(&format, data) {
        Ok(at) => assert!(data[at..].starts_with(&format.line_start)),
        Err(before) => assert!(before <= data.len()),
    }
    // What is sealed is one field wherever words are taken as they stand.
    let sealed = [b"66763131".as_slice(), &format.line_end].concat();
    let found = Scanner::default().find(&format, &sealed, true);
    assert_eq!(found, Some(Found { len: 8, end: End::Line, enclosed: false }));
    let field = Field { raw: b"66763131", enclosed: false };
    assert!(format.takes_words() && field.value(&format).as_deref() == Some(b"66763131"));
}

fn in_pieces(format: &Format, bytes: &[u8], cut: usize) -> Found {
    let mut scanner = Scanner::default();
    let first = bytes.get(..cut).filter(|first| !first.is_empty());
    let found = first.and_then(|first| scanner.find(format, first, false));
    found.or_else(|| scanner.find(format, bytes, true)).expect("a file that ends has a field that does")
}

fn format(kind: u8) -> Format {
    let text = |text: &str| text.as_bytes().to_vec();
    let ends = match kind & 3 {
        0 => ("\t", "\n"),
        1 => (",", "\r\n"),
        2 => ("||", "|\n"),
        _ => (";;", ";"),
    };
    let (enclosed, escaped) = match (kind >> 2) & 3 {
        0 => (None, Some(b'\\')),
        1 => (Some(b'"'), Some(b'\\')),
        2 => (Some(b'"'), Some(b'"')),
        _ => (Some(b'\''), None),
    };
    let start = if kind & 0x10 == 0 { "" } else { ">>" };
    Format { field_end: text(ends.0), enclosed, escaped, line_start: text(start), line_end: text(ends.1) }
}
