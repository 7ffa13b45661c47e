//! COM_RESET_CONNECTION: the session is to be as it was after authentication.

use super::CommandCode;
use crate::WireError;
use crate::message::write_message;
use crate::packet::Sequence;
use crate::read::Reader;

const MESSAGE: &str = "COM_RESET_CONNECTION";

/// COM_RESET_CONNECTION: the session is to be as it was after authentication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResetConnection;

impl ResetConnection {
    /// Reads a payload.
    pub fn parse(payload: &[u8]) -> Result<Self, WireError> {
        Reader::of_kind(MESSAGE, payload, CommandCode::ResetConnection.byte())?.end()?;
        Ok(Self)
    }

    /// Appends the whole message.
    pub fn encode(&self, sequence: &mut Sequence, out: &mut Vec<u8>) -> Result<(), WireError> {
        write_message(out, sequence, |out| out.push(CommandCode::ResetConnection.byte()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::payload_of;

    #[test]
    fn command_comes_back_as_written() {
        let payload = payload_of(|sequence, out| ResetConnection.encode(sequence, out));
        assert_eq!((&payload[..], ResetConnection::parse(&payload)), (&b"\x1f"[..], Ok(ResetConnection)));
        assert!(ResetConnection::parse(b"\x1f\0").is_err());
    }
}
