//! What is wrong with a value or a type. No error carries any part of a value.

use crate::oid::KNOWN;

/// A value that cannot be taken, or a type that is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// Not the text of a value of the type.
    #[error("it is not a valid {0}")]
    Invalid(&'static str),
    /// The server would read it by the session's settings, or in one of several ways.
    #[error("it is ambiguous for {kind}; {remedy}")]
    Ambiguous {
        /// The type.
        kind: &'static str,
        /// What to send instead.
        remedy: &'static str,
    },
    /// Outside what the type or its modifier holds.
    #[error("it is out of range for {0}")]
    OutOfRange(&'static str),
    /// More bytes than `varbinary(n)`.
    #[error("it is longer than {0} bytes")]
    TooManyBytes(u32),
    /// Its canonical text takes more bytes than the caller has for it.
    #[error("it takes more than {0} bytes as the server prints it")]
    LongText(usize),
    /// Longer than `varchar(n)` or `char(n)`.
    #[error("it is longer than {0} characters")]
    TooLong(u32),
    /// Looked for, though the modifier would round or cut it before it could be stored.
    #[error(
        "it cannot be looked for: it has more digits or trailing spaces than the type keeps, so nothing stored equals it"
    )]
    NeverStored,
    /// A parameter of a type that the server does not turn into the declared one, or not into the same text.
    #[error(
        "it is a parameter of the type with OID {from}, which is not taken for {to}; send it as {to}, or cast it before"
    )]
    NotAssignable {
        /// The type that the client named.
        from: u32,
        /// The declared type.
        to: &'static str,
    },
    /// A parameter of MySQL's of a type that the server does not turn into the declared one, or not into the same text.
    #[error("it is {from}, which is not taken for {to}; send it as {to}, or as a string")]
    NotTaken {
        /// The type that the client named.
        from: &'static str,
        /// The declared type.
        to: &'static str,
    },
    /// The server would take it, this crate does not.
    #[error("it is not supported: {0}")]
    Unsupported(&'static str),
    /// A binary value of a type that is not known here.
    #[error("binary values of the type with OID {0} are not supported; send text")]
    UnsupportedOid(u32),
    /// A declared type that is not known here.
    #[error("it is not a known type; known are {KNOWN}, and arrays of these such as text[]")]
    UnknownType,
}

impl ValueError {
    /// The same of all of a value, where it is of a part that had less than `most` bytes left.
    pub(crate) fn with_limit(self, most: usize) -> Self {
        if matches!(self, Self::LongText(_)) { Self::LongText(most) } else { self }
    }
}
