//! The ways to write the name of a user variable of MySQL's that the server takes for `@fieldveil_token`, in a text that is
//! not read yet: names are compared as `utf8mb3_general_ci` compares, which takes `é` for `e`, and quotes may hold escapes.

use std::collections::BTreeSet;

use super::TOKEN_VARIABLE;

/// Bytes of one character at most, whatever the character set.
const MAX_CHARACTER: usize = 4;

/// Whether a text may hold such a name beside the one in ASCII. What it takes for one may be another, not the reverse.
pub(super) fn may_be_token(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == b'@') {
        rest = rest.get(at.saturating_add(1)..).unwrap_or_default();
        // In a string quotes are doubled, or behind a backslash.
        let quotes = rest.iter().take_while(|byte| matches!(byte, b'\'' | b'"' | b'`' | b'\\')).count();
        if is_token(rest.get(quotes..).unwrap_or_default()) {
            return true;
        }
    }
    false
}

/// Whether what begins here may be read as the name.
fn is_token(bytes: &[u8]) -> bool {
    // Where the next letter may begin: a byte that is not ASCII begins a character of so many bytes as the text's
    // character set has it.
    let mut starts = BTreeSet::from([0_usize]);
    for letter in TOKEN_VARIABLE.bytes() {
        starts = starts.iter().flat_map(|start| behind(bytes, *start, letter)).collect();
    }
    !starts.is_empty()
}

/// Where the next letter may begin, if this one may stand here.
fn behind(bytes: &[u8], start: usize, letter: u8) -> std::ops::Range<usize> {
    let rest = bytes.get(start..).unwrap_or_default();
    let escapes = rest.iter().take_while(|byte| **byte == b'\\').count();
    let at = start.saturating_add(escapes);
    let longest = match bytes.get(at) {
        Some(byte) if byte.eq_ignore_ascii_case(&letter) => 1,
        Some(byte) if !byte.is_ascii() => MAX_CHARACTER,
        _ => 0,
    };
    at.saturating_add(1)..at.saturating_add(1).saturating_add(longest)
}
