//! Numbers.

use super::{Cursor, Doubt, Kind, word};

/// `42`, `4.2`, `.2`, `4e-2`, `0x2A`, `4_2`. A number that runs into a letter is an error since PostgreSQL 15,
/// and two tokens before: in doubt, then.
pub(super) fn number(cursor: &mut Cursor<'_>) -> Result<Kind, Doubt> {
    if cursor.peek(0) == Some(b'0') && matches!(cursor.peek(1), Some(b'x' | b'X' | b'o' | b'O' | b'b' | b'B'))
    {
        cursor.advance(2);
        cursor.skip_while(|b| b.is_ascii_hexdigit() || b == b'_');
    } else {
        digits(cursor);
        // `1..2` is a number, two dots and a number (a loop's range in PL/pgSQL).
        if cursor.peek(0) == Some(b'.') && cursor.peek(1) != Some(b'.') {
            cursor.advance(1);
            digits(cursor);
        }
        exponent(cursor);
    }
    match cursor.peek(0) {
        Some(byte) if word::is_start(byte) => Err(Doubt),
        _ => Ok(Kind::Number),
    }
}

fn digits(cursor: &mut Cursor<'_>) {
    cursor.skip_while(|b| b.is_ascii_digit() || b == b'_');
}

fn exponent(cursor: &mut Cursor<'_>) {
    if !matches!(cursor.peek(0), Some(b'e' | b'E')) {
        return;
    }
    let sign = usize::from(matches!(cursor.peek(1), Some(b'+' | b'-')));
    if cursor.peek(sign.saturating_add(1)).is_some_and(|b| b.is_ascii_digit()) {
        cursor.advance(sign.saturating_add(1));
        digits(cursor);
    }
}
