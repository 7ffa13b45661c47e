//! COM_INIT_DB: USE.

use std::fmt;

use super::CommandCode;
use crate::WireError;
use crate::message::write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::redact::Sized;

const MESSAGE: &str = "COM_INIT_DB";

/// COM_INIT_DB: USE.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct InitDb<'a> {
    /// The database.
    pub database: &'a [u8],
}

impl<'a> InitDb<'a> {
    /// Reads a payload.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::of_kind(MESSAGE, payload, CommandCode::InitDb.byte())?;
        Ok(Self { database: reader.remainder() })
    }

    /// Appends the whole message.
    pub fn encode(&self, sequence: &mut Sequence, out: &mut Vec<u8>) -> Result<(), WireError> {
        write_message(out, sequence, |out| {
            out.push(CommandCode::InitDb.byte());
            out.extend_from_slice(self.database);
        })
    }
}

impl fmt::Debug for InitDb<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE).field("database", &Sized(self.database)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::payload_of;

    #[test]
    fn command_comes_back_as_written() {
        let command = InitDb { database: b"canary" };
        let payload = payload_of(|sequence, out| command.encode(sequence, out));
        assert_eq!((&payload[..], InitDb::parse(&payload)), (&b"\x02canary"[..], Ok(command)));
        assert!(InitDb::parse(b"").is_err() && InitDb::parse(b"\0canary").is_err());
        assert!(!format!("{command:?}").contains("canary"));
    }
}
