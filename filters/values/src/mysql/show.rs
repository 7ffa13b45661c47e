//! A canonical text as the server sends the value, in text and in binary rows.

use std::borrow::Cow;

use super::column::{self, MAX_DIGITS, MAX_SCALE, precision};
use super::moment::{self, Moment};
use super::{Settings, double};
use crate::kind::Kind;
use crate::types::integer::Width;
use crate::types::{bytea, float, numeric};
use crate::{DeclaredType, ValueError};

/// The session's character_set_results is not one that this text can be written in here.
const NOT_WRITTEN: ValueError =
    ValueError::Unsupported("this text in the session's character_set_results; say SET NAMES utf8mb4");

fn valid(canonical: &[u8]) -> Result<&str, ValueError> {
    std::str::from_utf8(canonical).map_err(|_| ValueError::Invalid("UTF-8 text"))
}

/// Whether clients get the canonical text of each value as it is, in rows of text and in binary rows, there with its length:
/// characters in UTF-8.
pub fn shows_canonical(declared: &DeclaredType, settings: &Settings) -> bool {
    let are_characters = matches!(
        column::kind(declared),
        Ok(Kind::Text | Kind::Varchar(_) | Kind::Bpchar(_) | Kind::Json | Kind::Jsonb)
    );
    are_characters && settings.results.has_all_characters()
}

/// Checks a canonical text that a client gets as it is.
pub fn check_canonical(canonical: &[u8]) -> Result<(), ValueError> {
    valid(canonical).map(drop)
}

/// The value of a text row, without its length.
pub fn encode_text(
    declared: &DeclaredType,
    settings: &Settings,
    canonical: &[u8],
) -> Result<Vec<u8>, ValueError> {
    shown(declared, settings, canonical).map(Cow::into_owned)
}

/// As [`encode_text`], appended.
pub fn encode_text_to(
    declared: &DeclaredType,
    settings: &Settings,
    canonical: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), ValueError> {
    out.extend_from_slice(&shown(declared, settings, canonical)?);
    Ok(())
}

fn shown<'c>(
    declared: &DeclaredType,
    settings: &Settings,
    canonical: &'c [u8],
) -> Result<Cow<'c, [u8]>, ValueError> {
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
        Kind::Bytea(_) => return bytea::encode(text).map(Cow::Owned),
        Kind::Integer(_) | Kind::Uuid => return Ok(Cow::Borrowed(canonical)),
        // Any other has no form of MySQL's own, and is shown as characters.
        _ => return characters(text, settings),
    };
    Ok(Cow::Owned(shown.into_bytes()))
}

/// The value of a binary row as it stands there, with its length where the type has one.
pub fn encode_binary(
    declared: &DeclaredType,
    settings: &Settings,
    canonical: &[u8],
) -> Result<Vec<u8>, ValueError> {
    let mut value = Vec::new();
    encode_binary_to(declared, settings, canonical, &mut value)?;
    Ok(value)
}

/// As [`encode_binary`], appended.
pub fn encode_binary_to(
    declared: &DeclaredType,
    settings: &Settings,
    canonical: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), ValueError> {
    let text = valid(canonical)?;
    let integer = || text.parse::<i64>().map_err(|_| ValueError::Invalid("integer"));
    let too_wide = |_| ValueError::OutOfRange("integer");
    match column::kind(declared)? {
        Kind::Integer(Width::Two) => {
            out.extend_from_slice(&i16::try_from(integer()?).map_err(too_wide)?.to_le_bytes());
        }
        Kind::Integer(Width::Four) => {
            out.extend_from_slice(&i32::try_from(integer()?).map_err(too_wide)?.to_le_bytes());
        }
        Kind::Integer(Width::Eight) => out.extend_from_slice(&integer()?.to_le_bytes()),
        Kind::Bool => out.push(u8::from(*shown(declared, settings, canonical)? == *b"1")),
        Kind::Float8 => out.extend_from_slice(&finite(text)?.to_le_bytes()),
        Kind::Date => with_length(&moment::date_bytes(day(text)?.day), out),
        Kind::Timestamp(_) => with_length(&day(text)?.encode(), out),
        Kind::Time(_) => with_length(&moment::encode_time(moment::parse_clock(text)?.micros), out),
        _ => with_length(&shown(declared, settings, canonical)?, out),
    }
    Ok(())
}

/// A length-encoded string.
fn with_length(bytes: &[u8], out: &mut Vec<u8>) {
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes();
    let (first, width) = match bytes.len() {
        0..=250 => (None, 1),
        251..=0xFFFF => (Some(0xFC), 2),
        0x1_0000..=0xFF_FFFF => (Some(0xFD), 3),
        _ => (Some(0xFE), 8),
    };
    out.extend(first);
    out.extend(length.iter().take(width));
    out.extend_from_slice(bytes);
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

fn characters<'t>(text: &'t str, settings: &Settings) -> Result<Cow<'t, [u8]>, ValueError> {
    settings.results.show(text).ok_or(NOT_WRITTEN)
}
