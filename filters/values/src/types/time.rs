//! `time`: microseconds since midnight, up to and including 24:00.

use super::calendar::trim;
use super::clock::{self, MICROS_PER_DAY};
use super::exactly;
use super::timestamp::parse_offset;
use crate::ValueError;

const KIND: &str = "time";

pub(crate) use super::clock::max_text_bytes;

fn parse(text: &str) -> Result<i64, ValueError> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | '.'))).unwrap_or(text.len());
    match text.split_at_checked(end) {
        Some((clock, "")) => clock::parse(clock, KIND),
        // As the server does: drivers send a zone with every time.
        Some((clock, zone)) if parse_offset(zone.trim_start_matches(' ')).is_some() => {
            clock::parse(clock, KIND)
        }
        _ => Err(ValueError::Invalid(KIND)),
    }
}

/// Rounds to `precision` digits, halves up, as the server's `AdjustTimeForTypmod`: 24:00 may come of it.
fn round(micros: i64, precision: Option<u32>) -> Option<i64> {
    let scale = 10_i64.pow(6_u32.checked_sub(precision.unwrap_or(6))?);
    let up = micros.checked_add(scale / 2)?;
    up.checked_sub(up.checked_rem(scale)?)
}

pub(crate) fn canonicalize(text: &str, precision: Option<u32>) -> Result<String, ValueError> {
    let micros = round(parse(trim(text))?, precision).ok_or(ValueError::OutOfRange(KIND))?;
    Ok(clock::print(micros))
}

pub(crate) fn encode(text: &str) -> Result<Vec<u8>, ValueError> {
    parse(text).map(|micros| micros.to_be_bytes().to_vec())
}

pub(crate) fn decode(bytes: &[u8]) -> Result<String, ValueError> {
    match i64::from_be_bytes(exactly(bytes, KIND)?) {
        micros @ 0..=MICROS_PER_DAY => Ok(clock::print(micros)),
        _ => Err(ValueError::OutOfRange(KIND)),
    }
}
