//! Format codes: whether a value travels as text or in its type's binary form.

use crate::WireError;
use crate::read::Reader;

/// How a value is written on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Format {
    /// The type's text form, in the client's encoding (code 0).
    #[default]
    Text,
    /// The type's binary form (code 1).
    Binary,
}

impl Format {
    /// The code on the wire.
    pub fn code(self) -> i16 {
        match self {
            Self::Text => 0,
            Self::Binary => 1,
        }
    }

    /// The format of a code, if the protocol defines it.
    pub fn from_code(code: i16) -> Option<Self> {
        match code {
            0 => Some(Self::Text),
            1 => Some(Self::Binary),
            _ => None,
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let code = reader.i16("format code")?;
        Self::from_code(code).ok_or(WireError::UnknownCode { message: reader.message(), what: "format code" })
    }

    /// The protocol's rule for a list of format codes: none means text, one goes for all, else one for each.
    pub(crate) fn of(formats: &[Self], index: usize) -> Self {
        match formats {
            [] => Self::Text,
            [all] => *all,
            each => each.get(index).copied().unwrap_or_default(),
        }
    }
}
