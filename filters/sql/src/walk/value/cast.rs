//! Finds the casts that leave a value's text unchanged.
//!
//! The server would turn `'007'::int` into 7 and `'t'::bool` into true before storing it. So a cast is allowed only to the
//! type that the policy declares, or if the server would return the text unchanged.

use sqlparser::ast::{CharacterLength, DataType, ExactNumberInfo, TimezoneInfo};

use crate::field::Declared;

/// Returns true for `text`, and for `varchar` without a length: a cast to these leaves characters unchanged.
pub(crate) fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Text => true,
        DataType::Varchar(length) | DataType::CharacterVarying(length) | DataType::CharVarying(length) => {
            length.is_none()
        }
        _ => false,
    }
}

/// Returns true if the cast to the type makes no difference to a value that is then stored in, or compared with, a column
/// of the declared type.
pub(crate) fn is_declared(data_type: &DataType, declared: Declared, type_name: &str) -> bool {
    let written: String =
        data_type.to_string().to_ascii_lowercase().chars().filter(|c| !c.is_ascii_whitespace()).collect();
    if written == type_name || (declared == Declared::Padded && padded(&written) == padded(type_name)) {
        return true;
    }
    let same = match data_type {
        DataType::Time(None, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => Declared::Time,
        DataType::JSON => Declared::Json,
        DataType::JSONB => Declared::Jsonb,
        other => match TextShape::of(other) {
            Some(TextShape::Any) => Declared::Characters,
            Some(TextShape::Integer) => Declared::Integer,
            Some(TextShape::Decimal) => Declared::Numeric,
            Some(TextShape::Float) => Declared::Float,
            Some(TextShape::Boolean) => Declared::Boolean,
            Some(TextShape::Uuid) => Declared::Uuid,
            Some(TextShape::Date) => Declared::Date,
            Some(TextShape::Timestamp) => Declared::Timestamp,
            Some(TextShape::TimestampTz) => Declared::TimestampTz,
            Some(TextShape::Bytea) => Declared::Bytea,
            None => return false,
        },
    };
    same == declared
}

/// Returns the length of a `char(n)` in brackets. The type has several names.
fn padded(written: &str) -> Option<&str> {
    ["bpchar", "character", "char"]
        .iter()
        .find_map(|name| written.strip_prefix(name))
        .filter(|rest| rest.starts_with('('))
}

/// The texts that a type returns unchanged.
#[derive(Clone, Copy)]
pub(crate) enum TextShape {
    Any,
    Integer,
    Decimal,
    Float,
    Boolean,
    Uuid,
    Date,
    Timestamp,
    /// The text has a zone. The server keeps an instant, not the text.
    TimestampTz,
    Bytea,
}

impl TextShape {
    /// Returns None for a type that may change any value: one with a length or a precision, or one that is not known.
    pub fn of(data_type: &DataType) -> Option<Self> {
        const NO_LENGTH: Option<CharacterLength> = None;
        match data_type {
            DataType::Text | DataType::JSON => Some(Self::Any),
            DataType::Varchar(length)
            | DataType::CharacterVarying(length)
            | DataType::CharVarying(length)
                if *length == NO_LENGTH =>
            {
                Some(Self::Any)
            }
            DataType::Int2(None)
            | DataType::SmallInt(None)
            | DataType::Int4(None)
            | DataType::Int(None)
            | DataType::Integer(None)
            | DataType::Int8(None)
            | DataType::BigInt(None) => Some(Self::Integer),
            DataType::Numeric(ExactNumberInfo::None) | DataType::Decimal(ExactNumberInfo::None) => {
                Some(Self::Decimal)
            }
            DataType::Float8 | DataType::DoublePrecision | DataType::Float(ExactNumberInfo::None) => {
                Some(Self::Float)
            }
            DataType::Bool | DataType::Boolean => Some(Self::Boolean),
            DataType::Uuid => Some(Self::Uuid),
            DataType::Date => Some(Self::Date),
            DataType::Timestamp(None, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => {
                Some(Self::Timestamp)
            }
            DataType::Timestamp(None, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz) => {
                Some(Self::TimestampTz)
            }
            DataType::Bytea => Some(Self::Bytea),
            _ => None,
        }
    }

    pub fn keeps(self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Integer => is_plain_integer(text),
            Self::Decimal => is_plain_number(unsigned(text)) && !is_minus_zero(text),
            // Fifteen digits are kept, and the server writes none of these numbers with an exponent.
            Self::Float => {
                let digits = unsigned(text);
                let padded = digits.contains('.') && digits.ends_with('0');
                is_plain_number(digits)
                    && !is_minus_zero(text)
                    && digits.len() <= 15
                    && !digits.starts_with("0.000")
                    && !padded
            }
            Self::Boolean => matches!(text, "true" | "false"),
            Self::Uuid => fits(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"),
            Self::Date => fits(text, DATE),
            Self::Timestamp => time_of(text).is_some_and(is_fraction),
            Self::TimestampTz => time_of(text).is_some_and(|rest| {
                let zone = rest.find(['Z', '+', '-']).and_then(|at| rest.split_at_checked(at));
                zone.is_some_and(|(fraction, zone)| is_fraction(fraction) && is_zone(zone))
            }),
            Self::Bytea => text.strip_prefix("\\x").is_some_and(|hex| {
                hex.len().is_multiple_of(2) && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
            }),
        }
    }
}

const DATE: &str = "0000-00-00";

/// Returns true for digits, or digits with a point and more digits, without a needless zero before them and without an
/// exponent.
pub(crate) fn is_plain_number(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(w, f)| (w, Some(f)));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    digits(whole) && (whole == "0" || !whole.starts_with('0')) && fraction.is_none_or(digits)
}

fn is_plain_integer(text: &str) -> bool {
    is_plain_number(unsigned(text)) && !text.contains('.') && !is_minus_zero(text)
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix('-').unwrap_or(text)
}

fn is_minus_zero(text: &str) -> bool {
    text.starts_with('-') && !text.bytes().any(|b| matches!(b, b'1'..=b'9'))
}

/// Returns true if the text fits the pattern. In the pattern `0` stands for a digit, `x` for a lower-case hexadecimal
/// digit, and any other character for itself.
fn fits(text: &str, pattern: &str) -> bool {
    text.len() == pattern.len()
        && text.bytes().zip(pattern.bytes()).all(|(byte, pattern)| match pattern {
            b'0' => byte.is_ascii_digit(),
            b'x' => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            other => byte == other,
        })
}

/// Returns what follows the seconds, or None if the text does not begin with a time.
fn time_of(text: &str) -> Option<&str> {
    const SECONDS: &str = "0000-00-00 00:00:00";
    let (head, rest) = text.split_at_checked(SECONDS.len())?;
    fits(head, SECONDS).then_some(rest)
}

/// Returns true for an empty text, and for a point with up to six digits of which the last is not zero.
fn is_fraction(text: &str) -> bool {
    text.is_empty()
        || text.strip_prefix('.').is_some_and(|digits| {
            (1..=6).contains(&digits.len())
                && digits.bytes().all(|b| b.is_ascii_digit())
                && !digits.ends_with('0')
        })
}

fn is_zone(text: &str) -> bool {
    let offset = text.strip_prefix(['+', '-']).unwrap_or_default();
    text == "Z" || fits(offset, "00") || fits(offset, "00:00")
}
