//! COM_STMT_SEND_LONG_DATA: a part of a parameter's value, ahead of the execution. It has no answer.

use std::fmt;

use super::CommandCode;
use crate::WireError;
use crate::message::write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::redact::Sized;

const MESSAGE: &str = "COM_STMT_SEND_LONG_DATA";

/// COM_STMT_SEND_LONG_DATA: a part of a parameter's value, to which the server joins those sent before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StmtSendLongData<'a> {
    /// The statement's number.
    pub statement: u32,
    /// The parameter, counted from 0.
    pub parameter: u16,
    /// The part.
    pub data: &'a [u8],
}

impl<'a> StmtSendLongData<'a> {
    /// Reads a payload.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::of_kind(MESSAGE, payload, CommandCode::StmtSendLongData.byte())?;
        Ok(Self {
            statement: reader.u32("statement")?,
            parameter: reader.u16("parameter")?,
            data: reader.remainder(),
        })
    }

    /// Appends the whole message.
    pub fn encode(&self, sequence: &mut Sequence, out: &mut Vec<u8>) -> Result<(), WireError> {
        write_message(out, sequence, |out| {
            out.push(CommandCode::StmtSendLongData.byte());
            out.extend_from_slice(&self.statement.to_le_bytes());
            out.extend_from_slice(&self.parameter.to_le_bytes());
            out.extend_from_slice(self.data);
        })
    }
}

impl fmt::Debug for StmtSendLongData<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE)
            .field("statement", &self.statement)
            .field("parameter", &self.parameter)
            .field("data", &Sized(self.data))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::payload_of;

    #[test]
    fn command_comes_back_as_written() {
        let command = StmtSendLongData { statement: 7, parameter: 1, data: b"canary" };
        let payload = payload_of(|sequence, out| command.encode(sequence, out));
        assert_eq!(payload, b"\x18\x07\0\0\0\x01\0canary");
        assert_eq!(StmtSendLongData::parse(&payload), Ok(command));
        assert!(StmtSendLongData::parse(&payload[..6]).is_err());
        assert!(!format!("{command:?}").contains("canary"));
    }
}
