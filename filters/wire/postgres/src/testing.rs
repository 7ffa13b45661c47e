//! What the tests of every message share.

use crate::WireError;
use crate::frame::peek_message;

/// Encodes a message after other bytes, checks tag and length, and gives the body.
pub(crate) fn body_of(
    tag: impl Into<u8>,
    encode: impl FnOnce(&mut Vec<u8>) -> Result<(), WireError>,
) -> Vec<u8> {
    let mut out = b"before".to_vec();
    encode(&mut out).unwrap();
    let message = out.strip_prefix(b"before").unwrap();
    let (header, body) = peek_message(message).unwrap().unwrap();
    assert_eq!((header.tag, header.total_len()), (tag.into(), message.len()));
    body.to_vec()
}

/// Every proper beginning of a valid body must be an error.
pub(crate) fn check_truncations(body: &[u8], parse: impl Fn(&[u8]) -> Result<(), WireError>) {
    assert_eq!(parse(body), Ok(()));
    for have in 0..body.len() {
        assert!(parse(&body[..have]).is_err(), "{have} of {} bytes", body.len());
    }
}
