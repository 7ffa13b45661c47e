//! Whitespace, comments, operators, punctuation.

use super::{Cursor, Doubt, Kind};

/// Skips whitespace and comments.
pub(super) fn skip_blank(cursor: &mut Cursor<'_>) -> Result<(), Doubt> {
    loop {
        match (cursor.peek(0), cursor.peek(1)) {
            (Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C), _) => cursor.advance(1),
            (Some(b'-'), Some(b'-')) => cursor.skip_while(|b| b != b'\n' && b != b'\r'),
            (Some(b'/'), Some(b'*')) => skip_block(cursor)?,
            _ => return Ok(()),
        }
    }
}

/// Block comments nest.
fn skip_block(cursor: &mut Cursor<'_>) -> Result<(), Doubt> {
    let mut depth = 0_usize;
    loop {
        match (cursor.peek(0), cursor.peek(1)) {
            (Some(b'/'), Some(b'*')) => {
                depth = depth.saturating_add(1);
                cursor.advance(2);
            }
            (Some(b'*'), Some(b'/')) => {
                depth = depth.saturating_sub(1);
                cursor.advance(2);
                if depth == 0 {
                    return Ok(());
                }
            }
            (Some(_), _) => cursor.advance(1),
            (None, _) => return Err(Doubt),
        }
    }
}

fn is_operator(byte: u8) -> bool {
    b"~!@#^&|`?+-*/%<>=".contains(&byte)
}

pub(super) fn symbol(cursor: &mut Cursor<'_>) -> Result<Kind, Doubt> {
    match (cursor.peek(0), cursor.peek(1)) {
        (Some(b':'), Some(b':' | b'=')) | (Some(b'.'), Some(b'.')) => cursor.advance(2),
        (Some(b'(' | b')' | b'[' | b']' | b',' | b';' | b':' | b'.'), _) => cursor.advance(1),
        (Some(byte), _) if is_operator(byte) => operator(cursor),
        _ => return Err(Doubt),
    }
    Ok(Kind::Symbol)
}

/// The longest run of operator characters, up to a comment; without the `+` and `-` at its end unless one of
/// the characters that make it surely no SQL operator is in it.
fn operator(cursor: &mut Cursor<'_>) {
    // Signs behind an operator that lost its own: each is one of its own, and none is looked at twice.
    if cursor.at < cursor.signs_end {
        return cursor.advance(1);
    }
    let rest = cursor.rest();
    let is_comment = |at: usize| {
        rest.as_bytes().get(at..).is_some_and(|rest| rest.starts_with(b"--") || rest.starts_with(b"/*"))
    };
    let ends = |(at, byte): &(usize, u8)| !is_operator(*byte) || is_comment(*at);
    let end = rest.bytes().enumerate().find(ends).map_or(rest.len(), |(at, _)| at);
    let run = rest.get(..end).unwrap_or_default();
    let keeps_signs = run.contains(['~', '!', '@', '#', '^', '&', '|', '`', '?', '%']);
    let kept = if keeps_signs { run } else { run.trim_end_matches(['+', '-']) };
    cursor.signs_end = cursor.at.saturating_add(run.len());
    cursor.advance(kept.len().max(1));
}
