//! Messages over the packets that carry them: one, or several where a payload is 16 MiB and more.

use std::borrow::Cow;
use std::fmt;

use crate::WireError;
use crate::packet::{HEADER_LEN, Header, MAX_PAYLOAD, Sequence};
use crate::redact::Sized;
use crate::write::patch;

const MESSAGE: &str = "message";

/// A whole message.
#[derive(Clone, PartialEq, Eq)]
pub struct Message<'a> {
    /// What its packets carry, joined where they are several.
    pub payload: Cow<'a, [u8]>,
    /// Number of the first packet.
    pub sequence: u8,
    /// Number of the last packet; the same as `sequence` where there is one.
    pub last_sequence: u8,
    /// Bytes of all its packets with their headers.
    pub total_len: usize,
}

impl fmt::Debug for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("payload", &Sized(&self.payload))
            .field("sequence", &self.sequence)
            .field("last_sequence", &self.last_sequence)
            .finish_non_exhaustive()
    }
}

/// The first message in `buf`; `None` until its last packet is complete. An error as soon as the headers tell that
/// its payload will be longer than `limit`, or when its packets are not numbered one after the other.
pub fn peek_message(buf: &[u8], limit: usize) -> Result<Option<Message<'_>>, WireError> {
    let Some(first) = Header::peek(buf) else { return Ok(None) };
    let (mut header, mut at, mut payload_len) = (first, 0_usize, first.payload_len);
    loop {
        if payload_len > limit {
            return Err(WireError::TooLarge { message: MESSAGE, limit });
        }
        at = at.saturating_add(header.total_len());
        if !header.is_continued() {
            break;
        }
        let Some(next) = buf.get(at..).and_then(Header::peek) else { return Ok(None) };
        if next.sequence != Sequence::after(header.sequence).next() {
            return Err(WireError::OutOfOrder { message: MESSAGE });
        }
        payload_len = payload_len.saturating_add(next.payload_len);
        header = next;
    }
    let Some(packets) = buf.get(..at) else { return Ok(None) };
    let payload = if first.is_continued() { join(packets, payload_len) } else { single(packets) };
    Ok(Some(Message { payload, sequence: first.sequence, last_sequence: header.sequence, total_len: at }))
}

fn single(packet: &[u8]) -> Cow<'_, [u8]> {
    Cow::Borrowed(packet.get(HEADER_LEN..).unwrap_or_default())
}

fn join(mut packets: &[u8], payload_len: usize) -> Cow<'static, [u8]> {
    let mut payload = Vec::with_capacity(payload_len);
    while let Some((header, part)) = crate::packet::peek_packet(packets) {
        payload.extend_from_slice(part);
        packets = packets.get(header.total_len()..).unwrap_or_default();
    }
    Cow::Owned(payload)
}

/// Appends a message whose payload `payload` appends, over as many packets as it takes. On an error `out` and
/// `sequence` are as before.
pub fn write_message(
    out: &mut Vec<u8>,
    sequence: &mut Sequence,
    payload: impl FnOnce(&mut Vec<u8>),
) -> Result<(), WireError> {
    try_write_message(out, sequence, |out| {
        payload(out);
        Ok(())
    })
}

/// As [`write_message`], for a payload that may fail.
pub fn try_write_message<E: From<WireError>>(
    out: &mut Vec<u8>,
    sequence: &mut Sequence,
    payload: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let mut open = Open::begin(out, sequence);
    payload(open.out)?;
    open.finish().map_err(E::from)
}

/// A message begun in a buffer; taken back on drop unless finished, so that half a message never leaves.
pub(crate) struct Open<'a> {
    pub(crate) out: &'a mut Vec<u8>,
    sequence: &'a mut Sequence,
    start: usize,
    finished: bool,
}

impl<'a> Open<'a> {
    pub(crate) fn begin(out: &'a mut Vec<u8>, sequence: &'a mut Sequence) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0; HEADER_LEN]);
        Self { out, sequence, start, finished: false }
    }

    /// Writes the headers, now that the payload's length is known.
    pub(crate) fn finish(&mut self) -> Result<(), WireError> {
        let payload_at = self.start.saturating_add(HEADER_LEN);
        let length = self
            .out
            .len()
            .checked_sub(payload_at)
            .filter(|length| *length <= crate::limits::MAX_MESSAGE)
            .ok_or(WireError::TooLong { message: MESSAGE, what: "payload" })?;
        if length < MAX_PAYLOAD {
            patch(self.out, self.start, Header::bytes(length, self.sequence.take()));
        } else {
            self.split(payload_at);
        }
        self.finished = true;
        Ok(())
    }

    #[cold]
    fn split(&mut self, payload_at: usize) {
        let payload = self.out.split_off(payload_at);
        self.out.truncate(self.start);
        let mut last = 0;
        for part in payload.chunks(MAX_PAYLOAD) {
            last = part.len();
            self.out.extend_from_slice(&Header::bytes(last, self.sequence.take()));
            self.out.extend_from_slice(part);
        }
        if last == MAX_PAYLOAD {
            self.out.extend_from_slice(&Header::bytes(0, self.sequence.take()));
        }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.finished {
            self.out.truncate(self.start);
        }
    }
}

impl fmt::Debug for Open<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Open").field("start", &self.start).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MAX_MESSAGE;

    #[test]
    fn message_of_one_packet_is_borrowed_and_waits_for_its_end() {
        let whole = b"\x02\0\0\x05abX";
        for have in 0..6 {
            assert_eq!(peek_message(&whole[..have], 10), Ok(None));
        }
        let message = peek_message(whole, 10).unwrap().unwrap();
        assert!(matches!(message.payload, Cow::Borrowed(b"ab")));
        assert_eq!((message.sequence, message.last_sequence, message.total_len), (5, 5, 6));
    }

    #[test]
    fn long_payloads_are_split_and_joined_again() {
        for (length, packets) in
            [(MAX_PAYLOAD - 1, 1), (MAX_PAYLOAD, 2), (MAX_PAYLOAD + 1, 2), (2 * MAX_PAYLOAD, 3)]
        {
            let payload: Vec<u8> = (0..=255).cycle().take(length).collect();
            let (mut out, mut sequence) = (b"before".to_vec(), Sequence::starting_at(255));
            write_message(&mut out, &mut sequence, |out| out.extend_from_slice(&payload)).unwrap();
            let written = out.strip_prefix(b"before").unwrap();
            assert_eq!(written.len(), length + packets * HEADER_LEN);
            assert_eq!(peek_message(&written[..written.len() - 1], MAX_MESSAGE), Ok(None));
            let message = peek_message(written, MAX_MESSAGE).unwrap().unwrap();
            assert!(message.payload == payload);
            assert_eq!((message.sequence, message.total_len), (255, written.len()));
            assert_eq!(Sequence::after(message.last_sequence), sequence);
        }
    }

    #[test]
    fn message_above_the_limit_is_refused_by_its_header() {
        assert_eq!(peek_message(b"\x03\0\0\0", 3), Ok(None));
        assert_eq!(peek_message(b"\x03\0\0\0", 2), Err(WireError::TooLarge { message: MESSAGE, limit: 2 }));
    }

    #[test]
    fn packets_of_one_message_must_follow_each_other() {
        let mut packets = Vec::new();
        write_message(&mut packets, &mut Sequence::default(), |out| out.resize(out.len() + MAX_PAYLOAD, 1))
            .unwrap();
        *packets.last_mut().unwrap() = 7;
        assert_eq!(peek_message(&packets, MAX_MESSAGE), Err(WireError::OutOfOrder { message: MESSAGE }));
    }

    #[test]
    fn failed_payload_leaves_nothing_behind() {
        let (mut out, mut sequence) = (b"before".to_vec(), Sequence::default());
        let error = WireError::TooLong { message: "x", what: "y" };
        let result = try_write_message(&mut out, &mut sequence, |out| {
            out.push(1);
            Err(error)
        });
        assert_eq!((result, &out[..], sequence.next()), (Err(error), &b"before"[..], 0));
    }
}
