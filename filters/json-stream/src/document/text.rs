//! What stands between a string's quotes: its characters and escapes are checked, none is decoded.

use crate::plain::{plain, run};

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
    #[inline(always)]
    pub(super) fn read(&mut self, bytes: &[u8], at: &mut usize) -> Result<bool, &'static str> {
        if *self == Self::Plain && Self::read_plain(bytes, at) {
            return Ok(true);
        }
        // Copies, so that those of the caller can stay in registers.
        let (mut text, mut reached) = (*self, *at);
        let read = text.read_on(bytes, &mut reached);
        (*self, *at) = (text, reached);
        read
    }

    /// Reads on over ASCII without escapes, of which most strings are, between two characters. True if the closing quote came,
    /// which is read then.
    #[inline(always)]
    pub(super) fn read_plain(bytes: &[u8], at: &mut usize) -> bool {
        *at = at.saturating_add(plain(bytes.get(*at..).unwrap_or_default()));
        let is_closed = bytes.get(*at) == Some(&b'"');
        *at = at.saturating_add(usize::from(is_closed));
        is_closed
    }

    #[inline(never)]
    fn read_on(&mut self, bytes: &[u8], at: &mut usize) -> Result<bool, &'static str> {
        loop {
            if *self == Self::Plain {
                *at = at.saturating_add(plain(bytes.get(*at..).unwrap_or_default()));
                if bytes.get(*at).is_some_and(|byte| !byte.is_ascii()) {
                    *at = at.saturating_add(characters(bytes.get(*at..).unwrap_or_default()));
                }
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

/// How many bytes from the beginning are whole characters that stand for themselves. What is not, or not whole, is read byte by
/// byte behind them.
fn characters(bytes: &[u8]) -> usize {
    let unescaped = bytes.get(..run(bytes)).unwrap_or_default();
    std::str::from_utf8(unescaped).map_or_else(|error| error.valid_up_to(), str::len)
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

    /// Where reading stops, and how, when so many bytes come at once.
    fn read_in_pieces(bytes: &[u8], of: usize) -> (usize, Result<bool, &'static str>) {
        let (mut state, mut begin) = (Text::Plain, 0);
        for piece in bytes.chunks(of) {
            let mut at = 0;
            let read = state.read(piece, &mut at);
            if read != Ok(false) {
                return (begin + at, read);
            }
            begin += piece.len();
        }
        (begin, Ok(false))
    }

    #[test]
    fn runs_of_characters_are_read_as_byte_by_byte() {
        const PARTS: [&[u8]; 13] = [
            b"a",
            b"abcdefgh",
            b"no escapes, and longer than eight",
            "ä".as_bytes(),
            "字字字字".as_bytes(),
            "😀".as_bytes(),
            b"\\n",
            b"\\u00e4",
            b"\"",
            b"\x01",
            b"\xff",
            b"\xe2\x82",
            b"\xed\xa0\x80",
        ];
        for first in PARTS {
            for second in PARTS {
                for third in PARTS {
                    let bytes = [first, second, third].concat();
                    let expected = read_in_pieces(&bytes, 1);
                    for of in [2, 3, 7, 8, 9, bytes.len()] {
                        assert_eq!(read_in_pieces(&bytes, of), expected, "{bytes:x?} in pieces of {of}");
                    }
                }
            }
        }
    }
}
