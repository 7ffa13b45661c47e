//! Why a value can not be put through FF1. No error carries a character of the value.

use crate::alphabet::{Alphabet, MAX_LEN, MIN_DOMAIN};

/// Why a value can not be put through FF1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Ff1Error {
    /// A character that the alphabet does not have, such as a space or a dash.
    #[error(
        "character {position} is not of the alphabet {alphabet} ({}); write the value without other characters, or give the label another alphabet or protection",
        alphabet.characters()
    )]
    OutsideAlphabet {
        /// The alphabet.
        alphabet: Alphabet,
        /// Which character, counted from 1.
        position: usize,
    },
    /// So short that there are fewer than [`MIN_DOMAIN`] values of its length: all of them could be tried.
    #[error(
        "the value has {len} characters, and with the alphabet {alphabet} at least {} are needed: there are fewer than {MIN_DOMAIN} shorter ones, which can be guessed; use another protection for such values",
        alphabet.min_len()
    )]
    TooShort {
        /// The alphabet.
        alphabet: Alphabet,
        /// Characters of the value.
        len: usize,
    },
    /// Longer than [`MAX_LEN`].
    #[error("the value has {len} characters, more than {MAX_LEN}; use another protection for such values")]
    TooLong {
        /// Characters of the value.
        len: usize,
    },
    /// Labels and tenants are set apart by NUL bytes in the input of the key.
    #[error("a label or tenant can not hold a NUL byte: rename it in the catalog")]
    Nul,
    /// The library refused what was checked before. It never should; it is an error so that nothing panics.
    #[error("FF1 refused a value that was checked before; please report this")]
    Refused,
}
