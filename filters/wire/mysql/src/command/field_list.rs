//! COM_FIELD_LIST: the columns of a table, and their default values.

use std::fmt;

use super::CommandCode;
use crate::message::try_write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::redact::Sized;
use crate::{WireError, write};

const MESSAGE: &str = "COM_FIELD_LIST";

/// COM_FIELD_LIST: the columns of a table, and their default values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FieldList<'a> {
    /// The table, of the database in use.
    pub table: &'a [u8],
    /// A pattern that the columns' names match.
    pub wildcard: &'a [u8],
}

impl<'a> FieldList<'a> {
    /// Reads a payload.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::of_kind(MESSAGE, payload, CommandCode::FieldList.byte())?;
        Ok(Self { table: reader.string("table")?, wildcard: reader.remainder() })
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(&self, sequence: &mut Sequence, out: &mut Vec<u8>) -> Result<(), WireError> {
        try_write_message(out, sequence, |out| {
            out.push(CommandCode::FieldList.byte());
            write::string(out, MESSAGE, "table", self.table)?;
            out.extend_from_slice(self.wildcard);
            Ok(())
        })
    }
}

impl fmt::Debug for FieldList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE)
            .field("table", &Sized(self.table))
            .field("wildcard", &Sized(self.wildcard))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::payload_of;

    #[test]
    fn command_comes_back_as_written() {
        let command = FieldList { table: b"customer", wildcard: b"s%" };
        let payload = payload_of(|sequence, out| command.encode(sequence, out));
        assert_eq!((&payload[..], FieldList::parse(&payload)), (&b"\x04customer\0s%"[..], Ok(command)));
        assert!(FieldList::parse(b"\x04customer").is_err());
    }
}
