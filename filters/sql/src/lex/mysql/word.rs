//! Identifiers, keywords and variables.

use super::{Cursor, Doubt, Kind};
use crate::{dialect::MySqlDialect, names};

/// Letters, digits, the underscore, the dollar sign, and every byte of a multi-byte character.
pub(super) fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

pub(super) fn plain(cursor: &mut Cursor<'_>) -> Result<Kind, Doubt> {
    let start = cursor.at;
    cursor.skip_while(is_part);
    name(cursor.since(start), false)
}

/// A name has no letters beyond the Basic Multilingual Plane.
fn name(name: &str, quoted: bool) -> Result<Kind, Doubt> {
    let value = names::lower(name);
    // Nor is what is in lower case a word of ASCII's letters (as of the Kelvin sign) the same to every server.
    if name.chars().any(|letter| letter > '\u{FFFF}') || (value.is_ascii() && !name.is_ascii()) {
        return Err(Doubt);
    }
    Ok(Kind::Word { value, quoted })
}

/// What stands right behind a name and a dot.
pub(super) fn behind_dot(cursor: &mut Cursor<'_>) -> Result<Kind, Doubt> {
    plain(cursor)
}

pub(super) fn quoted(cursor: &mut Cursor<'_>, quote: u8) -> Result<Kind, Doubt> {
    let body = quoted_body(cursor, quote)?;
    name(&body, true)
}

/// What is between the quotes, the first of which the cursor is at. There are no escapes but the doubled quote.
fn quoted_body(cursor: &mut Cursor<'_>, quote: u8) -> Result<String, Doubt> {
    cursor.advance(1);
    let start = cursor.at;
    loop {
        match (cursor.peek(0).ok_or(Doubt)?, cursor.peek(1)) {
            (byte, Some(next)) if byte == quote && next == quote => cursor.advance(2),
            (byte, _) if byte == quote => break,
            _ => cursor.advance(1),
        }
    }
    let quote = char::from(quote);
    let body = cursor.since(start).replace(&format!("{quote}{quote}"), &quote.to_string());
    cursor.advance(1);
    if body.is_empty() { Err(Doubt) } else { Ok(body) }
}

/// ``@name``, ``@'name'``, ``@"name"``, ``@`name` ``; of ``@@scope.name`` the first part.
pub(super) fn variable(cursor: &mut Cursor<'_>, dialect: MySqlDialect) -> Result<Kind, Doubt> {
    cursor.advance(1);
    let system = cursor.peek(0) == Some(b'@');
    if system {
        cursor.advance(1);
    }
    let name = match cursor.peek(0) {
        Some(quote @ b'`') => quoted_body(cursor, quote)?,
        Some(b'\'' | b'"') if system => return Err(Doubt),
        // With ANSI_QUOTES the servers differ in whether a backslash in it is an escape.
        Some(b'"') if dialect.ansi_quotes => {
            let body = quoted_body(cursor, b'"')?;
            if body.contains('\\') {
                return Err(Doubt);
            }
            body
        }
        Some(b'\'' | b'"') => super::string::body(cursor, dialect)?.to_string(),
        _ => {
            let start = cursor.at;
            cursor.skip_while(|b| is_part(b) || (b == b'.' && !system));
            cursor.since(start).to_owned()
        }
    };
    if name.is_empty() { Err(Doubt) } else { Ok(Kind::Variable { name: names::lower(&name), system }) }
}
