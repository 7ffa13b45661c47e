//! Where a tagged message begins and ends.

use crate::WireError;
use crate::limits::MAX_MESSAGE_LENGTH;
use crate::write::patch;

const MESSAGE: &str = "message header";

/// Bytes before a body: the tag and the length word.
pub const HEADER_LEN: usize = 5;

/// Bytes of the length word, which counts itself and not the tag.
const LENGTH_WORD: u32 = 4;

/// Tag and length of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The message's tag. Not checked: the `Tag` of the direction, [`frontend`](crate::frontend::Tag) or [`backend`](crate::backend::Tag), does.
    pub tag: u8,
    /// Bytes after the length word.
    pub body_len: usize,
}

impl Header {
    /// Reads the header at the start of `buf`; `None` until its five bytes are there.
    pub fn peek(buf: &[u8]) -> Result<Option<Self>, WireError> {
        let Some(&[tag, a, b, c, d]) = buf.first_chunk::<HEADER_LEN>() else { return Ok(None) };
        let length = u32::from_be_bytes([a, b, c, d]);
        let too_large = WireError::LengthTooLarge { message: MESSAGE, length, limit: MAX_MESSAGE_LENGTH };
        if length > MAX_MESSAGE_LENGTH {
            return Err(too_large);
        }
        let body_len =
            length.checked_sub(LENGTH_WORD).ok_or(WireError::LengthTooSmall { message: MESSAGE, length })?;
        Ok(Some(Self { tag, body_len: usize::try_from(body_len).map_err(|_| too_large)? }))
    }

    /// Bytes of the whole message: tag, length word and body.
    pub fn total_len(&self) -> usize {
        self.body_len.saturating_add(HEADER_LEN)
    }
}

/// The first message in `buf`, its header and its body; `None` until it is complete.
pub fn peek_message(buf: &[u8]) -> Result<Option<(Header, &[u8])>, WireError> {
    let Some(header) = Header::peek(buf)? else { return Ok(None) };
    Ok(buf.get(HEADER_LEN..header.total_len()).map(|body| (header, body)))
}

/// Appends a message whose body `body` writes, and patches its length. On an error `out` is as before.
pub fn write_message(
    out: &mut Vec<u8>,
    tag: impl Into<u8>,
    body: impl FnOnce(&mut Vec<u8>),
) -> Result<(), WireError> {
    try_write_message(out, tag, |out| {
        body(out);
        Ok(())
    })
}

/// As [`write_message`], for a body that may fail.
pub fn try_write_message<E: From<WireError>>(
    out: &mut Vec<u8>,
    tag: impl Into<u8>,
    body: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let start = begin(out, tag);
    let written = body(out).and_then(|()| finish(out, start).map_err(E::from));
    if written.is_err() {
        out.truncate(start);
    }
    written
}

/// Appends the header with an open length; gives where the message starts.
pub(crate) fn begin(out: &mut Vec<u8>, tag: impl Into<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[tag.into(), 0, 0, 0, 0]);
    start
}

/// Patches the length of the message begun at `start`, which ends where `out` ends.
pub(crate) fn finish(out: &mut [u8], start: usize) -> Result<(), WireError> {
    let length_at = start.saturating_add(1);
    let length = out
        .len()
        .checked_sub(length_at)
        .and_then(|length| u32::try_from(length).ok())
        .filter(|length| (LENGTH_WORD..=MAX_MESSAGE_LENGTH).contains(length))
        .ok_or(WireError::TooLong { message: MESSAGE, what: "body" })?;
    patch(out, length_at, length.to_be_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_waits_for_five_bytes() {
        for have in 0..5 {
            assert_eq!(Header::peek(&b"Q\0\0\0\x08"[..have]), Ok(None));
        }
        let header = Header::peek(b"Q\0\0\0\x08").unwrap().unwrap();
        assert_eq!((header.tag, header.body_len, header.total_len()), (b'Q', 4, 9));
    }

    #[test]
    fn length_below_four_is_malformed() {
        for length in 0..4 {
            let error = Header::peek(&[b'Q', 0, 0, 0, length]).unwrap_err();
            assert_eq!(error, WireError::LengthTooSmall { message: MESSAGE, length: length.into() });
        }
    }

    #[test]
    fn length_above_the_servers_limit_is_malformed() {
        assert!(Header::peek(b"Q\x3f\xff\xff\xff").unwrap().is_some());
        assert!(matches!(Header::peek(b"Q\x40\0\0\0"), Err(WireError::LengthTooLarge { .. })));
        assert!(matches!(Header::peek(b"Q\xff\xff\xff\xff"), Err(WireError::LengthTooLarge { .. })));
    }

    #[test]
    fn message_waits_for_its_last_byte() {
        let whole = b"Q\0\0\0\x06a\0X";
        for have in 0..7 {
            assert_eq!(peek_message(&whole[..have]), Ok(None));
        }
        let (header, body) = peek_message(whole).unwrap().unwrap();
        assert_eq!((header.total_len(), body), (7, &b"a\0"[..]));
    }

    #[test]
    fn written_message_follows_what_was_there_and_counts_itself() {
        let mut out = b"before".to_vec();
        write_message(&mut out, b'Q', |out| out.extend_from_slice(b"ab\0")).unwrap();
        assert_eq!(out, b"beforeQ\0\0\0\x07ab\0");
    }

    #[test]
    fn failed_body_leaves_nothing_behind() {
        let mut out = b"before".to_vec();
        let error = WireError::TooLong { message: "x", what: "y" };
        let result = try_write_message(&mut out, b'Q', |out| {
            out.push(1);
            Err(error)
        });
        assert_eq!((result, &out[..]), (Err(error), &b"before"[..]));
    }
}
