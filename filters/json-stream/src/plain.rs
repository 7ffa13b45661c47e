//! Finds the end of plain text in a JSON string, eight bytes at a time.

/// How many bytes from the beginning are ASCII that stands for itself, counted in eights.
///
/// Most of a body is within strings, so eight bytes are looked at as one number: a byte's highest bit is set in
/// `found` if it is a quote, a backslash, a control character or not ASCII. A borrow may set one in a byte after
/// the first such byte, never before it.
pub(crate) fn plain(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let (eights, _) = bytes.as_chunks::<8>();
    let mut read = 0_usize;
    for eight in eights {
        let eight = u64::from_le_bytes(*eight);
        let quote = eight ^ ONES.wrapping_mul(0x22);
        let backslash = eight ^ ONES.wrapping_mul(0x5c);
        let zeros = (quote.wrapping_sub(ONES) & !quote) | (backslash.wrapping_sub(ONES) & !backslash);
        let controls = eight.wrapping_sub(ONES.wrapping_mul(0x20)) & !eight;
        let found = (zeros | controls | eight) & HIGHS;
        if found != 0 {
            let first = found.trailing_zeros() >> 3;
            return read.saturating_add(usize::try_from(first).unwrap_or_default());
        }
        read = read.saturating_add(8);
    }
    read
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_run_of_plain_bytes_ends_at_every_byte_that_is_not() {
        for byte in 0..=u8::MAX {
            let stands_for_itself = matches!(byte, 0x20..0x80) && byte != b'"' && byte != b'\\';
            for at in 0..16 {
                let mut bytes = [b'a'; 24];
                bytes[at] = byte;
                assert_eq!(plain(&bytes), if stands_for_itself { 24 } else { at }, "{byte:#x} at {at}");
            }
        }
    }
}
