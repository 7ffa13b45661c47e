//! Where a packet begins and ends, and its number in the dialogue.

use crate::WireError;
use crate::write::patch;

const PACKET: &str = "packet";

/// Bytes before a payload: its length in three bytes, and the sequence number.
pub const HEADER_LEN: usize = 4;

/// Longest payload of one packet. A payload of just this length goes on in the next packet, which may be empty.
pub const MAX_PAYLOAD: usize = 0xff_ffff;

/// Numbers packets: each side goes on where the other's last packet was, and a command begins anew at 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sequence(u8);

impl Sequence {
    /// The number that the next packet gets.
    pub const fn starting_at(next: u8) -> Self {
        Self(next)
    }

    /// The number that follows a packet's.
    pub const fn after(number: u8) -> Self {
        Self(number.wrapping_add(1))
    }

    /// The number that the next packet gets.
    pub const fn next(self) -> u8 {
        self.0
    }

    /// Gives the next packet its number.
    pub const fn take(&mut self) -> u8 {
        let number = self.0;
        self.0 = number.wrapping_add(1);
        number
    }
}

/// Length and number of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Bytes after the header.
    pub payload_len: usize,
    /// The packet's sequence number.
    pub sequence: u8,
}

impl Header {
    /// Reads the header at the start of `buf`; `None` until its four bytes are there.
    pub fn peek(buf: &[u8]) -> Option<Self> {
        let [a, b, c, sequence] = *buf.first_chunk::<HEADER_LEN>()?;
        // Lossless: three bytes.
        Some(Self { payload_len: u32::from_le_bytes([a, b, c, 0]) as usize, sequence })
    }

    /// Bytes of the whole packet: header and payload.
    pub fn total_len(&self) -> usize {
        self.payload_len.saturating_add(HEADER_LEN)
    }

    /// Whether the message goes on in the next packet.
    pub fn is_continued(&self) -> bool {
        self.payload_len == MAX_PAYLOAD
    }

    /// The header as bytes.
    pub(crate) fn bytes(payload_len: usize, sequence: u8) -> [u8; HEADER_LEN] {
        let [a, b, c, ..] = payload_len.to_le_bytes();
        [a, b, c, sequence]
    }
}

/// The first packet in `buf`, its header and its payload; `None` until it is complete.
pub fn peek_packet(buf: &[u8]) -> Option<(Header, &[u8])> {
    let header = Header::peek(buf)?;
    buf.get(HEADER_LEN..header.total_len()).map(|payload| (header, payload))
}

/// Numbers whole packets anew, for when packets before them were added or taken out.
pub fn restamp(packets: &mut [u8], sequence: &mut Sequence) -> Result<(), WireError> {
    let mut at = 0_usize;
    while let Some(rest) = packets.get(at..).filter(|rest| !rest.is_empty()) {
        let (header, _) =
            peek_packet(rest).ok_or(WireError::Truncated { message: PACKET, what: "payload" })?;
        patch(packets, at.saturating_add(3), [sequence.take()]);
        at = at.saturating_add(header.total_len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packet_waits_for_its_last_byte() {
        let whole = b"\x03\0\0\x07abcX";
        for have in 0..7 {
            assert_eq!(peek_packet(&whole[..have]), None);
        }
        let (header, payload) = peek_packet(whole).unwrap();
        assert_eq!((header.payload_len, header.sequence, header.total_len()), (3, 7, 7));
        assert_eq!((payload, header.is_continued()), (&b"abc"[..], false));
    }

    #[test]
    fn header_comes_back_as_written() {
        let header = Header::peek(&Header::bytes(MAX_PAYLOAD, 9)).unwrap();
        assert_eq!((header.payload_len, header.sequence, header.is_continued()), (MAX_PAYLOAD, 9, true));
    }

    #[test]
    fn packets_are_numbered_anew_and_numbers_wrap() {
        let mut packets = b"\x01\0\0\x07a\0\0\0\x08\x02\0\0\x09bc".to_vec();
        let mut sequence = Sequence::starting_at(254);
        restamp(&mut packets, &mut sequence).unwrap();
        assert_eq!(packets, b"\x01\0\0\xfea\0\0\0\xff\x02\0\0\0bc");
        assert_eq!(sequence.next(), 1);
        assert!(restamp(&mut packets[..13], &mut sequence).is_err());
    }
}
