//! COM_STMT_FETCH: rows of the cursor that an execution opened.

use super::CommandCode;
use crate::WireError;
use crate::message::write_message;
use crate::packet::Sequence;
use crate::read::Reader;

const MESSAGE: &str = "COM_STMT_FETCH";

/// COM_STMT_FETCH: rows of the cursor that an execution opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StmtFetch {
    /// The statement's number.
    pub statement: u32,
    /// Most rows that are wanted.
    pub rows: u32,
}

impl StmtFetch {
    /// Reads a payload.
    pub fn parse(payload: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::of_kind(MESSAGE, payload, CommandCode::StmtFetch.byte())?;
        let statement = reader.u32("statement")?;
        let rows = reader.u32("rows")?;
        reader.end()?;
        Ok(Self { statement, rows })
    }

    /// Appends the whole message.
    pub fn encode(&self, sequence: &mut Sequence, out: &mut Vec<u8>) -> Result<(), WireError> {
        write_message(out, sequence, |out| {
            out.push(CommandCode::StmtFetch.byte());
            out.extend_from_slice(&self.statement.to_le_bytes());
            out.extend_from_slice(&self.rows.to_le_bytes());
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_truncations, payload_of};

    #[test]
    fn command_comes_back_as_written() {
        let command = StmtFetch { statement: 7, rows: 256 };
        let payload = payload_of(|sequence, out| command.encode(sequence, out));
        let expected = &b"\x1c\x07\0\0\0\0\x01\0\0"[..];
        assert_eq!((&payload[..], StmtFetch::parse(&payload)), (expected, Ok(command)));
        check_truncations(&payload, |payload| StmtFetch::parse(payload).map(drop));
    }
}
