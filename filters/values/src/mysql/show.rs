//! A canonical text as the server sends the value, in text and in binary rows.

use super::column::{self, MAX_DIGITS, MAX_SCALE, precision};
use super::moment::{self, Moment};
use super::{Settings, double};
use crate::kind::Kind;
use crate::types::integer::Width;
use crate::types::{bytea, float, numeric};
use crate::{DeclaredType, ValueError};

/// What stands in for a character that utf8mb3 has not.
const REPLACEMENT: char = '?';

fn valid(canonical: &[u8]) -> Result<&str, ValueError> {
    std::str::from_utf8(canonical).map_err(|_| ValueError::Invalid("UTF-8 text"))
}

/// The value of a text row, without its length.
pub fn encode_text(
    declared: &DeclaredType,
    settings: &Settings,
    canonical: &[u8],
) -> Result<Vec<u8>, ValueError> {
    let kind = column::kind(declared)?;
    let text = valid(canonical)?;
    let shown = match kind {
        Kind::Bool => match text {
            "t" => "1".to_owned(),
            "f" => "0".to_owned(),
            _ => return Err(ValueError::Invalid("BOOLEAN")),
        },
        Kind::Float8 => double::print(finite(text)?),
        Kind::Numeric(_) => decimal(text)?.to_owned(),
        Kind::Date => moment::date_text(day(text)?.day),
        Kind::Time(p) => moment::clock_text(moment::parse_clock(text)?.micros, precision(p)),
        Kind::Timestamp(p) | Kind::Timestamptz(p) => {
            let Moment { day, clock } = day(text)?;
            format!("{} {}", moment::date_text(day), moment::clock_text(clock.micros, precision(p)))
        }
        Kind::Bytea(_) => return bytea::encode(text),
        Kind::Integer(_) | Kind::Uuid => text.to_owned(),
        Kind::Text | Kind::Varchar(_) | Kind::Bpchar(_) | Kind::Json | Kind::Jsonb => {
            characters(text, settings)
        }
    };
    Ok(shown.into_bytes())
}

/// The value of a binary row as it stands there, with its length where the type has one.
pub fn encode_binary(
    declared: &DeclaredType,
    settings: &Settings,
    canonical: &[u8],
) -> Result<Vec<u8>, ValueError> {
    let text = valid(canonical)?;
    let integer = || text.parse::<i64>().map_err(|_| ValueError::Invalid("integer"));
    let too_wide = |_| ValueError::OutOfRange("integer");
    Ok(match column::kind(declared)? {
        Kind::Integer(Width::Two) => i16::try_from(integer()?).map_err(too_wide)?.to_le_bytes().to_vec(),
        Kind::Integer(Width::Four) => i32::try_from(integer()?).map_err(too_wide)?.to_le_bytes().to_vec(),
        Kind::Integer(Width::Eight) => integer()?.to_le_bytes().to_vec(),
        Kind::Bool => vec![u8::from(encode_text(declared, settings, canonical)? == b"1")],
        Kind::Float8 => finite(text)?.to_le_bytes().to_vec(),
        Kind::Date => with_length(&moment::date_bytes(day(text)?.day)),
        Kind::Timestamp(_) => with_length(&day(text)?.encode()),
        Kind::Time(_) => with_length(&moment::encode_time(moment::parse_clock(text)?.micros)),
        _ => with_length(&encode_text(declared, settings, canonical)?),
    })
}

/// A length-encoded string.
fn with_length(bytes: &[u8]) -> Vec<u8> {
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes();
    let (first, width) = match bytes.len() {
        0..=250 => (None, 1),
        251..=0xFFFF => (Some(0xFC), 2),
        0x1_0000..=0xFF_FFFF => (Some(0xFD), 3),
        _ => (Some(0xFE), 8),
    };
    let mut value = Vec::with_capacity(bytes.len().saturating_add(9));
    value.extend(first);
    value.extend(length.iter().take(width));
    value.extend_from_slice(bytes);
    value
}

fn finite(text: &str) -> Result<f64, ValueError> {
    let value = float::parse(text)?;
    if value.is_finite() { Ok(value) } else { Err(ValueError::OutOfRange("DOUBLE")) }
}

fn decimal(text: &str) -> Result<&str, ValueError> {
    let (digits, scale) = numeric::digits(text).ok_or(ValueError::OutOfRange("DECIMAL"))?;
    let fits = |count: usize, most: u32| u32::try_from(count).is_ok_and(|count| count <= most);
    if fits(digits, MAX_DIGITS) && fits(scale, MAX_SCALE) {
        Ok(text)
    } else {
        Err(ValueError::OutOfRange("DECIMAL"))
    }
}

/// A date or timestamp that MySQL has: no infinity, no year before 1 or past 9999.
fn day(canonical: &str) -> Result<Moment, ValueError> {
    Moment::parse(canonical)
        .map_err(|_| ValueError::OutOfRange("DATE or DATETIME, whose years are 1 to 9999"))
}

fn characters(text: &str, settings: &Settings) -> String {
    // As the server does.
    let fits = |c: char| settings.results.max_bytes != 3 || c.len_utf8() <= 3;
    text.chars().map(|c| if fits(c) { c } else { REPLACEMENT }).collect()
}
