//! What can be wrong with a JSON text.

use crate::{Exceeded, RewriteError};

/// What is wrong. It is of one byte, so that a result that may be one is handed on in a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    NoText,
    ByteOrderMark,
    EndsEarly,
    NumberMayBeCut,
    NoValue,
    NoValueOrEnd,
    NoKey,
    NoKeyOrEnd,
    KeyIsNoText,
    NoColon,
    ArrayGoesOn,
    ObjectGoesOn,
    TextGoesOn,
    NoDigit,
    NoWord,
    ControlCharacter,
    Escape,
    HexDigits,
    NoUtf8,
    Depth,
    KeyBytes,
}

impl Fault {
    /// The error for it at this byte of the body.
    pub(crate) fn at<E>(self, offset: u64) -> RewriteError<E> {
        let reason = match self {
            Self::NoText => "there is no JSON text",
            Self::ByteOrderMark => "a byte order mark, or no JSON at all",
            Self::EndsEarly => "the JSON text ends too early",
            Self::NumberMayBeCut => "the number may be cut",
            Self::NoValue => "a value must come here",
            Self::NoValueOrEnd => "a value or the end of the array must come here",
            Self::NoKey => "a key must come here",
            Self::NoKeyOrEnd => "a key or the end of the object must come here",
            Self::KeyIsNoText => "a key must be Unicode text, without half a surrogate pair",
            Self::NoColon => "a colon must come here",
            Self::ArrayGoesOn => "a comma or the end of the array must come here",
            Self::ObjectGoesOn => "a comma or the end of the object must come here",
            Self::TextGoesOn => "nothing may follow the JSON text",
            Self::NoDigit => "a digit must come here",
            Self::NoWord => "only true, false and null are words of JSON",
            Self::ControlCharacter => "a control character in a string must be escaped",
            Self::Escape => "a backslash must be followed by one of \" \\ / b f n r t u",
            Self::HexDigits => "\\u must be followed by four hexadecimal digits",
            Self::NoUtf8 => "a string must be UTF-8",
            Self::Depth => return RewriteError::Limit { offset, what: Exceeded::Depth },
            Self::KeyBytes => return RewriteError::Limit { offset, what: Exceeded::KeyBytes },
        };
        RewriteError::Malformed { offset, reason }
    }
}
