//! Comparisons with a value.
//!
//! # Blind indexes
//! The values that are equal have envelopes that begin alike. `column LIKE 'begin%'` is looked up in an ordinary index
//! on the column, or on its first characters, which `LEFT(column, n) = 'begin'` is not: MariaDB has no indexes on
//! expressions, and MySQL only where one was made for just this. It is right under every collation: what a pattern
//! compares it compares character by character. One that tells no cases apart takes two different indexes of 128 bits
//! for one with a probability of about 2^-106; of a binary column it compares bytes.

/// What escapes in the patterns: it is in no armored envelope, and means the same in every `sql_mode`, which a backslash
/// does not.
const ESCAPE: u8 = b'!';

/// The pattern of what begins so, for `LIKE … ESCAPE '!'`.
pub fn like_pattern(begin: &[u8]) -> Vec<u8> {
    let mut pattern = Vec::with_capacity(begin.len().saturating_mul(2));
    for byte in begin {
        if matches!(*byte, b'%' | b'_' | ESCAPE) {
            pattern.push(ESCAPE);
        }
        pattern.push(*byte);
    }
    pattern.push(b'%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::like_pattern;

    #[test]
    fn a_pattern_matches_what_begins_with_the_bytes_alone() {
        assert_eq!(like_pattern(b"fv1.a-B_c"), b"fv1.a-B!_c%");
        assert_eq!(like_pattern(b"\x00%!_\\\xff"), b"\x00!%!!!_\\\xff%");
    }
}
