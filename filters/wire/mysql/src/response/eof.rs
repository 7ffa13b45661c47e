//! EOF packet: the end of column definitions or rows, without CLIENT_DEPRECATE_EOF.

use crate::WireError;
use crate::message::write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::status::Status;

const MESSAGE: &str = "EOF_Packet";

/// EOF packet: the end of column definitions or rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EofPacket {
    /// Number of warnings.
    pub warnings: u16,
    /// The session's status.
    pub status: Status,
}

impl EofPacket {
    /// First byte of the payload.
    pub const HEADER: u8 = 0xfe;

    /// Reads a payload.
    pub fn parse(payload: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::of_kind(MESSAGE, payload, Self::HEADER)?;
        let warnings = reader.u16("warnings")?;
        let status = Status::from_bits(reader.u16("status")?);
        reader.end()?;
        Ok(Self { warnings, status })
    }

    /// Appends the whole message.
    pub fn encode(&self, sequence: &mut Sequence, out: &mut Vec<u8>) -> Result<(), WireError> {
        write_message(out, sequence, |out| {
            out.push(Self::HEADER);
            out.extend_from_slice(&self.warnings.to_le_bytes());
            out.extend_from_slice(&self.status.bits().to_le_bytes());
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_truncations, payload_of};

    #[test]
    fn eof_comes_back_as_written() {
        let eof = EofPacket { warnings: 3, status: Status::AUTOCOMMIT };
        let payload = payload_of(|sequence, out| eof.encode(sequence, out));
        assert_eq!((&payload[..], EofPacket::parse(&payload)), (&b"\xfe\x03\0\x02\0"[..], Ok(eof)));
        check_truncations(&payload, |payload| EofPacket::parse(payload).map(drop));
    }
}
