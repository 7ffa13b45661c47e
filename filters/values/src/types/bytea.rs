//! `bytea`: `\x` and lower-case hexadecimal; the escape form is read too.

use crate::ValueError;

const KIND: &str = "bytea";
const HEX: &[u8; 16] = b"0123456789abcdef";

fn parse(text: &str) -> Result<Vec<u8>, ValueError> {
    match text.strip_prefix("\\x") {
        Some(hex) => parse_hex(hex),
        None => parse_escape(text.as_bytes()),
    }
}

fn parse_hex(hex: &str) -> Result<Vec<u8>, ValueError> {
    let mut bytes = Vec::with_capacity(hex.len() / 2);
    let mut chars = hex.chars();
    while let Some(high) = chars.next() {
        // White space may stand between pairs, not within.
        if matches!(high, ' ' | '\n' | '\t' | '\r') {
            continue;
        }
        let digit = |c: Option<char>| c.and_then(|c| c.to_digit(16)).and_then(|d| u8::try_from(d).ok());
        let (Some(high), Some(low)) = (digit(Some(high)), digit(chars.next())) else {
            return Err(ValueError::Invalid(KIND));
        };
        bytes.push((high << 4) | low);
    }
    Ok(bytes)
}

fn parse_escape(mut rest: &[u8]) -> Result<Vec<u8>, ValueError> {
    let mut bytes = Vec::with_capacity(rest.len());
    while let Some((first, tail)) = rest.split_first() {
        let (byte, tail) = match (first, tail) {
            (b'\\', [b'\\', tail @ ..]) => (b'\\', tail),
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..]) => {
                (((a & 3) << 6) | ((b & 7) << 3) | (c & 7), tail)
            }
            (b'\\', _) => return Err(ValueError::Invalid(KIND)),
            (byte, tail) => (*byte, tail),
        };
        bytes.push(byte);
        rest = tail;
    }
    Ok(bytes)
}

/// The bytes of a `bytea` in either of the text forms that the server sends, hex or escape.
pub fn bytea_from_text(text: &[u8]) -> Result<Vec<u8>, ValueError> {
    parse(std::str::from_utf8(text).map_err(|_| ValueError::Invalid(KIND))?)
}

/// Bytes of the text of so many bytes.
pub(crate) fn max_text_bytes(most: u32) -> Option<usize> {
    usize::try_from(most).ok()?.checked_mul(2)?.checked_add("\\x".len())
}

pub(crate) fn canonicalize(text: &str, most: Option<u32>) -> Result<String, ValueError> {
    let bytes = parse(text)?;
    match most {
        Some(most) if usize::try_from(most).is_ok_and(|most| bytes.len() > most) => {
            Err(ValueError::TooManyBytes(most))
        }
        _ => Ok(decode(&bytes)),
    }
}

pub(crate) fn encode(text: &str) -> Result<Vec<u8>, ValueError> {
    parse(text)
}

pub(crate) fn decode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().saturating_mul(2).saturating_add(2));
    text.push_str("\\x");
    let digit = |value: u8| char::from(HEX.get(usize::from(value)).copied().unwrap_or(b'0'));
    text.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
    text
}
