//! SSLRequest: the client wants TLS; after it the TLS handshake begins.

use crate::message::write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::{Capabilities, WireError};

const MESSAGE: &str = "SSLRequest";

/// Zeros before MariaDB's extended capabilities.
pub(super) const FILLER: usize = 19;

/// Bytes of an SSLRequest, and of the beginning of a handshake response.
pub(super) const LEN: usize = 32;

/// SSLRequest: the beginning of a handshake response, alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SslRequest {
    /// What the client can do and wants.
    pub capabilities: Capabilities,
    /// Longest packet that the client takes.
    pub max_packet_size: u32,
    /// The session's collation.
    pub charset: u8,
}

impl SslRequest {
    /// Reads a payload.
    pub fn parse(payload: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, payload);
        let request = Self::read(MESSAGE, &mut reader)?;
        reader.end()?;
        Ok(request)
    }

    /// Reads what an SSLRequest and a handshake response have in common.
    pub(super) fn read(message: &'static str, reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let low = reader.u32("capabilities")?;
        let max_packet_size = reader.u32("longest packet")?;
        let charset = reader.u8("character set")?;
        reader.bytes("filler", FILLER)?;
        let extended = reader.u32("extended capabilities")?;
        let mut capabilities = Capabilities::from_words(low, 0);
        if capabilities.has_extended_field() {
            capabilities = Capabilities::from_words(low, extended);
        }
        if !capabilities.has(Capabilities::PROTOCOL_41) {
            return Err(WireError::UnsupportedProtocol { message });
        }
        Ok(Self { capabilities, max_packet_size, charset })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.capabilities.low().to_le_bytes());
        out.extend_from_slice(&self.max_packet_size.to_le_bytes());
        out.push(self.charset);
        out.extend_from_slice(&[0; FILLER]);
        let extended = if self.capabilities.has_extended_field() { self.capabilities.extended() } else { 0 };
        out.extend_from_slice(&extended.to_le_bytes());
    }

    /// Appends the whole message.
    pub fn encode(&self, sequence: &mut Sequence, out: &mut Vec<u8>) -> Result<(), WireError> {
        write_message(out, sequence, |out| self.write(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_truncations, payload_of};

    #[test]
    fn request_comes_back_as_written() {
        let capabilities = Capabilities::PROTOCOL_41.with(Capabilities::SSL);
        let request = SslRequest { capabilities, max_packet_size: 0x100_0000, charset: 45 };
        let payload = payload_of(|sequence, out| request.encode(sequence, out));
        assert_eq!((payload.len(), SslRequest::parse(&payload)), (LEN, Ok(request)));
        check_truncations(&payload, |payload| SslRequest::parse(payload).map(drop));
    }
}
