//! COM_STMT_CLOSE: forgets a prepared statement. It has no answer.

use super::CommandCode;
use crate::WireError;
use crate::message::write_message;
use crate::packet::Sequence;
use crate::read::Reader;

const MESSAGE: &str = "COM_STMT_CLOSE";

/// COM_STMT_CLOSE: forgets a prepared statement. It has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StmtClose {
    /// The statement's number.
    pub statement: u32,
}

impl StmtClose {
    /// Reads a payload.
    pub fn parse(payload: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::of_kind(MESSAGE, payload, CommandCode::StmtClose.byte())?;
        let statement = reader.u32("statement")?;
        reader.end()?;
        Ok(Self { statement })
    }

    /// Appends the whole message.
    pub fn encode(&self, sequence: &mut Sequence, out: &mut Vec<u8>) -> Result<(), WireError> {
        write_message(out, sequence, |out| {
            out.push(CommandCode::StmtClose.byte());
            out.extend_from_slice(&self.statement.to_le_bytes());
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_truncations, payload_of};

    #[test]
    fn command_comes_back_as_written() {
        let command = StmtClose { statement: 7 };
        let payload = payload_of(|sequence, out| command.encode(sequence, out));
        assert_eq!((&payload[..], StmtClose::parse(&payload)), (&b"\x19\x07\0\0\0"[..], Ok(command)));
        check_truncations(&payload, |payload| StmtClose::parse(payload).map(drop));
    }
}
