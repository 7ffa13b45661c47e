//! The answer to COM_STMT_PREPARE; definitions of the parameters and then of the columns follow it.

use crate::message::write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::{Capabilities, WireError};

const MESSAGE: &str = "COM_STMT_PREPARE_OK";

/// The answer to COM_STMT_PREPARE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StmtPrepareOk {
    /// The statement's number.
    pub statement: u32,
    /// Columns of its result, whose definitions follow those of the parameters.
    pub columns: u16,
    /// Parameters, whose definitions follow.
    pub parameters: u16,
    /// Number of warnings.
    pub warnings: u16,
    /// Whether definitions follow, with CLIENT_OPTIONAL_RESULTSET_METADATA.
    pub metadata_follows: Option<bool>,
}

impl StmtPrepareOk {
    /// First byte of the payload.
    pub const HEADER: u8 = 0x00;

    /// Reads a payload of a connection with these capabilities.
    pub fn parse(payload: &[u8], capabilities: Capabilities) -> Result<Self, WireError> {
        let mut reader = Reader::of_kind(MESSAGE, payload, Self::HEADER)?;
        let statement = reader.u32("statement")?;
        let columns = reader.u16("columns")?;
        let parameters = reader.u16("parameters")?;
        reader.u8("filler")?;
        let warnings = reader.u16("warnings")?;
        let metadata_follows = match capabilities.has(Capabilities::OPTIONAL_RESULTSET_METADATA) {
            true => Some(reader.u8("metadata flag")? != 0),
            false => None,
        };
        reader.end()?;
        Ok(Self { statement, columns, parameters, warnings, metadata_follows })
    }

    /// Appends the whole message.
    pub fn encode(&self, sequence: &mut Sequence, out: &mut Vec<u8>) -> Result<(), WireError> {
        write_message(out, sequence, |out| {
            out.push(Self::HEADER);
            out.extend_from_slice(&self.statement.to_le_bytes());
            out.extend_from_slice(&self.columns.to_le_bytes());
            out.extend_from_slice(&self.parameters.to_le_bytes());
            out.push(0);
            out.extend_from_slice(&self.warnings.to_le_bytes());
            out.extend(self.metadata_follows.map(u8::from));
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_truncations, payload_of};

    #[test]
    fn answer_comes_back_as_written() {
        for (capabilities, metadata_follows) in
            [(Capabilities::NONE, None), (Capabilities::OPTIONAL_RESULTSET_METADATA, Some(true))]
        {
            let ok = StmtPrepareOk { statement: 7, columns: 3, parameters: 2, warnings: 1, metadata_follows };
            let payload = payload_of(|sequence, out| ok.encode(sequence, out));
            assert_eq!(payload[..12], *b"\0\x07\0\0\0\x03\0\x02\0\0\x01\0");
            assert_eq!(StmtPrepareOk::parse(&payload, capabilities), Ok(ok));
            check_truncations(&payload, |payload| StmtPrepareOk::parse(payload, capabilities).map(drop));
        }
    }
}
