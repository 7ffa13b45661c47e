//! The first packet of a result set: how many columns it has.

use crate::lenenc::push_integer;
use crate::limits::MAX_COLUMNS;
use crate::message::write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::{Capabilities, WireError};

const MESSAGE: &str = "column count";

/// Capabilities by which a server says whether column definitions follow: MySQL's and MariaDB's. The protocol's
/// documentation has the flag before the count; the servers send it behind.
const OPTIONAL: Capabilities =
    Capabilities::OPTIONAL_RESULTSET_METADATA.with(Capabilities::MARIADB_CACHE_METADATA);

/// The first packet of a result set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnCount {
    /// Number of columns.
    pub columns: usize,
    /// Whether column definitions follow, where a capability lets the server leave them out.
    pub metadata_follows: Option<bool>,
}

impl ColumnCount {
    /// Reads a payload of a connection with these capabilities.
    pub fn parse(payload: &[u8], capabilities: Capabilities) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, payload);
        let columns = reader.count("columns", MAX_COLUMNS, 0)?;
        let metadata_follows = match capabilities.has_any(OPTIONAL) && !reader.is_empty() {
            true => Some(flag(&mut reader)?),
            false => None,
        };
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
        if self.metadata_follows.is_some() && !capabilities.has_any(OPTIONAL) {
            return Err(WireError::WrongForm { message: MESSAGE, what: "metadata flag" });
        }
        write_message(out, sequence, |out| {
            // Lossless: no target of Rust has a wider usize.
            push_integer(out, self.columns as u64);
            out.extend(self.metadata_follows.map(u8::from));
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
            (Capabilities::OPTIONAL_RESULTSET_METADATA, Some(true), b"\xfc\x2c\x01\x01"),
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
