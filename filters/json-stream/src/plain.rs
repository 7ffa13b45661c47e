//! Finds the end of plain text in a JSON string, eight bytes at a time.

/// What is left behind ASCII that stands for itself. A tail shorter than eight bytes is not looked at, and is left.
#[inline(always)]
pub(crate) fn behind_plain(bytes: &[u8]) -> &[u8] {
    behind(bytes, u64::MAX)
}

/// How many bytes from the beginning stand for themselves, whatever characters they are of.
pub(crate) fn run(bytes: &[u8]) -> usize {
    let mut left = behind(bytes, 0);
    while let [byte, behind @ ..] = left
        && !matches!(byte, b'\\' | b'"' | 0..0x20)
    {
        left = behind;
    }
    bytes.len().saturating_sub(left.len())
}

/// What is left behind bytes that stand for themselves. `not_ascii` has all bits set where what is not ASCII does not.
///
/// Most of a body is within strings, so eight bytes are looked at as one number: a byte's highest bit is set in
/// `found` if it is a quote, a backslash, a control character or not ASCII. A borrow may set one in a byte after
/// the first such byte, never before it.
#[inline(always)]
fn behind(mut bytes: &[u8], not_ascii: u64) -> &[u8] {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    while let Some((eight, behind)) = bytes.split_first_chunk() {
        let eight = u64::from_le_bytes(*eight);
        let quote = eight ^ ONES.wrapping_mul(0x22);
        let backslash = eight ^ ONES.wrapping_mul(0x5c);
        let zeros = (quote.wrapping_sub(ONES) & !quote) | (backslash.wrapping_sub(ONES) & !backslash);
        let controls = eight.wrapping_sub(ONES.wrapping_mul(0x20)) & !eight;
        let found = (zeros | controls | (eight & not_ascii)) & HIGHS;
        if found != 0 {
            let first = usize::try_from(found.trailing_zeros() >> 3).unwrap_or_default();
            return bytes.get(first..).unwrap_or_default();
        }
        bytes = behind;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::{behind_plain, run};

    #[test]
    fn a_run_of_plain_bytes_ends_at_every_byte_that_is_not() {
        for byte in 0..=u8::MAX {
            let stands_for_itself = matches!(byte, 0x20..0x80) && byte != b'"' && byte != b'\\';
            for at in 0..16 {
                let mut bytes = [b'a'; 24];
                bytes[at] = byte;
                let left = if stands_for_itself { 0 } else { 24 - at };
                assert_eq!(behind_plain(&bytes).len(), left, "{byte:#x} at {at}");
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
