//! `varchar(n)` and `char(n)`. Lengths are in characters.

use crate::ValueError;

/// Bytes of so many characters in UTF-8, at most.
pub(crate) fn max_text_bytes(length: u32) -> Option<usize> {
    usize::try_from(length).ok()?.checked_mul(4)
}

/// As `varchar(n)` stores it: what is longer is refused, unless only spaces are too many, which go.
pub(crate) fn varying(text: &str, length: Option<u32>) -> Result<&str, ValueError> {
    let Some(length) = length else { return Ok(text) };
    let keep = usize::try_from(length).unwrap_or(usize::MAX);
    match text.char_indices().nth(keep) {
        None => Ok(text),
        Some((end, _)) => match text.split_at_checked(end) {
            Some((kept, rest)) if rest.bytes().all(|b| b == b' ') => Ok(kept),
            _ => Err(ValueError::TooLong(length)),
        },
    }
}

/// As `char(n)` means it: trailing spaces do not count.
pub(crate) fn padded(text: &str, length: u32) -> Result<&str, ValueError> {
    Ok(varying(text, Some(length))?.trim_end_matches(' '))
}

/// As `char(n)` shows it.
pub(crate) fn pad(text: &str, length: u32) -> String {
    let missing = usize::try_from(length).unwrap_or_default().saturating_sub(text.chars().count());
    let mut padded = text.to_owned();
    padded.extend(std::iter::repeat_n(' ', missing));
    padded
}
