//! Plaintexts in buffers that are used again and again.

use zeroize::Zeroize;

/// Makes room for so many more bytes. A `Vec` that grows by itself leaves what it held in the memory that it gives back;
/// this wipes it there. For buffers of plaintext.
pub fn reserve_wiping(buffer: &mut Vec<u8>, additional: usize) {
    if buffer.capacity().saturating_sub(buffer.len()) >= additional {
        return;
    }
    let needed = buffer.len().saturating_add(additional);
    // Twice as much as there was, as a `Vec` does: many small values are appended in linear time.
    let mut larger = Vec::with_capacity(needed.max(buffer.capacity().saturating_mul(2)));
    larger.extend_from_slice(buffer);
    buffer.zeroize();
    *buffer = larger;
}

/// Appends the text as `crypt` changes it in place; wipes it and appends nothing where that fails. There is room already.
pub(crate) fn append<T, E>(
    out: &mut Vec<u8>,
    text: &[u8],
    crypt: impl FnOnce(&mut [u8]) -> Result<T, E>,
) -> Result<T, E> {
    let before = out.len();
    out.extend_from_slice(text);
    crypt(out.get_mut(before..).unwrap_or_default()).inspect_err(|_| {
        out.get_mut(before..).unwrap_or_default().zeroize();
        out.truncate(before);
    })
}
