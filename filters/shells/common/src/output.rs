//! The bytes that leave a callback, beside those that came.

/// The bytes that leave a callback: those that came and are unchanged, or those that the session wrote.
pub fn forwarded<'b>(unchanged: usize, bytes: &'b [u8], written: &'b [u8]) -> &'b [u8] {
    match unchanged {
        0 => written,
        unchanged => bytes.get(..unchanged).unwrap_or(bytes),
    }
}

/// Whether exactly the bytes that came leave the callback, so that Envoy's buffer needs no change.
pub fn is_unchanged(unchanged: usize, bytes: &[u8], written: &[u8]) -> bool {
    unchanged == bytes.len() && written.is_empty()
}

/// Writes out the bytes that are unchanged, because something else comes before or behind them.
pub fn complete(unchanged: &mut usize, bytes: &[u8], written: &mut Vec<u8>) {
    let unchanged = std::mem::take(unchanged);
    written.extend_from_slice(bytes.get(..unchanged).unwrap_or_default());
}
