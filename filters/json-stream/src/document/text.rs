//! What stands between a string's quotes: its characters and escapes are checked, none is decoded.

use crate::plain::plain;

/// How far a string is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    /// Between two characters.
    Plain,
    /// After a backslash.
    Escape,
    /// After `\u`: this many digits are to come.
    Hex(u8),
    /// In a character of several bytes: this many are to come, and the next is within these bounds.
    Utf8 { left: u8, low: u8, high: u8 },
}

const CONTROL: &str = "a control character in a string must be escaped";
const ESCAPE: &str = "a backslash must be followed by one of \" \\ / b f n r t u";
const HEX: &str = "\\u must be followed by four hexadecimal digits";
const UTF8: &str = "a string must be UTF-8";

impl Text {
    /// Reads on from `at`, which is left at the first byte not read: after the closing quote if this is true,
    /// at the byte at fault if it fails.
    pub(super) fn read(&mut self, bytes: &[u8], at: &mut usize) -> Result<bool, &'static str> {
        loop {
            // Between characters of several bytes there is no run to look for.
            if *self == Self::Plain && bytes.get(*at).is_some_and(u8::is_ascii) {
                *at = at.saturating_add(plain(bytes.get(*at..).unwrap_or_default()));
            }
            let Some(byte) = bytes.get(*at) else { return Ok(false) };
            let closed = *self == Self::Plain && *byte == b'"';
            if !closed {
                *self = self.after(*byte)?;
            }
            *at = at.saturating_add(1);
            if closed {
                return Ok(true);
            }
        }
    }

    fn after(self, byte: u8) -> Result<Self, &'static str> {
        match (self, byte) {
            (Self::Plain, b'\\') => Ok(Self::Escape),
            (Self::Plain, 0..0x20) => Err(CONTROL),
            (Self::Plain, 0..0x80) => Ok(Self::Plain),
            (Self::Plain, _) => lead(byte),
            (Self::Escape, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(Self::Plain),
            (Self::Escape, b'u') => Ok(Self::Hex(4)),
            (Self::Escape, _) => Err(ESCAPE),
            (Self::Hex(left), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => match left.saturating_sub(1) {
                0 => Ok(Self::Plain),
                left => Ok(Self::Hex(left)),
            },
            (Self::Hex(_), _) => Err(HEX),
            (Self::Utf8 { left, low, high }, _) if (low..=high).contains(&byte) => {
                match left.saturating_sub(1) {
                    0 => Ok(Self::Plain),
                    left => Ok(Self::Utf8 { left, low: 0x80, high: 0xbf }),
                }
            }
            (Self::Utf8 { .. }, _) => Err(UTF8),
        }
    }
}

/// After the first byte of several: no overlong form, no surrogate, nothing past U+10FFFF (RFC 3629, section 4).
fn lead(byte: u8) -> Result<Text, &'static str> {
    let (left, low, high) = match byte {
        0xc2..=0xdf => (1, 0x80, 0xbf),
        0xe0 => (2, 0xa0, 0xbf),
        0xe1..=0xec | 0xee..=0xef => (2, 0x80, 0xbf),
        0xed => (2, 0x80, 0x9f),
        0xf0 => (3, 0x90, 0xbf),
        0xf1..=0xf3 => (3, 0x80, 0xbf),
        0xf4 => (3, 0x80, 0x8f),
        _ => return Err(UTF8),
    };
    Ok(Text::Utf8 { left, low, high })
}

#[cfg(test)]
mod tests {
    use super::Text;

    #[test]
    fn every_character_is_read_and_every_other_two_bytes_are_refused_as_the_standard_library_does() {
        for first in 0x80..=u8::MAX {
            for second in 0..=u8::MAX {
                for rest in [&b""[..], &[0x80], &[0x80, 0xbf], &[0xc0]] {
                    let bytes = [&[first, second], rest, b"\""].concat();
                    let text = &bytes[..bytes.len() - 1];
                    let is_plain = text.iter().all(|byte| *byte >= 0x20 && *byte != b'"' && *byte != b'\\');
                    let expected = std::str::from_utf8(text).is_ok() && is_plain;
                    let (mut state, mut at) = (Text::Plain, 0);
                    let read = state.read(&bytes, &mut at) == Ok(true) && at == bytes.len();
                    assert_eq!(read, expected, "{bytes:x?}");
                }
            }
        }
    }
}
