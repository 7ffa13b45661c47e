//! Operators, punctuation, and the parameter's mark.

use super::{Cursor, Doubt, Kind, word};

/// `?`, counted from 1. Before what may be a name it is none.
pub(super) fn parameter(cursor: &mut Cursor<'_>, before: &mut u16) -> Result<Kind, Doubt> {
    cursor.advance(1);
    if cursor.peek(0).is_some_and(word::is_part) {
        return Err(Doubt);
    }
    let number = before.checked_add(1);
    *before = number.unwrap_or(u16::MAX);
    Ok(Kind::Parameter(number))
}

pub(super) fn symbol(cursor: &mut Cursor<'_>) -> Result<Kind, Doubt> {
    let length = match (cursor.peek(0), cursor.peek(1), cursor.peek(2)) {
        (Some(b'<' | b'>' | b'=' | b'!'), _, _) => comparison(cursor)?,
        (Some(b'-'), Some(b'>'), Some(b'>')) => 3,
        (Some(b'-'), Some(b'>'), _)
        | (Some(b':'), Some(b'='), _)
        | (Some(b'&'), Some(b'&'), _)
        | (Some(b'|'), Some(b'|'), _) => 2,
        (
            Some(
                b'(' | b')' | b'{' | b'}' | b',' | b';' | b':' | b'.' | b'+' | b'-' | b'*' | b'/' | b'%'
                | b'^' | b'~' | b'&' | b'|',
            ),
            _,
            _,
        ) => 1,
        _ => return Err(Doubt),
    };
    cursor.advance(length);
    Ok(Kind::Symbol)
}

/// A run of such characters that isn't one operator is read in strange ways.
fn comparison(cursor: &Cursor<'_>) -> Result<usize, Doubt> {
    let run = cursor.rest().bytes().take_while(|b| b"<>=!".contains(b)).count();
    let run = cursor.rest().get(..run).unwrap_or_default();
    let known = ["=", "<", ">", "!", "<=", ">=", "<>", "!=", "<=>", "<<", ">>"];
    if known.contains(&run) { Ok(run.len()) } else { Err(Doubt) }
}
