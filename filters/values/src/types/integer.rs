//! `int2`, `int4`, `int8`: decimal. Other bases and digit separators are refused.

use super::exactly;
use crate::{ValueError, oid};

/// How wide an integer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    Two,
    Four,
    Eight,
}

impl Width {
    pub(crate) fn oid(self) -> u32 {
        match self {
            Self::Two => oid::INT2,
            Self::Four => oid::INT4,
            Self::Eight => oid::INT8,
        }
    }

    pub(crate) fn bytes(self) -> i16 {
        match self {
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    /// Bytes of the smallest value's text.
    pub(crate) fn max_text_bytes(self) -> usize {
        match self {
            Self::Two => "-32768".len(),
            Self::Four => "-2147483648".len(),
            Self::Eight => "-9223372036854775808".len(),
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Two => "int2",
            Self::Four => "int4",
            Self::Eight => "int8",
        }
    }

    fn holds(self, value: i64) -> bool {
        match self {
            Self::Two => i16::try_from(value).is_ok(),
            Self::Four => i32::try_from(value).is_ok(),
            Self::Eight => true,
        }
    }
}

fn parse(text: &str, width: Width) -> Result<i64, ValueError> {
    let digits = super::calendar::trim(text);
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    if unsigned.is_empty() || !unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return Err(ValueError::Invalid(width.kind()));
    }
    let value = digits.parse().map_err(|_| ValueError::OutOfRange(width.kind()))?;
    if width.holds(value) { Ok(value) } else { Err(ValueError::OutOfRange(width.kind())) }
}

pub(crate) fn canonicalize(text: &str, width: Width) -> Result<String, ValueError> {
    parse(text, width).map(|value| value.to_string())
}

pub(crate) fn encode(text: &str, width: Width) -> Result<Vec<u8>, ValueError> {
    let bytes = parse(text, width)?.to_be_bytes();
    let skip = usize::from(8_u16.saturating_sub(width.bytes().unsigned_abs()));
    Ok(bytes.get(skip..).unwrap_or_default().to_vec())
}

pub(crate) fn decode(bytes: &[u8], width: Width) -> Result<String, ValueError> {
    let kind = width.kind();
    Ok(match width {
        Width::Two => i16::from_be_bytes(exactly(bytes, kind)?).to_string(),
        Width::Four => i32::from_be_bytes(exactly(bytes, kind)?).to_string(),
        Width::Eight => i64::from_be_bytes(exactly(bytes, kind)?).to_string(),
    })
}
