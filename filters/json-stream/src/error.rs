//! Why a body can't be rewritten.

use std::fmt;

use thiserror::Error;

/// Why a body can't be rewritten. Offsets count the bytes of the whole body from its beginning; no byte of it
/// is in an error. `E` is what the treatment of a value failed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RewriteError<E> {
    /// The body is not what its framing says.
    #[error("malformed JSON at byte {offset}: {reason}")]
    Malformed {
        /// The byte at fault, or the body's length where it ended too early.
        offset: u64,
        /// What is wrong there.
        reason: &'static str,
    },
    /// More of something than its limit allows.
    #[error("{what} past the limit at byte {offset}")]
    Limit {
        /// The first byte that is too much.
        offset: u64,
        /// What is too much.
        what: Exceeded,
    },
    /// The treatment of a value failed.
    #[error("a field could not be treated")]
    Field(E),
}

/// What was more than its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exceeded {
    /// Arrays and objects in one another: [`Limits::depth`](crate::Limits::depth).
    Depth,
    /// A key's length: [`Limits::key_bytes`](crate::Limits::key_bytes).
    KeyBytes,
    /// The length of a field's value: [`Limits::value_bytes`](crate::Limits::value_bytes).
    ValueBytes,
}

impl fmt::Display for Exceeded {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Depth => "arrays and objects nested",
            Self::KeyBytes => "an object's key",
            Self::ValueBytes => "a field's value",
        })
    }
}
