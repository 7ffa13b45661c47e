//! The first packet of a result set: how many columns it has.

use crate::lenenc::push_integer;
use crate::limits::MAX_COLUMNS;
use crate::message::try_write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::{Capabilities, WireError};

const MESSAGE: &str = "column count";

/// The first packet of a result set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnCount {
    /// Number of columns.
    pub columns: usize,
    /// Whether column definitions follow, where a capability lets the server leave them out: MySQL's
    /// CLIENT_OPTIONAL_RESULTSET_METADATA puts this before the count, MARIADB_CLIENT_CACHE_METADATA behind it.
    pub metadata_follows: Option<bool>,
}

impl ColumnCount {
    /// Reads a payload of a connection with these capabilities.
    pub fn parse(payload: &[u8], capabilities: Capabilities) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, payload);
        let mut metadata_follows = None;
        if capabilities.has(Capabilities::OPTIONAL_RESULTSET_METADATA) {
            metadata_follows = Some(flag(&mut reader)?);
        }
        let columns = reader.count("columns", MAX_COLUMNS, 0)?;
        if capabilities.has(Capabilities::MARIADB_CACHE_METADATA) && !reader.is_empty() {
            metadata_follows = Some(flag(&mut reader)?);
        }
        reader.end()?;
        Ok(Self { columns, metadata_follows })
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(
        &self,
        capabilities: Capabilities,
        sequence: &mut Sequence,
        out: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        let before = capabilities.has(Capabilities::OPTIONAL_RESULTSET_METADATA);
        let after = capabilities.has(Capabilities::MARIADB_CACHE_METADATA);
        if (self.metadata_follows.is_some() && !before && !after)
            || (self.metadata_follows.is_none() && before)
        {
            return Err(WireError::WrongForm { message: MESSAGE, what: "metadata flag" });
        }
        try_write_message(out, sequence, |out| {
            if before {
                out.extend(self.metadata_follows.map(u8::from));
            }
            // Lossless: no target of Rust has a wider usize.
            push_integer(out, self.columns as u64);
            if after {
                out.extend(self.metadata_follows.map(u8::from));
            }
            Ok(())
        })
    }
}

fn flag(reader: &mut Reader<'_>) -> Result<bool, WireError> {
    match reader.u8("metadata flag")? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(WireError::UnknownCode { message: MESSAGE, what: "metadata flag" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::payload_of;

    #[test]
    fn count_comes_back_as_written() {
        for (capabilities, metadata_follows, expected) in [
            (Capabilities::NONE, None, &b"\xfc\x2c\x01"[..]),
            (Capabilities::OPTIONAL_RESULTSET_METADATA, Some(true), b"\x01\xfc\x2c\x01"),
            (Capabilities::MARIADB_CACHE_METADATA, Some(false), b"\xfc\x2c\x01\0"),
            (Capabilities::MARIADB_CACHE_METADATA, None, b"\xfc\x2c\x01"),
        ] {
            let count = ColumnCount { columns: 300, metadata_follows };
            let payload = payload_of(|sequence, out| count.encode(capabilities, sequence, out));
            assert_eq!((&payload[..], ColumnCount::parse(&payload, capabilities)), (expected, Ok(count)));
        }
    }

    #[test]
    fn more_columns_than_the_limit_are_refused() {
        let error = ColumnCount::parse(b"\xfd\0\0\x01", Capabilities::NONE).unwrap_err();
        assert_eq!(error, WireError::TooMany { message: MESSAGE, what: "columns", limit: MAX_COLUMNS });
    }
}
