//! Appending the parts of a message, with the checks that keep a written message well formed.

use crate::{Format, WireError};

/// A 16-bit count.
pub(crate) fn count(
    out: &mut Vec<u8>,
    message: &'static str,
    what: &'static str,
    count: usize,
    limit: usize,
) -> Result<(), WireError> {
    if count > limit {
        return Err(WireError::TooMany { message, what, limit });
    }
    let count = u16::try_from(count).map_err(|_| WireError::TooMany { message, what, limit })?;
    out.extend_from_slice(&count.to_be_bytes());
    Ok(())
}

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

/// A zero-terminated name of a statement or portal, bounded as it is when read.
pub(crate) fn name(
    out: &mut Vec<u8>,
    message: &'static str,
    what: &'static str,
    bytes: &[u8],
) -> Result<(), WireError> {
    if bytes.len() > crate::limits::MAX_NAME {
        return Err(WireError::TooLong { message, what });
    }
    string(out, message, what, bytes)
}

/// A value with its length, or NULL.
pub(crate) fn value(
    out: &mut Vec<u8>,
    message: &'static str,
    what: &'static str,
    bytes: Option<&[u8]>,
) -> Result<(), WireError> {
    match bytes {
        None => out.extend_from_slice(&(-1_i32).to_be_bytes()),
        Some(bytes) => {
            let length = i32::try_from(bytes.len()).map_err(|_| WireError::TooLong { message, what })?;
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(bytes);
        }
    }
    Ok(())
}

/// A value with its length as `write` appends it, or NULL if it says that there is none. On its error what was written is
/// for the caller to take back.
#[inline]
pub(crate) fn value_with<E: From<WireError>>(
    out: &mut Vec<u8>,
    message: &'static str,
    what: &'static str,
    write: impl FnOnce(&mut Vec<u8>) -> Result<bool, E>,
) -> Result<(), E> {
    let length_at = out.len();
    out.extend_from_slice(&(-1_i32).to_be_bytes());
    let start = out.len();
    if !write(out)? {
        out.truncate(start);
        return Ok(());
    }
    let length = out.len().checked_sub(start).and_then(|length| i32::try_from(length).ok());
    patch(out, length_at, length.ok_or(WireError::TooLong { message, what })?.to_be_bytes());
    Ok(())
}

/// A list of format codes with its count.
pub(crate) fn formats(
    out: &mut Vec<u8>,
    message: &'static str,
    what: &'static str,
    formats: &[Format],
) -> Result<(), WireError> {
    count(out, message, what, formats.len(), crate::limits::MAX_FORMATS)?;
    for format in formats {
        out.extend_from_slice(&format.code().to_be_bytes());
    }
    Ok(())
}

/// Puts a 32-bit word over four bytes written earlier.
pub(crate) fn patch(out: &mut [u8], at: usize, word: [u8; 4]) {
    if let Some(slot) = out.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<4>()) {
        *slot = word;
    }
}
