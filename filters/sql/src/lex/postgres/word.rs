//! Identifiers and keywords.

use zeroize::Zeroizing;

use super::operator::skip_blank;
use super::{Cursor, Doubt, Kind, string};
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

/// `U&"d\0061t\+000061"`, also with an escape character of its own: `U&"d!0061t" UESCAPE '!'`.
pub(super) fn unicode(cursor: &mut Cursor<'_>) -> Result<Kind, Doubt> {
    let body = quoted_body(cursor)?.replace("\"\"", "\"");
    let (mark, _) = escape_character(cursor)?;
    Ok(Kind::Word { value: names::cut(&unescaped(&body, mark)?).to_owned(), quoted: true })
}

/// What is written with escapes that begin with this character.
pub(super) fn unescaped(body: &str, mark: char) -> Result<Zeroizing<String>, Doubt> {
    // No escape is shorter than its character, so that no part of the value is left behind in other memory.
    let mut value = Zeroizing::new(String::with_capacity(body.len()));
    let mut rest = body;
    while let Some((before, after)) = rest.split_once(mark) {
        value.push_str(before);
        let (escape, tail) = if let Some(tail) = after.strip_prefix(mark) {
            (mark, tail)
        } else if let Some(long) = after.strip_prefix('+') {
            (scalar(long.get(..6))?, long.get(6..).ok_or(Doubt)?)
        } else {
            (scalar(after.get(..4))?, after.get(4..).ok_or(Doubt)?)
        };
        value.push(escape);
        rest = tail;
    }
    value.push_str(rest);
    Ok(value)
}

/// The escape character that `UESCAPE` gives to the identifier or string before the cursor, and where the string that says so ends;
/// without one, the usual character, and where the cursor is.
pub(super) fn escape_character(cursor: &Cursor<'_>) -> Result<(char, usize), Doubt> {
    let mut ahead = Cursor { text: cursor.text, at: cursor.at, signs_end: 0 };
    skip_blank(&mut ahead)?;
    let start = ahead.at;
    ahead.skip_while(is_part);
    if !ahead.since(start).eq_ignore_ascii_case("uescape") {
        return Ok(('\\', cursor.at));
    }
    skip_blank(&mut ahead)?;
    let mut string = ahead.rest().chars();
    match (string.next(), string.next(), string.next(), string.next()) {
        (Some('\''), Some(mark), Some('\''), next) if next != Some('\'') && may_escape(mark) => {
            ahead.advance(mark.len_utf8().saturating_add(2));
            match string::reach_continuation(&mut ahead) {
                true => Err(Doubt),
                false => Ok((mark, ahead.at)),
            }
        }
        _ => Err(Doubt),
    }
}

/// What the server takes for an escape character.
fn may_escape(mark: char) -> bool {
    !(mark.is_ascii_hexdigit() || matches!(mark, '+' | '\'' | '"' | '\x0b') || mark.is_ascii_whitespace())
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
