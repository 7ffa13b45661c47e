//! Identifiers and keywords.

use super::{Cursor, Doubt, Kind};
use crate::names;

/// Letters, the underscore, and every byte of a multi-byte character.
pub(super) fn is_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_part(byte: u8) -> bool {
    is_start(byte) || byte.is_ascii_digit() || byte == b'$'
}

pub(super) fn plain(cursor: &mut Cursor<'_>) -> Result<Kind, Doubt> {
    let start = cursor.at;
    cursor.skip_while(is_part);
    Ok(Kind::Word { value: names::fold_unquoted(cursor.since(start)), quoted: false })
}

pub(super) fn quoted(cursor: &mut Cursor<'_>) -> Result<Kind, Doubt> {
    let body = quoted_body(cursor)?;
    Ok(Kind::Word { value: names::cut(&body.replace("\"\"", "\"")).to_owned(), quoted: true })
}

/// `U&"d\0061t\+000061"`, with the usual escape character.
pub(super) fn unicode(cursor: &mut Cursor<'_>) -> Result<Kind, Doubt> {
    let body = quoted_body(cursor)?.replace("\"\"", "\"");
    let mut value = String::new();
    let mut rest = body.as_str();
    while let Some((before, after)) = rest.split_once('\\') {
        value.push_str(before);
        let (escape, tail) = if let Some(tail) = after.strip_prefix('\\') {
            ('\\', tail)
        } else if let Some(long) = after.strip_prefix('+') {
            (scalar(long.get(..6))?, long.get(6..).ok_or(Doubt)?)
        } else {
            (scalar(after.get(..4))?, after.get(4..).ok_or(Doubt)?)
        };
        value.push(escape);
        rest = tail;
    }
    value.push_str(rest);
    Ok(Kind::Word { value: names::cut(&value).to_owned(), quoted: true })
}

/// Surrogate pairs are left in doubt.
fn scalar(digits: Option<&str>) -> Result<char, Doubt> {
    let digits = digits.filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit())).ok_or(Doubt)?;
    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).ok_or(Doubt)
}

/// What is between the quotes, doubled quotes left as they are. The cursor is at the first quote.
fn quoted_body<'t>(cursor: &mut Cursor<'t>) -> Result<&'t str, Doubt> {
    cursor.advance(1);
    let start = cursor.at;
    loop {
        match (cursor.peek(0), cursor.peek(1)) {
            (Some(b'"'), Some(b'"')) => cursor.advance(2),
            (Some(b'"'), _) => break,
            (Some(_), _) => cursor.advance(1),
            (None, _) => return Err(Doubt),
        }
    }
    let body = cursor.since(start);
    cursor.advance(1);
    if body.is_empty() { Err(Doubt) } else { Ok(body) }
}
