//! Strings of all styles, and parameters (which start like dollar quotes).

use zeroize::Zeroizing;

use super::{Cursor, Doubt, Kind, Style, word};

/// A string or identifier with a prefix letter: `E'`, `U&'`, `U&"`, `N'`, `B'`, `X'`.
pub(super) fn prefixed(cursor: &mut Cursor<'_>) -> Result<Option<Kind>, Doubt> {
    let kind = match (cursor.peek(0), cursor.peek(1), cursor.peek(2)) {
        (Some(b'e' | b'E'), Some(b'\''), _) => {
            cursor.advance(1);
            escaped(cursor)?
        }
        (Some(b'u' | b'U'), Some(b'&'), Some(b'\'')) => {
            cursor.advance(2);
            unicode(cursor)?
        }
        (Some(b'u' | b'U'), Some(b'&'), Some(b'"')) => {
            cursor.advance(2);
            word::unicode(cursor)?
        }
        (Some(b'n' | b'N' | b'b' | b'B' | b'x' | b'X'), Some(b'\''), _) => {
            cursor.advance(1);
            other(cursor)?
        }
        _ => return Ok(None),
    };
    Ok(Some(kind))
}

pub(super) fn plain(cursor: &mut Cursor<'_>) -> Result<Kind, Doubt> {
    Ok(Kind::Text { value: continued(cursor)?, style: Style::Plain })
}

/// Reads a string with what it goes on with on the next line: `'a'⏎'b'` is one string. One with a comment between is left apart,
/// for the parser refuses it then, and no comment is within a token.
fn continued(cursor: &mut Cursor<'_>) -> Result<Zeroizing<String>, Doubt> {
    let first = body(cursor)?;
    if !reach_continuation(cursor) {
        return Ok(Zeroizing::new(first.replace("''", "'")));
    }
    let mut parts = vec![first, body(cursor)?];
    while reach_continuation(cursor) {
        parts.push(body(cursor)?);
    }
    // It never grows, so that no part of it is left behind in other memory.
    let mut value = Zeroizing::new(String::with_capacity(parts.iter().map(|part| part.len()).sum()));
    for part in parts {
        for (index, piece) in part.split("''").enumerate() {
            value.push_str(if index == 0 { "" } else { "'" });
            value.push_str(piece);
        }
    }
    Ok(value)
}

/// Goes to the quote with which a string continues behind the end of a line. Returns whether it does.
pub(super) fn reach_continuation(cursor: &mut Cursor<'_>) -> bool {
    // Of what is blank to some servers alone it is not certain.
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c');
    let ahead = cursor.rest().as_bytes();
    let blanks = ahead.iter().take_while(is_blank).count();
    let has_line_end = ahead.iter().take(blanks).any(|byte| matches!(byte, b'\n' | b'\r'));
    let is_continued = has_line_end && ahead.get(blanks) == Some(&b'\'');
    if is_continued {
        cursor.advance(blanks);
    }
    is_continued
}

/// `U&'d\0061t\+000061'`, also with an escape character of its own: `U&'d!0061t' UESCAPE '!'`. Where the value is not certain, it
/// is left as written, for the text around it is certain.
fn unicode(cursor: &mut Cursor<'_>) -> Result<Kind, Doubt> {
    let written = continued(cursor)?;
    let behind = cursor.at;
    let read = word::escape_character(cursor).and_then(|(mark, end)| {
        let value = word::unescaped(&written, mark)?;
        // The server takes no such character.
        if value.contains('\0') { Err(Doubt) } else { Ok((value, end)) }
    });
    let has_comment = |end: usize| cursor.text.get(behind..end).is_some_and(|t| t.contains(['-', '/']));
    match read {
        Ok((value, end)) if !has_comment(end) => {
            cursor.at = end;
            Ok(Kind::Text { value, style: Style::Unicode })
        }
        _ => Ok(Kind::Text { value: written, style: Style::Other }),
    }
}

fn other(cursor: &mut Cursor<'_>) -> Result<Kind, Doubt> {
    let value = Zeroizing::new(body(cursor)?.to_owned());
    Ok(Kind::Text { value, style: Style::Other })
}

/// What is between the quotes, doubled quotes left as they are. The cursor is at the first quote.
fn body<'t>(cursor: &mut Cursor<'t>) -> Result<&'t str, Doubt> {
    cursor.advance(1);
    let start = cursor.at;
    loop {
        match (cursor.peek(0), cursor.peek(1)) {
            (Some(b'\''), Some(b'\'')) => cursor.advance(2),
            (Some(b'\''), _) => break,
            (Some(_), _) => cursor.advance(1),
            (None, _) => return Err(Doubt),
        }
    }
    let body = cursor.since(start);
    cursor.advance(1);
    Ok(body)
}

/// `E'…'`: the value is decoded as the server does, also of what it goes on with on the next line. Octal and hexadecimal escapes
/// write bytes, which must make UTF-8 together.
pub(super) fn escaped(cursor: &mut Cursor<'_>) -> Result<Kind, Doubt> {
    let mut value = Zeroizing::new(Vec::new());
    escaped_part(cursor, &mut value)?;
    while reach_continuation(cursor) {
        escaped_part(cursor, &mut value)?;
    }
    let value = std::str::from_utf8(&value).map_err(|_| Doubt)?;
    Ok(Kind::Text { value: Zeroizing::new(value.to_owned()), style: Style::Escape })
}

fn escaped_part(cursor: &mut Cursor<'_>, value: &mut Vec<u8>) -> Result<(), Doubt> {
    cursor.advance(1);
    loop {
        match (cursor.peek(0), cursor.peek(1)) {
            (Some(b'\''), Some(b'\'')) => {
                value.push(b'\'');
                cursor.advance(2);
            }
            (Some(b'\''), _) => break,
            (Some(b'\\'), Some(escape)) => {
                cursor.advance(2);
                unescape(cursor, escape, value)?;
            }
            (Some(byte), _) => {
                value.push(byte);
                cursor.advance(1);
            }
            (None, _) => return Err(Doubt),
        }
    }
    cursor.advance(1);
    Ok(())
}

fn unescape(cursor: &mut Cursor<'_>, escape: u8, value: &mut Vec<u8>) -> Result<(), Doubt> {
    let byte = match escape {
        b'b' => 0x08,
        b'f' => 0x0C,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0B,
        b'0'..=b'7' => {
            let mut code = u32::from(escape.saturating_sub(b'0'));
            for _ in 0..2 {
                let Some(digit @ b'0'..=b'7') = cursor.peek(0) else { break };
                code = code.saturating_mul(8).saturating_add(u32::from(digit.saturating_sub(b'0')));
                cursor.advance(1);
            }
            u8::try_from(code).map_err(|_| Doubt)?
        }
        b'x' if cursor.peek(0).is_some_and(|b| b.is_ascii_hexdigit()) => {
            let two = cursor.peek(1).is_some_and(|b| b.is_ascii_hexdigit());
            u8::try_from(hexadecimal(cursor, if two { 2 } else { 1 })?).map_err(|_| Doubt)?
        }
        b'u' | b'U' => {
            let code = hexadecimal(cursor, if escape == b'u' { 4 } else { 8 })?;
            // Surrogate pairs are left in doubt.
            let scalar = char::from_u32(code).filter(|c| *c != '\0').ok_or(Doubt)?;
            value.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes());
            return Ok(());
        }
        other => other,
    };
    if byte == 0 {
        return Err(Doubt);
    }
    value.push(byte);
    Ok(())
}

fn hexadecimal(cursor: &mut Cursor<'_>, digits: usize) -> Result<u32, Doubt> {
    let digits = cursor.rest().get(..digits).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
    let digits = digits.ok_or(Doubt)?;
    cursor.advance(digits.len());
    u32::from_str_radix(digits, 16).map_err(|_| Doubt)
}

/// `$1`, `$$…$$`, `$tag$…$tag$`.
pub(super) fn dollar_or_parameter(cursor: &mut Cursor<'_>) -> Result<Kind, Doubt> {
    if cursor.peek(1).is_some_and(|b| b.is_ascii_digit()) {
        cursor.advance(1);
        let start = cursor.at;
        cursor.skip_while(|b| b.is_ascii_digit());
        let number = cursor.since(start).parse().ok();
        return match cursor.peek(0) {
            Some(byte) if word::is_start(byte) => Err(Doubt),
            _ => Ok(Kind::Parameter(number)),
        };
    }
    let start = cursor.at;
    cursor.advance(1);
    cursor.skip_while(|b| word::is_start(b) || b.is_ascii_digit());
    if cursor.peek(0) != Some(b'$') {
        return Err(Doubt);
    }
    cursor.advance(1);
    let tag = cursor.since(start);
    let value = cursor.rest().split_once(tag).ok_or(Doubt)?.0;
    cursor.advance(value.len());
    cursor.advance(tag.len());
    Ok(Kind::Text { value: Zeroizing::new(value.to_owned()), style: Style::Dollar })
}
