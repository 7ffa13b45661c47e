//! Characters that stand for bytes besides ASCII's that are not converted, so that the text around them can be read.
//!
//! In an encoding that a server may have itself, each byte of ASCII is that character, and the server reads all other bytes as
//! letters: of names, or of what is in quotes. For each such byte a text has a character here that no other text has: one for
//! private use, in a range of the encoding's own.

/// The first of the characters for private use that are none of the Basic Multilingual Plane.
const FIRST: u32 = 0x10_0000;
/// Behind the last of them that stands for a byte. There are fewer encodings than this has room for.
const END: u32 = FIRST + 0x4000;

/// The stand-ins of one encoding.
#[derive(Clone, Copy)]
pub(super) struct StandIns {
    /// The one that a byte of 0 would have.
    base: u32,
}

impl StandIns {
    /// Returns those of the encoding of this number.
    pub fn of(number: usize) -> Option<Self> {
        let base = u32::try_from(number).ok()?.checked_mul(0x100)?.checked_add(FIRST)?;
        (base < END).then_some(Self { base })
    }

    /// Returns the text in which these bytes are what they stand for.
    pub fn read(self, bytes: &[u8]) -> String {
        let letter = |byte: &u8| match byte.is_ascii() {
            true => char::from(*byte),
            false => char::from_u32(self.base.saturating_add(u32::from(*byte))).unwrap_or('\u{fffd}'),
        };
        bytes.iter().map(letter).collect()
    }

    /// Returns the bytes that a text was read from; None if it has another character.
    pub fn write(self, text: &str) -> Option<Vec<u8>> {
        let byte = |letter: char| match u8::try_from(letter) {
            Ok(byte) if byte.is_ascii() => Some(byte),
            _ => u8::try_from(u32::from(letter).checked_sub(self.base)?).ok().filter(|byte| !byte.is_ascii()),
        };
        text.chars().map(byte).collect()
    }
}

/// Whether a text has a stand-in of any encoding.
pub(in crate::postgres) fn has_stand_ins(text: &str) -> bool {
    // The first byte of each of them.
    text.as_bytes().contains(&0xf4) && text.chars().any(|letter| (FIRST..END).contains(&u32::from(letter)))
}

#[cfg(test)]
mod tests {
    use super::{StandIns, has_stand_ins};

    #[test]
    fn bytes_are_read_and_written_again() {
        let (one, other) = (StandIns::of(1).unwrap(), StandIns::of(33).unwrap());
        let bytes = Vec::from_iter(1..=u8::MAX);
        let text = one.read(&bytes);
        assert_eq!(one.write(&text), Some(bytes));
        assert!(has_stand_ins(&text) && !has_stand_ins("a é \u{10ffff}"));
        assert!(
            other.write(&text).is_none() && one.write("é").is_none() && one.write("\u{100180}").is_some()
        );
        assert!(StandIns::of(64).is_none());
    }
}
