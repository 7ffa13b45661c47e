//! JSON strings and the text that they stand for.

use std::ops::Deref;

use thiserror::Error;
use zeroize::Zeroizing;

use crate::plain::run;

/// A text that is no JSON string, or one that stands for no Unicode text (a lone surrogate).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("not a JSON string that stands for Unicode text")]
pub struct NotAString;

/// The text that a JSON string stands for, as UTF-8.
pub enum StringText<'j> {
    /// It has no escapes: it stands in the JSON as it is.
    Plain(&'j [u8]),
    /// It had escapes.
    Unescaped(Zeroizing<Vec<u8>>),
}

impl Deref for StringText<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Plain(text) => text,
            Self::Unescaped(text) => text,
        }
    }
}

/// The text that a JSON string, quotes included, stands for. It is copied only if it has escapes.
pub fn read_string(json: &[u8]) -> Result<StringText<'_>, NotAString> {
    let inside = json.strip_prefix(b"\"").and_then(|json| json.strip_suffix(b"\"")).ok_or(NotAString)?;
    if run(inside) == inside.len() {
        return std::str::from_utf8(inside).map(|_| StringText::Plain(inside)).map_err(|_| NotAString);
    }
    let mut text = Zeroizing::new(Vec::with_capacity(inside.len()));
    unescape(inside, &mut text)?;
    Ok(StringText::Unescaped(text))
}

/// Appends a text as a JSON string with its quotes; what need not be escaped is not.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let (plain, special) = rest.split_at(run(rest));
        out.extend_from_slice(plain);
        let Some((byte, after)) = special.split_first() else { break };
        rest = after;
        match *byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            0x08 => out.extend(b"\\b"),
            b'\t' => out.extend(b"\\t"),
            b'\n' => out.extend(b"\\n"),
            0x0c => out.extend(b"\\f"),
            b'\r' => out.extend(b"\\r"),
            0x00..0x20 => {
                out.extend(b"\\u00");
                out.extend([byte >> 4, byte & 0x0f].map(hex_digit));
            }
            byte => out.push(byte),
        }
    }
    out.push(b'"');
}

fn hex_digit(value: u8) -> u8 {
    match value {
        0..10 => b'0'.wrapping_add(value),
        _ => b'a'.wrapping_add(value.wrapping_sub(10)),
    }
}

/// Appends what stands between a string's quotes, with its escapes decoded.
pub(crate) fn unescape(mut inside: &[u8], text: &mut Vec<u8>) -> Result<(), NotAString> {
    let begin = text.len();
    loop {
        let (plain, rest) = inside.split_at(run(inside));
        text.extend_from_slice(plain);
        match rest {
            [] => break,
            [b'\\', escaped, after @ ..] => inside = escape(*escaped, after, text)?,
            _ => return Err(NotAString),
        }
    }
    let written = text.get(begin..).ok_or(NotAString)?;
    std::str::from_utf8(written).map(|_| ()).map_err(|_| NotAString)
}

/// Decodes one escape, whose backslash and letter are read, and gives what is after it.
fn escape<'a>(escaped: u8, after: &'a [u8], text: &mut Vec<u8>) -> Result<&'a [u8], NotAString> {
    let byte = match escaped {
        b'"' | b'\\' | b'/' => escaped,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'u' => {
            let (scalar, after) = scalar(after)?;
            text.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes());
            return Ok(after);
        }
        _ => return Err(NotAString),
    };
    text.push(byte);
    Ok(after)
}

/// The character whose four digits come, or whose eight do with the second half's `\u` between.
fn scalar(digits: &[u8]) -> Result<(char, &[u8]), NotAString> {
    let (first, after) = unit(digits)?;
    if !(0xd800..0xdc00).contains(&first) {
        return Ok((char::from_u32(first).ok_or(NotAString)?, after));
    }
    let (second, after) = unit(after.strip_prefix(b"\\u").ok_or(NotAString)?)?;
    let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400).ok_or(NotAString)?;
    let code = 0x1_0000_u32.wrapping_add((first & 0x3ff) << 10).wrapping_add(low);
    Ok((char::from_u32(code).ok_or(NotAString)?, after))
}

/// A UTF-16 code unit in four hexadecimal digits (RFC 8259, section 7).
fn unit(digits: &[u8]) -> Result<(u32, &[u8]), NotAString> {
    let (digits, after) = digits.split_first_chunk::<4>().ok_or(NotAString)?;
    let mut unit = 0_u32;
    for digit in digits {
        unit = (unit << 4) | char::from(*digit).to_digit(16).ok_or(NotAString)?;
    }
    Ok((unit, after))
}
