//! Appending the parts of a message, with the checks that keep a written message well formed.

use crate::WireError;

/// A zero-terminated string.
pub(crate) fn string(
    out: &mut Vec<u8>,
    message: &'static str,
    what: &'static str,
    bytes: &[u8],
) -> Result<(), WireError> {
    if bytes.contains(&0) {
        return Err(WireError::NotAString { message, what });
    }
    out.extend_from_slice(bytes);
    out.push(0);
    Ok(())
}

/// A string of at most 255 bytes after one byte of length.
pub(crate) fn short_string(
    out: &mut Vec<u8>,
    message: &'static str,
    what: &'static str,
    bytes: &[u8],
) -> Result<(), WireError> {
    out.push(u8::try_from(bytes.len()).map_err(|_| WireError::TooLong { message, what })?);
    out.extend_from_slice(bytes);
    Ok(())
}

/// Puts bytes over as many written earlier.
pub(crate) fn patch<const N: usize>(out: &mut [u8], at: usize, bytes: [u8; N]) {
    if let Some(slot) = out.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<N>()) {
        *slot = bytes;
    }
}
