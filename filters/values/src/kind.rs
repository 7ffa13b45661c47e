//! What a scalar type is, with its modifier, and what is done to its values: one line a type.

mod family;
mod parameter;

use std::borrow::Cow;

pub(crate) use self::family::Family;
use crate::types::{
    boolean, bytea, character, date, float, integer, json, jsonb, numeric, time, timestamp, uuid,
};
use crate::value_use::ValueUse;
use crate::{ValueError, oid};

/// A scalar type with its modifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Varchar(Option<u32>),
    Bpchar(Option<u32>),
    Integer(integer::Width),
    Bool,
    Float8,
    Numeric(Option<numeric::Modifier>),
    Date,
    Time(Option<u32>),
    Timestamp(Option<u32>),
    Timestamptz(Option<u32>),
    Uuid,
    Json,
    Jsonb,
    /// With the most bytes, as `varbinary(n)` has it.
    Bytea(Option<u32>),
}

impl Kind {
    pub(crate) fn oid(self) -> u32 {
        match self {
            Self::Text => oid::TEXT,
            Self::Varchar(_) => oid::VARCHAR,
            Self::Bpchar(_) => oid::BPCHAR,
            Self::Integer(width) => width.oid(),
            Self::Bool => oid::BOOL,
            Self::Float8 => oid::FLOAT8,
            Self::Numeric(_) => oid::NUMERIC,
            Self::Date => oid::DATE,
            Self::Time(_) => oid::TIME,
            Self::Timestamp(_) => oid::TIMESTAMP,
            Self::Timestamptz(_) => oid::TIMESTAMPTZ,
            Self::Uuid => oid::UUID,
            Self::Json => oid::JSON,
            Self::Jsonb => oid::JSONB,
            Self::Bytea(_) => oid::BYTEA,
        }
    }

    pub(crate) fn size(self) -> i16 {
        match self {
            Self::Integer(width) => width.bytes(),
            Self::Bool => 1,
            Self::Float8 | Self::Time(_) | Self::Timestamp(_) | Self::Timestamptz(_) => 8,
            Self::Date => 4,
            Self::Uuid => 16,
            _ => -1,
        }
    }

    pub(crate) fn modifier(self) -> i32 {
        // VARHDRSZ: lengths and numeric modifiers are kept with the four bytes of a header added.
        let with_header = |n: u32| i32::try_from(n.saturating_add(4)).unwrap_or(-1);
        match self {
            Self::Varchar(Some(n)) | Self::Bpchar(Some(n)) => with_header(n),
            Self::Numeric(Some(modifier)) => with_header(modifier.packed()),
            Self::Time(Some(p)) | Self::Timestamp(Some(p)) | Self::Timestamptz(Some(p)) => {
                i32::try_from(p).unwrap_or(-1)
            }
            _ => -1,
        }
    }

    pub(crate) fn max_characters(self) -> Option<usize> {
        match self {
            Self::Varchar(Some(n)) | Self::Bpchar(Some(n)) => usize::try_from(n).ok(),
            _ => None,
        }
    }

    pub(crate) fn max_text_bytes(self) -> Option<usize> {
        match self {
            Self::Varchar(Some(n)) | Self::Bpchar(Some(n)) => character::max_text_bytes(n),
            Self::Integer(width) => Some(width.max_text_bytes()),
            Self::Bool => Some(1),
            Self::Float8 => Some(float::MAX_TEXT_BYTES),
            Self::Numeric(modifier) => modifier.map(numeric::Modifier::max_text_bytes),
            Self::Date => Some(date::MAX_TEXT_BYTES),
            Self::Time(p) => Some(time::max_text_bytes(p)),
            Self::Timestamp(p) => Some(timestamp::max_text_bytes(p, timestamp::Zone::Without)),
            Self::Timestamptz(p) => Some(timestamp::max_text_bytes(p, timestamp::Zone::With)),
            Self::Uuid => Some(uuid::TEXT_BYTES),
            Self::Bytea(Some(n)) => bytea::max_text_bytes(n),
            Self::Text
            | Self::Varchar(None)
            | Self::Bpchar(None)
            | Self::Json
            | Self::Jsonb
            | Self::Bytea(None) => None,
        }
    }

    fn canonicalize(self, text: &[u8], most: usize) -> Result<Cow<'_, [u8]>, ValueError> {
        let given = valid(text)?;
        if text.contains(&0) {
            return Err(ValueError::Invalid("text: it holds a NUL"));
        }
        let canonical = match self {
            Self::Text | Self::Bpchar(None) => return Ok(Cow::Borrowed(text)),
            Self::Varchar(length) => return Ok(Cow::Borrowed(character::varying(given, length)?.as_bytes())),
            Self::Bpchar(Some(length)) => {
                return Ok(Cow::Borrowed(character::padded(given, length)?.as_bytes()));
            }
            Self::Integer(width) => integer::canonicalize(given, width)?,
            Self::Bool => boolean::canonicalize(given)?,
            Self::Float8 => float::canonicalize(given)?,
            Self::Numeric(modifier) => numeric::canonicalize(given, modifier)?,
            Self::Date => date::canonicalize(given)?,
            Self::Time(precision) => time::canonicalize(given, precision)?,
            Self::Timestamp(precision) => {
                timestamp::canonicalize(given, precision, timestamp::Zone::Without)?
            }
            Self::Timestamptz(precision) => timestamp::canonicalize(given, precision, timestamp::Zone::With)?,
            Self::Uuid => uuid::canonicalize(given)?,
            Self::Json => json::canonicalize(given)?,
            Self::Jsonb => jsonb::canonicalize(given, most)?,
            Self::Bytea(most) => bytea::canonicalize(given, most)?,
        };
        Ok(Cow::Owned(canonical.into_bytes()))
    }

    /// The canonical text of no more than `most` bytes.
    pub(crate) fn canonicalize_for(
        self,
        use_: ValueUse,
        text: &[u8],
        most: usize,
    ) -> Result<Cow<'_, [u8]>, ValueError> {
        let canonical = self.canonicalize(text, most)?;
        if canonical.len() > most {
            return Err(ValueError::LongText(most));
        }
        if use_ == ValueUse::Store {
            return Ok(canonical);
        }
        let given = valid(text)?;
        let same = |other: String| *canonical == *other.as_bytes();
        let kept = match self {
            Self::Varchar(_) => *canonical == *text,
            Self::Numeric(Some(modifier)) => numeric::is_exact(given, modifier)?,
            Self::Time(Some(_)) => same(time::canonicalize(given, None)?),
            Self::Timestamp(Some(_)) => same(timestamp::canonicalize(given, None, timestamp::Zone::Without)?),
            Self::Timestamptz(Some(_)) => same(timestamp::canonicalize(given, None, timestamp::Zone::With)?),
            _ => true,
        };
        if kept { Ok(canonical) } else { Err(ValueError::NeverStored) }
    }

    pub(crate) fn has_one_text(self) -> bool {
        match self {
            Self::Bpchar(None) | Self::Float8 | Self::Numeric(None) | Self::Json | Self::Jsonb => false,
            Self::Text
            | Self::Varchar(_)
            | Self::Bpchar(Some(_))
            | Self::Integer(_)
            | Self::Bool
            | Self::Numeric(Some(_))
            | Self::Date
            | Self::Time(_)
            | Self::Timestamp(_)
            | Self::Timestamptz(_)
            | Self::Uuid
            | Self::Bytea(_) => true,
        }
    }

    pub(crate) fn encode_text(self, canonical: &[u8]) -> Result<Vec<u8>, ValueError> {
        match self {
            Self::Bpchar(Some(length)) => Ok(character::pad(valid(canonical)?, length).into_bytes()),
            _ => Ok(canonical.to_vec()),
        }
    }

    /// Whether a client gets canonical texts as they are, in text format.
    pub(crate) fn shows_canonical(self) -> bool {
        !matches!(self, Self::Bpchar(Some(_)))
    }

    pub(crate) fn encode_binary(self, canonical: &[u8]) -> Result<Vec<u8>, ValueError> {
        let text = valid(canonical)?;
        match self {
            Self::Text | Self::Varchar(_) | Self::Bpchar(_) | Self::Json => self.encode_text(canonical),
            Self::Integer(width) => integer::encode(text, width),
            Self::Bool => boolean::encode(text),
            Self::Float8 => float::encode(text),
            Self::Numeric(_) => numeric::encode(text),
            Self::Date => date::encode(text),
            Self::Time(_) => time::encode(text),
            Self::Timestamp(_) => timestamp::encode(text, timestamp::Zone::Without),
            Self::Timestamptz(_) => timestamp::encode(text, timestamp::Zone::With),
            Self::Uuid => uuid::encode(text),
            Self::Jsonb => Ok(jsonb::encode(text)),
            Self::Bytea(_) => bytea::encode(text),
        }
    }

    /// Why MySQL has no values of the type, and what to declare instead.
    pub(crate) fn missing_in_mysql(self) -> Option<&'static str> {
        match self {
            Self::Timestamptz(_) => Some(
                "MySQL keeps no zone with a value; declare timestamp, and let applications agree on the zone",
            ),
            _ => None,
        }
    }

    pub(crate) fn has_year(self) -> bool {
        matches!(self, Self::Date | Self::Timestamp(_) | Self::Timestamptz(_))
    }

    pub(crate) fn is_character(self) -> bool {
        matches!(self, Self::Text | Self::Varchar(_) | Self::Bpchar(_))
    }

    pub(crate) fn family(self) -> Family {
        match self {
            Self::Text | Self::Varchar(_) => Family::Characters,
            Self::Bpchar(_) => Family::Padded,
            Self::Integer(_) => Family::Integer,
            Self::Float8 => Family::Float,
            Self::Numeric(_) => Family::Numeric,
            Self::Time(_) => Family::Clock,
            Self::Date | Self::Timestamp(_) | Self::Timestamptz(_) => Family::Time,
            Self::Json => Family::Json,
            Self::Jsonb => Family::Jsonb,
            Self::Bool | Self::Uuid | Self::Bytea(_) => Family::Alone,
        }
    }

    /// The family as an error names it.
    pub(crate) fn family_name(self) -> &'static str {
        match self {
            Self::Text | Self::Varchar(_) => "text",
            Self::Bpchar(_) => "char(n)",
            Self::Integer(_) => "an integer",
            Self::Float8 => "float8",
            Self::Numeric(_) => "numeric",
            Self::Time(_) => "time",
            Self::Date | Self::Timestamp(_) | Self::Timestamptz(_) => "a date or timestamp",
            Self::Json => "json",
            Self::Jsonb => "jsonb",
            Self::Bool => "bool",
            Self::Uuid => "uuid",
            Self::Bytea(_) => "bytea",
        }
    }
}

fn valid(text: &[u8]) -> Result<&str, ValueError> {
    std::str::from_utf8(text).map_err(|_| ValueError::Invalid("UTF-8 text"))
}
