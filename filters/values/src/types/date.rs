//! `date`: ISO, and both infinities.

use super::calendar::{Day, infinity, trim};
use super::exactly;
use crate::ValueError;

const KIND: &str = "date";

pub(crate) fn canonicalize(text: &str) -> Result<String, ValueError> {
    let text = trim(text);
    match infinity(text) {
        Some(word) => Ok(word.to_owned()),
        None => Day::parse(text, KIND)?.print(),
    }
}

pub(crate) fn encode(text: &str) -> Result<Vec<u8>, ValueError> {
    let days = match text {
        "infinity" => i32::MAX,
        "-infinity" => i32::MIN,
        _ => Day::parse(text, KIND)?.0,
    };
    Ok(days.to_be_bytes().to_vec())
}

pub(crate) fn decode(bytes: &[u8]) -> Result<String, ValueError> {
    match i32::from_be_bytes(exactly(bytes, KIND)?) {
        i32::MAX => Ok("infinity".to_owned()),
        i32::MIN => Ok("-infinity".to_owned()),
        days => Day(days).print(),
    }
}
