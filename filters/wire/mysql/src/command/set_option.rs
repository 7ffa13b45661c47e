//! COM_SET_OPTION: several statements in one COM_QUERY are permitted, or not.

use super::CommandCode;
use crate::WireError;
use crate::message::write_message;
use crate::packet::Sequence;
use crate::read::Reader;

const MESSAGE: &str = "COM_SET_OPTION";

/// COM_SET_OPTION: sets CLIENT_MULTI_STATEMENTS on the open connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetOption {
    /// 0 for on ([`SetOption::MULTI_STATEMENTS_ON`]), 1 for off; servers refuse any other.
    pub option: u16,
}

impl SetOption {
    /// Several statements in one COM_QUERY are permitted.
    pub const MULTI_STATEMENTS_ON: u16 = 0;

    /// They are not.
    pub const MULTI_STATEMENTS_OFF: u16 = 1;

    /// Reads a payload.
    pub fn parse(payload: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::of_kind(MESSAGE, payload, CommandCode::SetOption.byte())?;
        let option = reader.u16("option")?;
        reader.end()?;
        Ok(Self { option })
    }

    /// Appends the whole message.
    pub fn encode(&self, sequence: &mut Sequence, out: &mut Vec<u8>) -> Result<(), WireError> {
        write_message(out, sequence, |out| {
            out.push(CommandCode::SetOption.byte());
            out.extend_from_slice(&self.option.to_le_bytes());
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_truncations, payload_of};

    #[test]
    fn command_comes_back_as_written() {
        let command = SetOption { option: SetOption::MULTI_STATEMENTS_OFF };
        let payload = payload_of(|sequence, out| command.encode(sequence, out));
        assert_eq!((&payload[..], SetOption::parse(&payload)), (&b"\x1b\x01\0"[..], Ok(command)));
        check_truncations(&payload, |payload| SetOption::parse(payload).map(drop));
    }
}
