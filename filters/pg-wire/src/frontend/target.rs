//! What Describe and Close mean: a statement or a portal.

use crate::WireError;
use crate::read::Reader;

/// The kind of thing a name names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// A prepared statement (`S`).
    Statement,
    /// A portal (`P`).
    Portal,
}

impl Target {
    /// The byte on the wire.
    pub fn code(self) -> u8 {
        match self {
            Self::Statement => b'S',
            Self::Portal => b'P',
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        match reader.u8("target")? {
            b'S' => Ok(Self::Statement),
            b'P' => Ok(Self::Portal),
            _ => Err(WireError::UnknownCode { message: reader.message(), what: "target" }),
        }
    }
}
