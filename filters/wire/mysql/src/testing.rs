//! What the tests of every message share.

use crate::WireError;
use crate::limits::MAX_MESSAGE;
use crate::message::peek_message;
use crate::packet::Sequence;

/// Encodes a message after other bytes, checks its packets, and gives the payload.
pub(crate) fn payload_of(
    encode: impl FnOnce(&mut Sequence, &mut Vec<u8>) -> Result<(), WireError>,
) -> Vec<u8> {
    let (mut out, mut sequence) = (b"before".to_vec(), Sequence::starting_at(3));
    encode(&mut sequence, &mut out).unwrap();
    let written = out.strip_prefix(b"before").unwrap();
    let message = peek_message(written, MAX_MESSAGE).unwrap().unwrap();
    assert_eq!((message.total_len, message.sequence), (written.len(), 3));
    assert_eq!(Sequence::after(message.last_sequence), sequence);
    message.payload.into_owned()
}

/// Every proper beginning of a valid payload must be an error.
pub(crate) fn check_truncations(payload: &[u8], parse: impl Fn(&[u8]) -> Result<(), WireError>) {
    assert_eq!(parse(payload), Ok(()));
    for have in 0..payload.len() {
        assert!(parse(&payload[..have]).is_err(), "{have} of {} bytes", payload.len());
    }
}
