//! COM_STMT_PREPARE: prepares a statement.

use std::fmt;

use super::CommandCode;
use crate::WireError;
use crate::message::write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::redact::Sized;

const MESSAGE: &str = "COM_STMT_PREPARE";

/// COM_STMT_PREPARE: prepares a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StmtPrepare<'a> {
    /// The statement.
    pub text: &'a [u8],
}

impl<'a> StmtPrepare<'a> {
    /// Reads a payload.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::of_kind(MESSAGE, payload, CommandCode::StmtPrepare.byte())?;
        Ok(Self { text: reader.remainder() })
    }

    /// Appends the whole message.
    pub fn encode(&self, sequence: &mut Sequence, out: &mut Vec<u8>) -> Result<(), WireError> {
        write_message(out, sequence, |out| {
            out.push(CommandCode::StmtPrepare.byte());
            out.extend_from_slice(self.text);
        })
    }
}

impl fmt::Debug for StmtPrepare<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE).field("text", &Sized(self.text)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::payload_of;

    #[test]
    fn command_comes_back_as_written() {
        let command = StmtPrepare { text: b"canary" };
        let payload = payload_of(|sequence, out| command.encode(sequence, out));
        assert_eq!((&payload[..], StmtPrepare::parse(&payload)), (&b"\x16canary"[..], Ok(command)));
        assert!(StmtPrepare::parse(b"").is_err() && StmtPrepare::parse(b"\0canary").is_err());
        assert!(!format!("{command:?}").contains("canary"));
    }
}
