//! How an envelope is laid out: its versions, and the lengths of their parts.

use core::fmt;

/// Bytes of a label tag.
pub const LABEL_TAG_LEN: usize = 4;

/// Bytes before the body: magic, version, label tag.
pub const HEADER_LEN: usize = 2 + LABEL_TAG_LEN;

/// Bytes of a blind index.
pub const INDEX_LEN: usize = 16;

/// The shortest envelope of any version, in bytes.
pub const MIN_LEN: usize = Version::V1.min_len();

/// The first byte of a Tink ciphertext of output prefix TINK, and the key id.
const TINK_PREFIX_LEN: usize = 5;
/// AES-SIV's synthetic IV: the least that an algorithm of ours adds.
const MIN_DETERMINISTIC_OVERHEAD: usize = 16;
/// A 12-byte nonce and a 16-byte tag: the least that an AEAD of ours adds.
const MIN_AEAD_OVERHEAD: usize = 28;

/// How the body is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Version {
    /// A Tink ciphertext, randomized or deterministic.
    V1,
    /// A blind index, then a randomized Tink ciphertext.
    V2,
}

impl Version {
    /// The version's byte.
    pub const fn byte(self) -> u8 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
        }
    }

    /// The version of that byte.
    pub const fn of(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::V1),
            2 => Some(Self::V2),
            _ => None,
        }
    }

    /// The shortest envelope of this version, in bytes: that of an empty plaintext.
    pub const fn min_len(self) -> usize {
        match self {
            Self::V1 => HEADER_LEN + TINK_PREFIX_LEN + MIN_DETERMINISTIC_OVERHEAD,
            Self::V2 => HEADER_LEN + INDEX_LEN + TINK_PREFIX_LEN + MIN_AEAD_OVERHEAD,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "version {}", self.byte())
    }
}
