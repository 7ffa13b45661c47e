//! Finds the end of plain text in a JSON string, eight bytes at a time.

/// How many bytes from the beginning are ASCII that stands for itself, counted in eights.
#[inline(always)]
pub(crate) fn plain(bytes: &[u8]) -> usize {
    eights(bytes, u64::MAX)
}

/// How many bytes from the beginning stand for themselves, whatever characters they are of.
pub(crate) fn run(bytes: &[u8]) -> usize {
    let eights = eights(bytes, 0);
    let rest = bytes.get(eights..).unwrap_or_default();
    let is_special = |byte: &u8| matches!(byte, b'\\' | b'"' | 0..0x20);
    eights.saturating_add(rest.iter().position(is_special).unwrap_or(rest.len()))
}

/// How many bytes from the beginning stand for themselves, counted in eights. `not_ascii` has all bits set where what is not
/// ASCII does not.
///
/// Most of a body is within strings, so eight bytes are looked at as one number: a byte's highest bit is set in
/// `found` if it is a quote, a backslash, a control character or not ASCII. A borrow may set one in a byte after
/// the first such byte, never before it.
#[inline(always)]
fn eights(bytes: &[u8], not_ascii: u64) -> usize {
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
        let found = (zeros | controls | (eight & not_ascii)) & HIGHS;
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
    use super::{plain, run};

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

    #[test]
    fn a_run_of_any_characters_ends_at_every_byte_that_is_escaped_or_ends_the_string() {
        for byte in 0..=u8::MAX {
            let stands_for_itself = byte >= 0x20 && byte != b'"' && byte != b'\\';
            for filled in [b'a', 0xa4] {
                for at in 0..21 {
                    let mut bytes = [filled; 21];
                    bytes[at] = byte;
                    assert_eq!(run(&bytes), if stands_for_itself { 21 } else { at }, "{byte:#x} at {at}");
                }
            }
        }
    }
}
