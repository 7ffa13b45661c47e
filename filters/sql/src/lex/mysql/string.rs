//! Strings of all styles.

use zeroize::Zeroizing;

use super::{Cursor, Doubt, Kind, Style, number};
use crate::dialect::MySqlDialect;

/// A string with a prefix letter: `N'…'`, `X'…'`, `B'…'`. (A character set before a string is a word of its own.)
pub(super) fn prefixed(cursor: &mut Cursor<'_>, dialect: MySqlDialect) -> Result<Option<Kind>, Doubt> {
    let kind = match (cursor.peek(0), cursor.peek(1)) {
        (Some(b'n' | b'N'), Some(b'\'')) => {
            cursor.advance(1);
            Kind::Text { value: body(cursor, dialect)?, style: Style::Other }
        }
        (Some(b'x' | b'X'), Some(b'\'')) => {
            let digits = digits(cursor, |b| b.is_ascii_hexdigit())?;
            if !digits.len().is_multiple_of(2) {
                return Err(Doubt);
            }
            number::hexadecimal(digits)
        }
        (Some(b'b' | b'B'), Some(b'\'')) => {
            let digits = digits(cursor, |b| matches!(b, b'0' | b'1'))?;
            Kind::Text { value: Zeroizing::new(digits.to_owned()), style: Style::Bits }
        }
        _ => return Ok(None),
    };
    Ok(Some(kind))
}

/// What is between the quotes of `x'…'` or `b'…'`.
fn digits<'t>(cursor: &mut Cursor<'t>, test: impl Fn(u8) -> bool) -> Result<&'t str, Doubt> {
    cursor.advance(2);
    let start = cursor.at;
    cursor.skip_while(test);
    let digits = cursor.since(start);
    if cursor.peek(0) != Some(b'\'') {
        return Err(Doubt);
    }
    cursor.advance(1);
    Ok(digits)
}

/// `'…'`, `"…"`
pub(super) fn plain(cursor: &mut Cursor<'_>, dialect: MySqlDialect) -> Result<Kind, Doubt> {
    Ok(Kind::Text { value: body(cursor, dialect)?, style: Style::Plain })
}

/// The value between the quotes, the first of which the cursor is at.
pub(super) fn body(cursor: &mut Cursor<'_>, dialect: MySqlDialect) -> Result<Zeroizing<String>, Doubt> {
    let quote = cursor.peek(0).ok_or(Doubt)?;
    cursor.advance(1);
    let mut value = Zeroizing::new(String::with_capacity(cursor.rest().len().min(256)));
    loop {
        match (cursor.peek(0).ok_or(Doubt)?, cursor.peek(1)) {
            (byte, next) if byte == quote => {
                cursor.advance(1);
                if next != Some(quote) {
                    return Ok(value);
                }
                value.push(char::from(quote));
                cursor.advance(1);
            }
            (b'\\', _) if !dialect.no_backslash_escapes => {
                cursor.advance(1);
                let escape = cursor.rest().chars().next().ok_or(Doubt)?;
                cursor.advance(escape.len_utf8());
                unescape(escape, &mut value);
            }
            _ => {
                let letter = cursor.rest().chars().next().ok_or(Doubt)?;
                cursor.advance(letter.len_utf8());
                value.push(letter);
            }
        }
    }
}

fn unescape(escape: char, value: &mut String) {
    let letter = match escape {
        '0' => '\0',
        'b' => '\u{8}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'Z' => '\u{1A}',
        // For patterns: the backslash stays.
        '%' | '_' => {
            value.push('\\');
            escape
        }
        other => other,
    };
    value.push(letter);
}
