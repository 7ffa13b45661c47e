//! The alphabets that labels name. Their characters stand in ASCII order, which is part of the format: it is never changed.

use std::fmt;
use std::str::FromStr;

/// Values there must be at least of a length. NIST SP 800-38G Revision 1 asks for it: a smaller domain can be tried out,
/// and attacks on the cipher itself are known.
pub const MIN_DOMAIN: u32 = 1_000_000;

/// Characters of the longest value. The work grows with the square of the length, and no value that keeps a format
/// (card, account, phone number, token) is longer.
pub const MAX_LEN: usize = 256;

/// The characters of a value and of what it becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Alphabet {
    /// `0-9`.
    Digits,
    /// `0-9A-Za-z`.
    Alphanumeric,
    /// `0-9a-z`.
    AlphanumericLower,
    /// `0-9A-Z`.
    AlphanumericUpper,
}

impl Alphabet {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Digits, Self::Alphanumeric, Self::AlphanumericLower, Self::AlphanumericUpper];

    /// The name by which a label names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Digits => "digits",
            Self::Alphanumeric => "alphanumeric",
            Self::AlphanumericLower => "alphanumeric_lower",
            Self::AlphanumericUpper => "alphanumeric_upper",
        }
    }

    /// Its characters, as ranges.
    pub const fn characters(self) -> &'static str {
        match self {
            Self::Digits => "0-9",
            Self::Alphanumeric => "0-9A-Za-z",
            Self::AlphanumericLower => "0-9a-z",
            Self::AlphanumericUpper => "0-9A-Z",
        }
    }

    /// How many characters it has.
    pub const fn radix(self) -> u16 {
        match self {
            Self::Digits => 10,
            Self::Alphanumeric => 62,
            Self::AlphanumericLower | Self::AlphanumericUpper => 36,
        }
    }

    /// Characters of the shortest value: the least length of which there are [`MIN_DOMAIN`] values.
    pub const fn min_len(self) -> usize {
        match self {
            Self::Digits => 6,
            Self::Alphanumeric | Self::AlphanumericLower | Self::AlphanumericUpper => 4,
        }
    }

    /// The numeral that a character stands for.
    pub(crate) fn numeral(self, character: char) -> Option<u16> {
        let offset = |first: u8, numeral: u16| {
            u8::try_from(character).ok()?.checked_sub(first).map(u16::from)?.checked_add(numeral)
        };
        match (self, character) {
            (_, '0'..='9') => offset(b'0', 0),
            (Self::Alphanumeric | Self::AlphanumericUpper, 'A'..='Z') => offset(b'A', 10),
            (Self::AlphanumericLower, 'a'..='z') => offset(b'a', 10),
            (Self::Alphanumeric, 'a'..='z') => offset(b'a', 36),
            _ => None,
        }
    }

    /// The character that a numeral stands for.
    pub(crate) fn character(self, numeral: u16) -> Option<char> {
        let offset =
            |first: u8, numeral: u16| Some(char::from(first.checked_add(u8::try_from(numeral).ok()?)?));
        match (self, numeral) {
            (_, 0..=9) => offset(b'0', numeral),
            (Self::Alphanumeric | Self::AlphanumericUpper, 10..=35) => offset(b'A', numeral.checked_sub(10)?),
            (Self::AlphanumericLower, 10..=35) => offset(b'a', numeral.checked_sub(10)?),
            (Self::Alphanumeric, 36..=61) => offset(b'a', numeral.checked_sub(36)?),
            _ => None,
        }
    }
}

impl fmt::Display for Alphabet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No alphabet has the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is no alphabet; write digits, alphanumeric, alphanumeric_lower or alphanumeric_upper")]
pub struct UnknownAlphabet;

impl FromStr for Alphabet {
    type Err = UnknownAlphabet;

    fn from_str(name: &str) -> Result<Self, UnknownAlphabet> {
        Self::ALL.into_iter().find(|alphabet| alphabet.name() == name).ok_or(UnknownAlphabet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_stand_in_ascii_order_and_no_other_is_known() {
        for alphabet in Alphabet::ALL {
            let known: Vec<char> = (0..=u16::MAX).filter_map(|n| alphabet.character(n)).collect();
            assert_eq!(known.len(), usize::from(alphabet.radix()), "{alphabet}");
            assert!(known.is_sorted() && known.iter().all(char::is_ascii_alphanumeric), "{alphabet}");
            for character in (0..0x3000).filter_map(char::from_u32) {
                let numeral = alphabet.numeral(character);
                assert_eq!(numeral.is_some(), known.contains(&character), "{alphabet} {character}");
                assert_eq!(numeral.and_then(|n| alphabet.character(n)), numeral.map(|_| character));
            }
        }
    }

    #[test]
    fn characters_shown_are_those_that_are_taken() {
        for alphabet in Alphabet::ALL {
            let ranges: Vec<char> = alphabet.characters().chars().collect();
            let shown: String = ranges.chunks(3).flat_map(|range| range[0]..=range[2]).collect();
            let known: String = (0..alphabet.radix()).filter_map(|n| alphabet.character(n)).collect();
            assert_eq!(shown, known);
        }
    }

    #[test]
    fn shortest_length_is_the_first_with_a_million_values() {
        for alphabet in Alphabet::ALL {
            let values = |len: usize| u128::from(alphabet.radix()).pow(u32::try_from(len).unwrap());
            assert!(values(alphabet.min_len()) >= MIN_DOMAIN.into(), "{alphabet}");
            assert!(values(alphabet.min_len() - 1) < MIN_DOMAIN.into(), "{alphabet}");
        }
    }

    #[test]
    fn names_are_parsed_and_no_others() {
        for alphabet in Alphabet::ALL {
            assert_eq!(alphabet.name().parse(), Ok(alphabet));
        }
        for name in ["", "Digits", "digits ", "hex", "alphanumeric-lower"] {
            assert_eq!(name.parse::<Alphabet>(), Err(UnknownAlphabet), "{name}");
        }
    }
}
