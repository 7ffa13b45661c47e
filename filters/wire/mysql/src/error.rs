//! What can be wrong with a message, and whose fault it is.

use thiserror::Error;

/// Whose fault a [`WireError`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Blame {
    /// The peer sent bytes that are not the protocol: end the connection (ER_MALFORMED_PACKET, SQLSTATE HY000).
    Malformed,
    /// The peer sent something valid that is not served: say so (SQLSTATE 08004).
    Unsupported,
    /// Our own code asked for a message that can't be written.
    Misuse,
}

/// Why a message can't be read or written. `message` is the protocol's name of the message, `what` the part
/// of it at fault; bytes of the message are never in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WireError {
    /// A message longer than its reader takes.
    #[error("{message}: more than {limit} bytes")]
    TooLarge {
        /// The message.
        message: &'static str,
        /// The reader's limit.
        limit: usize,
    },
    /// A packet whose sequence number does not follow the one before.
    #[error("{message}: a packet is out of order")]
    OutOfOrder {
        /// The message.
        message: &'static str,
    },
    /// The payload ends too early, or a count or length in it promises more than is there.
    #[error("{message}: the message ends before the end of its {what}")]
    Truncated {
        /// The message.
        message: &'static str,
        /// The part at fault.
        what: &'static str,
    },
    /// Bytes are left over after the last part.
    #[error("{message}: bytes are left over after the end of the message")]
    TrailingBytes {
        /// The message.
        message: &'static str,
    },
    /// A string without its terminating zero byte.
    #[error("{message}: the {what} has no terminating zero byte")]
    MissingTerminator {
        /// The message.
        message: &'static str,
        /// The part at fault.
        what: &'static str,
    },
    /// A length-encoded integer whose first byte can't begin one, or a length that its kind of value can't have.
    #[error("{message}: the length of a {what} is none that it can have")]
    InvalidLength {
        /// The message.
        message: &'static str,
        /// The part at fault.
        what: &'static str,
    },
    /// More of something than the limit allows.
    #[error("{message}: more than {limit} {what}")]
    TooMany {
        /// The message.
        message: &'static str,
        /// The part at fault.
        what: &'static str,
        /// The named limit.
        limit: usize,
    },
    /// A count that disagrees with another count of the same message or dialogue.
    #[error("{message}: the number of {what} does not agree with what went before")]
    CountMismatch {
        /// The message.
        message: &'static str,
        /// The part at fault.
        what: &'static str,
    },
    /// A code that the protocol does not define.
    #[error("{message}: the {what} is not one that the protocol defines")]
    UnknownCode {
        /// The message.
        message: &'static str,
        /// The part at fault.
        what: &'static str,
    },
    /// A peer of before MySQL 4.1, or a greeting of another version than 10.
    #[error("{message}: only handshake version 10 with CLIENT_PROTOCOL_41 is supported")]
    UnsupportedProtocol {
        /// The message.
        message: &'static str,
    },
    /// Our misuse: a part too long to be written.
    #[error("{message}: the {what} is too long to be written")]
    TooLong {
        /// The message.
        message: &'static str,
        /// The part at fault.
        what: &'static str,
    },
    /// Our misuse: a string to be written holds a zero byte.
    #[error("{message}: the {what} can't be written as a zero-terminated string")]
    NotAString {
        /// The message.
        message: &'static str,
        /// The part at fault.
        what: &'static str,
    },
    /// Our misuse: a value whose length its type does not have, or a part that the capabilities have no place for.
    #[error("{message}: the {what} can't be written in its form")]
    WrongForm {
        /// The message.
        message: &'static str,
        /// The part at fault.
        what: &'static str,
    },
    /// Our misuse: a row got more or fewer values than it was begun with.
    #[error("{message}: the number of {what} written is not the number announced")]
    WrongCountWritten {
        /// The message.
        message: &'static str,
        /// The part at fault.
        what: &'static str,
    },
}

impl WireError {
    /// Whose fault this is.
    pub fn blame(&self) -> Blame {
        match self {
            Self::UnsupportedProtocol { .. } => Blame::Unsupported,
            Self::TooLong { .. }
            | Self::NotAString { .. }
            | Self::WrongForm { .. }
            | Self::WrongCountWritten { .. } => Blame::Misuse,
            Self::TooLarge { .. }
            | Self::OutOfOrder { .. }
            | Self::Truncated { .. }
            | Self::TrailingBytes { .. }
            | Self::MissingTerminator { .. }
            | Self::InvalidLength { .. }
            | Self::TooMany { .. }
            | Self::CountMismatch { .. }
            | Self::UnknownCode { .. } => Blame::Malformed,
        }
    }
}
