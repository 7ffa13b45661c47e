//! `uuid`: lower case with hyphens.

use super::exactly;
use crate::ValueError;

const KIND: &str = "uuid";
/// Digits and hyphens.
pub(crate) const TEXT_BYTES: usize = 36;

fn parse(text: &str) -> Result<[u8; 16], ValueError> {
    let bare = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap_or(text);
    let hyphens: Vec<usize> = bare.bytes().enumerate().filter(|(_, b)| *b == b'-').map(|(i, _)| i).collect();
    if !(hyphens.is_empty() || hyphens == [8, 13, 18, 23]) {
        return Err(ValueError::Invalid(KIND));
    }
    let digits: Option<Vec<u8>> = bare
        .chars()
        .filter(|c| *c != '-')
        .map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok()))
        .collect();
    let digits = digits.filter(|d| d.len() == 32).ok_or(ValueError::Invalid(KIND))?;
    let bytes: Vec<u8> = digits.as_chunks::<2>().0.iter().map(|[high, low]| (high << 4) | low).collect();
    exactly(&bytes, KIND)
}

fn print(bytes: [u8; 16]) -> String {
    let mut text = String::with_capacity(TEXT_BYTES);
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

pub(crate) fn canonicalize(text: &str) -> Result<String, ValueError> {
    parse(text).map(print)
}

pub(crate) fn encode(text: &str) -> Result<Vec<u8>, ValueError> {
    parse(text).map(|bytes| bytes.to_vec())
}

pub(crate) fn decode(bytes: &[u8]) -> Result<String, ValueError> {
    exactly(bytes, KIND).map(print)
}
