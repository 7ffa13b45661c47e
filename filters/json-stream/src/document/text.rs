//! What stands between a string's quotes: its characters and escapes are checked, none is decoded.

use super::fault::Fault;
use crate::plain::{behind_plain, run};

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

impl Text {
    /// Reads on, and leaves what is not read: what is behind the closing quote if this is true, from the byte at
    /// fault on if it fails.
    pub(super) fn read(&mut self, rest: &mut &[u8]) -> Result<bool, Fault> {
        // Copies, which can stay in registers.
        let (mut text, mut left) = (*self, *rest);
        let read = text.read_on(&mut left);
        (*self, *rest) = (text, left);
        read
    }

    #[inline(always)]
    fn read_on(&mut self, rest: &mut &[u8]) -> Result<bool, Fault> {
        loop {
            if *self == Self::Plain {
                *rest = behind_plain(rest);
                // A character of two to four bytes with another behind it, as in a text of a script other than Latin: then many
                // are looked at together. One alone is read byte by byte.
                if let [0x80..=0xff, _, _, 0x80..=0xff, ..] = rest {
                    *rest = rest.get(characters(rest)..).unwrap_or_default();
                }
            }
            let [byte, behind @ ..] = *rest else { return Ok(false) };
            let closed = *self == Self::Plain && *byte == b'"';
            if !closed {
                *self = self.after(*byte)?;
            }
            *rest = behind;
            if closed {
                return Ok(true);
            }
        }
    }

    fn after(self, byte: u8) -> Result<Self, Fault> {
        match (self, byte) {
            (Self::Plain, b'\\') => Ok(Self::Escape),
            (Self::Plain, 0..0x20) => Err(Fault::ControlCharacter),
            (Self::Plain, 0..0x80) => Ok(Self::Plain),
            (Self::Plain, _) => lead(byte),
            (Self::Escape, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(Self::Plain),
            (Self::Escape, b'u') => Ok(Self::Hex(4)),
            (Self::Escape, _) => Err(Fault::Escape),
            (Self::Hex(left), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => match left.saturating_sub(1) {
                0 => Ok(Self::Plain),
                left => Ok(Self::Hex(left)),
            },
            (Self::Hex(_), _) => Err(Fault::HexDigits),
            (Self::Utf8 { left, low, high }, _) if (low..=high).contains(&byte) => {
                match left.saturating_sub(1) {
                    0 => Ok(Self::Plain),
                    left => Ok(Self::Utf8 { left, low: 0x80, high: 0xbf }),
                }
            }
            (Self::Utf8 { .. }, _) => Err(Fault::NoUtf8),
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
fn lead(byte: u8) -> Result<Text, Fault> {
    let (left, low, high) = match byte {
        0xc2..=0xdf => (1, 0x80, 0xbf),
        0xe0 => (2, 0xa0, 0xbf),
        0xe1..=0xec | 0xee..=0xef => (2, 0x80, 0xbf),
        0xed => (2, 0x80, 0x9f),
        0xf0 => (3, 0x90, 0xbf),
        0xf1..=0xf3 => (3, 0x80, 0xbf),
        0xf4 => (3, 0x80, 0x8f),
        _ => return Err(Fault::NoUtf8),
    };
    Ok(Text::Utf8 { left, low, high })
}

#[cfg(test)]
mod tests {
    use super::{Fault, Text};

    #[test]
    fn every_character_is_read_and_every_other_two_bytes_are_refused_as_the_standard_library_does() {
        for first in 0x80..=u8::MAX {
            for second in 0..=u8::MAX {
                for rest in [&b""[..], &[0x80], &[0x80, 0xbf], &[0xc0]] {
                    let bytes = [&[first, second], rest, b"\""].concat();
                    let text = &bytes[..bytes.len() - 1];
                    let is_plain = text.iter().all(|byte| *byte >= 0x20 && *byte != b'"' && *byte != b'\\');
                    let expected = std::str::from_utf8(text).is_ok() && is_plain;
                    let (mut state, mut left) = (Text::Plain, &bytes[..]);
                    let read = state.read(&mut left) == Ok(true) && left.is_empty();
                    assert_eq!(read, expected, "{bytes:x?}");
                }
            }
        }
    }

    /// Where reading stops, and how, when so many bytes come at once.
    fn read_in_pieces(bytes: &[u8], of: usize) -> (usize, Result<bool, Fault>) {
        let (mut state, mut begin) = (Text::Plain, 0);
        for piece in bytes.chunks(of) {
            let mut left = piece;
            let read = state.read(&mut left);
            begin += piece.len() - left.len();
            if read != Ok(false) {
                return (begin, read);
            }
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
