//! The kinds of values.

/// What a JSON value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    String,
    /// A number.
    Number,
    /// `true`.
    True,
    /// `false`.
    False,
    /// `null`.
    Null,
    /// An object.
    Object,
    /// An array.
    Array,
}

impl Kind {
    /// What a value is whose first byte this is.
    pub(super) fn of(byte: u8) -> Option<Self> {
        match byte {
            b'"' => Some(Self::String),
            b'-' | b'0'..=b'9' => Some(Self::Number),
            b't' => Some(Self::True),
            b'f' => Some(Self::False),
            b'n' => Some(Self::Null),
            b'{' => Some(Self::Object),
            b'[' => Some(Self::Array),
            _ => None,
        }
    }
}
