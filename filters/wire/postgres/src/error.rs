//! What can be wrong with a message, and whose fault it is.

use thiserror::Error;

/// Whose fault a [`WireError`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Blame {
    /// The peer sent bytes that are not the protocol: end the connection with SQLSTATE 08P01.
    Malformed,
    /// The peer sent something valid that is not served: say so with SQLSTATE 0A000.
    Unsupported,
    /// Our own code asked for a message that can't be written.
    Misuse,
}

/// Why a message can't be read or written. `message` is the protocol's name of the message, `what` the part
/// of it at fault; bytes of the message are never in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WireError {
    /// A length word that can't hold what must follow it.
    #[error("{message}: a length of {length} is too small")]
    LengthTooSmall {
        /// The message.
        message: &'static str,
        /// The length word received.
        length: u32,
    },
    /// A length word above the limit.
    #[error("{message}: a length of {length} is above the limit of {limit}")]
    LengthTooLarge {
        /// The message.
        message: &'static str,
        /// The length word received.
        length: u32,
        /// The named limit.
        limit: u32,
    },
    /// The body ends too early, or a count or length in it promises more than is there.
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
    /// A length below -1, the one that stands for NULL.
    #[error("{message}: the length of a {what} is negative")]
    NegativeLength {
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
    /// A count that disagrees with another count of the same message.
    #[error("{message}: the number of {what} does not agree with the rest of the message")]
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
    /// Text that must be UTF-8 and is not.
    #[error("{message}: the {what} is not UTF-8")]
    NotUtf8 {
        /// The message.
        message: &'static str,
        /// The part at fault.
        what: &'static str,
    },
    /// The first packet asks for a protocol other than 3.x.
    #[error("protocol version {major}.{minor} is not supported: only 3.0 and later of 3 are")]
    UnsupportedProtocol {
        /// Major version asked for.
        major: u16,
        /// Minor version asked for.
        minor: u16,
    },
    /// The first bytes are a TLS ClientHello: the client starts TLS at once (`sslnegotiation=direct`).
    #[error(
        "the client started TLS; the sidecar's listener takes plain text (use sslmode=disable or prefer)"
    )]
    TlsClientHello,
    /// Our misuse: a part too long to be written.
    #[error("{message}: the {what} is too long to be written")]
    TooLong {
        /// The message.
        message: &'static str,
        /// The part at fault.
        what: &'static str,
    },
    /// Our misuse: a string to be written holds a zero byte, or is empty where that ends a list.
    #[error("{message}: the {what} can't be written as a zero-terminated string")]
    NotAString {
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
            Self::UnsupportedProtocol { .. } | Self::TlsClientHello => Blame::Unsupported,
            Self::TooLong { .. } | Self::NotAString { .. } | Self::WrongCountWritten { .. } => Blame::Misuse,
            Self::LengthTooSmall { .. }
            | Self::LengthTooLarge { .. }
            | Self::Truncated { .. }
            | Self::TrailingBytes { .. }
            | Self::MissingTerminator { .. }
            | Self::NegativeLength { .. }
            | Self::TooMany { .. }
            | Self::CountMismatch { .. }
            | Self::UnknownCode { .. }
            | Self::NotUtf8 { .. } => Blame::Malformed,
        }
    }
}
