//! Numbers, and names that begin with a digit.

use zeroize::Zeroizing;

use super::{Cursor, Doubt, Kind, Style, word};

/// `42`, `4.2`, `4e-2`, `0x2A`, `0b10`, `4a`. What a number runs into is another token to the server; that is in doubt.
pub(super) fn number_or_name(cursor: &mut Cursor<'_>) -> Result<Kind, Doubt> {
    let run = cursor.rest().bytes().take_while(|b| word::is_part(*b)).count();
    let run = cursor.rest().get(..run).ok_or(Doubt)?;
    if let Some(digits) = run.strip_prefix("0x").filter(|digits| is_of(digits, |b| b.is_ascii_hexdigit())) {
        cursor.advance(run.len());
        return Ok(hexadecimal(digits));
    }
    if let Some(digits) = run.strip_prefix("0b").filter(|digits| is_of(digits, |b| matches!(b, b'0' | b'1')))
    {
        cursor.advance(run.len());
        return Ok(Kind::Text { value: Zeroizing::new(digits.to_owned()), style: Style::Bits });
    }
    let digits = run.bytes().take_while(u8::is_ascii_digit).count();
    match run.as_bytes().get(digits) {
        None => decimal(cursor),
        // `1e5`, `1e-5`, and `1e` and what follows, where the sign may be an operator.
        Some(b'e' | b'E') => match cursor.peek(digits.saturating_add(1)) {
            Some(b'0'..=b'9' | b'+' | b'-') => decimal(cursor),
            _ => word::plain(cursor),
        },
        Some(_) => word::plain(cursor),
    }
}

fn is_of(digits: &str, test: impl Fn(u8) -> bool) -> bool {
    !digits.is_empty() && digits.bytes().all(test)
}

/// An even number of hexadecimal digits.
pub(super) fn hexadecimal(digits: &str) -> Kind {
    let zero = if digits.len().is_multiple_of(2) { "" } else { "0" };
    Kind::Text { value: Zeroizing::new(format!("{zero}{digits}")), style: Style::Hex }
}

/// `42`, `4.2`, `.2`, `4e-2`
pub(super) fn decimal(cursor: &mut Cursor<'_>) -> Result<Kind, Doubt> {
    let digits = |cursor: &mut Cursor<'_>| cursor.skip_while(|b| b.is_ascii_digit());
    digits(cursor);
    if cursor.peek(0) == Some(b'.') {
        cursor.advance(1);
        digits(cursor);
    }
    if matches!(cursor.peek(0), Some(b'e' | b'E')) {
        cursor.advance(1);
        if matches!(cursor.peek(0), Some(b'+' | b'-')) {
            cursor.advance(1);
        }
        if !cursor.peek(0).is_some_and(|b| b.is_ascii_digit()) {
            return Err(Doubt);
        }
        digits(cursor);
    }
    match cursor.peek(0) {
        Some(byte) if word::is_part(byte) || byte == b'.' => Err(Doubt),
        _ => Ok(Kind::Number),
    }
}
