//! One field of CSV.

use std::borrow::Cow;

use memchr::memchr;

use super::{Dialect, Quotes};

/// The value of a field as written, None for NULL. `force_null` makes a quoted field NULL too, if it is NULL's text;
/// `force_not_null` makes none NULL. One without a quote is where it stands.
pub fn decode<'r>(
    dialect: &Dialect,
    quotes: Quotes,
    raw: &'r [u8],
    force_null: bool,
    force_not_null: bool,
) -> Option<Cow<'r, [u8]>> {
    let Quotes { quote, escape } = quotes;
    if memchr(quote, raw).is_none() {
        return (force_not_null || raw != dialect.null).then_some(Cow::Borrowed(raw));
    }
    let mut value = Vec::with_capacity(raw.len());
    let mut was_quoted = false;
    let mut quoted = false;
    let mut rest = raw;
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        let next = rest.first().copied();
        if quoted && *byte == escape && next.is_some_and(|next| next == escape || next == quote) {
            value.extend(next);
            rest = rest.get(1..).unwrap_or_default();
        } else if *byte == quote {
            quoted = !quoted;
            was_quoted = true;
        } else {
            value.push(*byte);
        }
    }
    let may_be_null = if was_quoted { force_null } else { !force_not_null };
    if may_be_null && value == dialect.null { None } else { Some(Cow::Owned(value)) }
}

/// Appends a value as a field, None for NULL.
pub fn encode(dialect: &Dialect, quotes: Quotes, value: Option<&[u8]>, out: &mut Vec<u8>) {
    let Some(value) = value else { return out.extend_from_slice(&dialect.null) };
    let Quotes { quote, escape } = quotes;
    let is_special = |any, byte: &u8| {
        any | (*byte == dialect.delimiter) | (*byte == quote) | (*byte == b'\n') | (*byte == b'\r')
    };
    if !(value == dialect.null || value == b"\\." || value.iter().fold(false, is_special)) {
        return out.extend_from_slice(value);
    }
    out.push(quote);
    for byte in value {
        if *byte == quote || *byte == escape {
            out.push(escape);
        }
        out.push(*byte);
    }
    out.push(quote);
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOUBLE: Quotes = Quotes { quote: b'"', escape: b'"' };

    fn dialect(null: &str) -> Dialect {
        Dialect { delimiter: b',', null: null.into(), quotes: Some(DOUBLE) }
    }

    #[test]
    fn quotes_are_the_servers() {
        let comma = dialect("");
        for (raw, value) in [
            ("a", Some("a")),
            ("", None),
            ("\"\"", Some("")),
            ("\"a\"\"b,c\nd\"", Some("a\"b,c\nd")),
            ("a\"b\"c", Some("abc")),
        ] {
            assert_eq!(
                decode(&comma, DOUBLE, raw.as_bytes(), false, false).as_deref(),
                value.map(str::as_bytes)
            );
        }
        let backslash = Quotes { quote: b'\'', escape: b'\\' };
        assert_eq!(
            decode(&comma, backslash, b"'a\\'b\\\\c\\d'", false, false).as_deref(),
            Some(&b"a'b\\c\\d"[..])
        );
        assert_eq!(decode(&dialect("x"), DOUBLE, b"\"x\"", true, false), None);
        assert_eq!(decode(&dialect("x"), DOUBLE, b"x", false, true).as_deref(), Some(&b"x"[..]));
    }

    #[test]
    fn what_is_written_reads_back() {
        for quotes in [DOUBLE, Quotes { quote: b'\'', escape: b'\\' }] {
            for null in ["", "NULL"] {
                for value in ["", "a", "a,b", "a\"b'c\\d", "\n", "\r", "\\.", "NULL"] {
                    let mut out = Vec::new();
                    encode(&dialect(null), quotes, Some(value.as_bytes()), &mut out);
                    let read = decode(&dialect(null), quotes, &out, false, false);
                    assert_eq!(read.as_deref(), Some(value.as_bytes()), "{null} {value}");
                }
            }
        }
    }
}
