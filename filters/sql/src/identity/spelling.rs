//! The ways to write the name of a user variable of MySQL's that the server takes for `@fieldveil_token`, in a text that is
//! not read yet: names are compared as `utf8mb3_general_ci` compares, which takes `é` for `e`, and quotes may hold escapes.

use super::TOKEN_VARIABLE;

/// Bytes in which a name is looked for, a bit of a set each. All letters written in four bytes are half as many.
const WINDOW: usize = 120;

/// Whether a text may hold such a name beside the one in ASCII. What it takes for one may be another, not the reverse.
pub(super) fn may_be_token(text: &[u8]) -> bool {
    // Most texts have none, which is found out faster than where one is.
    if !text.contains(&b'@') {
        return false;
    }
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
    // Nearly always it is told by the first letter.
    if !bytes.first().is_some_and(|byte| byte.eq_ignore_ascii_case(&b'f') || !byte.is_ascii()) {
        return false;
    }
    let window = bytes.get(..WINDOW).unwrap_or(bytes);
    let escapes = places(window, u128::MAX, |byte| byte == b'\\');
    let wide = places(window, u128::MAX, |byte| !byte.is_ascii());
    // Where the next letter may begin, a bit for each byte: one that is not ASCII begins a character of one to four bytes, as
    // the text's character set has it.
    let mut starts = 1_u128;
    for letter in TOKEN_VARIABLE.bytes() {
        while starts & escapes != 0 {
            starts = (starts & !escapes) | ((starts & escapes) << 1);
        }
        if starts >> WINDOW != 0 && bytes.len() > WINDOW {
            return true;
        }
        let is_letter = |byte: u8| byte.eq_ignore_ascii_case(&letter);
        let (narrow, wide) = (places(window, starts & !wide, is_letter), starts & wide);
        starts = (narrow | wide) << 1 | wide << 2 | wide << 3 | wide << 4;
        if starts == 0 {
            return false;
        }
    }
    true
}

/// Which of these bytes are so.
fn places(window: &[u8], of: u128, are: impl Fn(u8) -> bool) -> u128 {
    let mut found = 0_u128;
    let mut place = 1_u128;
    for byte in window {
        if of & place != 0 && are(*byte) {
            found |= place;
        }
        place <<= 1;
    }
    found
}
