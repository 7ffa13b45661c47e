//! The types that a policy can declare, by any of their SQL spellings.

use std::str::FromStr;

use crate::parameter::{Family, Purpose};
use crate::types::{boolean, bytea, character, date, float, integer, json, numeric, timestamp, uuid};
use crate::{ValueError, oid};

/// What a type is, with its modifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Varchar(Option<u32>),
    Bpchar(Option<u32>),
    Integer(integer::Width),
    Bool,
    Float8,
    Numeric(Option<numeric::Modifier>),
    Date,
    Timestamp(Option<u32>),
    Timestamptz(Option<u32>),
    Uuid,
    Json,
    Bytea,
}

/// A declared type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredType {
    kind: Kind,
    name: String,
}

/// Longest `varchar(n)` and `char(n)` (the server's `MaxAttrSize`).
const MAX_LENGTH: u32 = 10_485_760;

impl FromStr for DeclaredType {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let lower = text.to_ascii_lowercase();
        let words = lower.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        let (base, modifiers, tail) = split_modifiers(&words)?;
        let base = if tail.is_empty() { base.to_owned() } else { format!("{base} {tail}") };
        let length = |default: Option<u32>| match modifiers.as_slice() {
            [] => Ok(default),
            [n] if (1..=MAX_LENGTH).contains(n) => Ok(Some(*n)),
            _ => Err(ValueError::UnknownType),
        };
        let precision = || match modifiers.as_slice() {
            [] => Ok(None),
            [p] if *p <= 6 => Ok(Some(*p)),
            _ => Err(ValueError::UnknownType),
        };
        let plain = |kind| if modifiers.is_empty() { Ok(kind) } else { Err(ValueError::UnknownType) };
        let kind = match base.as_str() {
            "text" => plain(Kind::Text)?,
            "varchar" | "character varying" => Kind::Varchar(length(None)?),
            // Without a length, bpchar shows trailing spaces and compares without them: no one form is both.
            "bpchar" if modifiers.is_empty() => return Err(ValueError::UnknownType),
            "bpchar" | "char" | "character" => Kind::Bpchar(length(Some(1))?),
            "int2" | "smallint" => plain(Kind::Integer(integer::Width::Two))?,
            "int4" | "integer" | "int" => plain(Kind::Integer(integer::Width::Four))?,
            "int8" | "bigint" => plain(Kind::Integer(integer::Width::Eight))?,
            "bool" | "boolean" => plain(Kind::Bool)?,
            "float8" | "double precision" => plain(Kind::Float8)?,
            "numeric" | "decimal" => Kind::Numeric(numeric::Modifier::new(&modifiers)?),
            "date" => plain(Kind::Date)?,
            "timestamp" | "timestamp without time zone" => Kind::Timestamp(precision()?),
            "timestamptz" | "timestamp with time zone" => Kind::Timestamptz(precision()?),
            "uuid" => plain(Kind::Uuid)?,
            "json" => plain(Kind::Json)?,
            "bytea" => plain(Kind::Bytea)?,
            _ => return Err(ValueError::UnknownType),
        };
        Ok(Self { kind, name: words })
    }
}

/// `numeric(10, 2)` and `timestamp(3) with time zone`: what stands before, in and behind the parentheses.
fn split_modifiers(words: &str) -> Result<(&str, Vec<u32>, &str), ValueError> {
    let Some((base, rest)) = words.split_once('(') else { return Ok((words, Vec::new(), "")) };
    let (inside, tail) = rest.split_once(')').ok_or(ValueError::UnknownType)?;
    let number = |n: &str| n.trim().parse::<u32>().map_err(|_| ValueError::UnknownType);
    Ok((base.trim(), inside.split(',').map(number).collect::<Result<_, _>>()?, tail.trim()))
}

impl DeclaredType {
    /// As it was declared, in lower case.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type's OID.
    pub fn oid(&self) -> u32 {
        match self.kind {
            Kind::Text => oid::TEXT,
            Kind::Varchar(_) => oid::VARCHAR,
            Kind::Bpchar(_) => oid::BPCHAR,
            Kind::Integer(width) => width.oid(),
            Kind::Bool => oid::BOOL,
            Kind::Float8 => oid::FLOAT8,
            Kind::Numeric(_) => oid::NUMERIC,
            Kind::Date => oid::DATE,
            Kind::Timestamp(_) => oid::TIMESTAMP,
            Kind::Timestamptz(_) => oid::TIMESTAMPTZ,
            Kind::Uuid => oid::UUID,
            Kind::Json => oid::JSON,
            Kind::Bytea => oid::BYTEA,
        }
    }

    /// `pg_type.typlen`: bytes, or -1 for a varying length.
    pub fn size(&self) -> i16 {
        match self.kind {
            Kind::Integer(width) => width.bytes(),
            Kind::Bool => 1,
            Kind::Float8 | Kind::Timestamp(_) | Kind::Timestamptz(_) => 8,
            Kind::Date => 4,
            Kind::Uuid => 16,
            _ => -1,
        }
    }

    /// The type modifier as RowDescription has it, -1 for none.
    pub fn modifier(&self) -> i32 {
        // VARHDRSZ: lengths and numeric modifiers are kept with the four bytes of a header added.
        let with_header = |n: u32| i32::try_from(n.saturating_add(4)).unwrap_or(-1);
        match self.kind {
            Kind::Varchar(Some(n)) | Kind::Bpchar(Some(n)) => with_header(n),
            Kind::Numeric(Some(modifier)) => with_header(modifier.packed()),
            Kind::Timestamp(Some(p)) | Kind::Timestamptz(Some(p)) => i32::try_from(p).unwrap_or(-1),
            _ => -1,
        }
    }

    /// The canonical text of a value given as text in any form that is read one way only.
    pub fn canonicalize(&self, text: &[u8]) -> Result<Vec<u8>, ValueError> {
        let text = std::str::from_utf8(text).map_err(|_| ValueError::Invalid("UTF-8 text"))?;
        if text.contains('\0') {
            return Err(ValueError::Invalid("text: it holds a NUL"));
        }
        let canonical = match self.kind {
            Kind::Text => text.to_owned(),
            Kind::Varchar(length) => character::varying(text, length)?,
            Kind::Bpchar(length) => character::padded(text, length)?,
            Kind::Integer(width) => integer::canonicalize(text, width)?,
            Kind::Bool => boolean::canonicalize(text)?,
            Kind::Float8 => float::canonicalize(text)?,
            Kind::Numeric(modifier) => numeric::canonicalize(text, modifier)?,
            Kind::Date => date::canonicalize(text)?,
            Kind::Timestamp(precision) => timestamp::canonicalize(text, precision, timestamp::Zone::Without)?,
            Kind::Timestamptz(precision) => timestamp::canonicalize(text, precision, timestamp::Zone::With)?,
            Kind::Uuid => uuid::canonicalize(text)?,
            Kind::Json => json::canonicalize(text)?,
            Kind::Bytea => bytea::canonicalize(text)?,
        };
        Ok(canonical.into_bytes())
    }

    /// [`Self::canonicalize`] for what the value is for.
    ///
    /// Storing rounds and cuts, comparing does not: `2.675` is not the `2.68` that a `numeric(10,2)` makes of it.
    /// What is looked for and no stored value can equal is refused.
    pub fn canonicalize_for(&self, purpose: Purpose, text: &[u8]) -> Result<Vec<u8>, ValueError> {
        let canonical = self.canonicalize(text)?;
        if purpose == Purpose::Store {
            return Ok(canonical);
        }
        let given = valid(text)?;
        let kept = match self.kind {
            Kind::Varchar(_) => canonical == text,
            Kind::Numeric(Some(modifier)) => numeric::is_exact(given, modifier)?,
            Kind::Timestamp(Some(_)) => {
                canonical == timestamp::canonicalize(given, None, timestamp::Zone::Without)?.into_bytes()
            }
            Kind::Timestamptz(Some(_)) => {
                canonical == timestamp::canonicalize(given, None, timestamp::Zone::With)?.into_bytes()
            }
            _ => true,
        };
        if kept { Ok(canonical) } else { Err(ValueError::NeverStored) }
    }

    /// Whether values that the server holds equal have one canonical text, so that comparing sealed values is
    /// comparing values. Not so for `float8` (0 and -0), `numeric` without a scale (1.5 and 1.50) and `json`.
    pub fn has_one_text(&self) -> bool {
        !matches!(self.kind, Kind::Float8 | Kind::Numeric(None) | Kind::Json)
    }

    /// What a client gets in text format for a canonical text.
    pub fn encode_text(&self, canonical: &[u8]) -> Result<Vec<u8>, ValueError> {
        match self.kind {
            Kind::Bpchar(Some(length)) => Ok(character::pad(valid(canonical)?, length).into_bytes()),
            _ => Ok(canonical.to_vec()),
        }
    }

    /// What a client gets in binary format for a canonical text.
    pub fn encode_binary(&self, canonical: &[u8]) -> Result<Vec<u8>, ValueError> {
        let text = valid(canonical)?;
        match self.kind {
            Kind::Text | Kind::Varchar(_) | Kind::Bpchar(_) | Kind::Json => self.encode_text(canonical),
            Kind::Integer(width) => integer::encode(text, width),
            Kind::Bool => boolean::encode(text),
            Kind::Float8 => float::encode(text),
            Kind::Numeric(_) => numeric::encode(text),
            Kind::Date => date::encode(text),
            Kind::Timestamp(_) => timestamp::encode(text, timestamp::Zone::Without),
            Kind::Timestamptz(_) => timestamp::encode(text, timestamp::Zone::With),
            Kind::Uuid => uuid::encode(text),
            Kind::Bytea => bytea::encode(text),
        }
    }

    /// Whether values are dates or timestamps.
    pub(crate) fn has_year(&self) -> bool {
        matches!(self.kind, Kind::Date | Kind::Timestamp(_) | Kind::Timestamptz(_))
    }

    /// The kind of the type as far as assignment goes.
    pub(crate) fn family(&self) -> Family {
        match self.kind {
            Kind::Text | Kind::Varchar(_) => Family::Characters,
            Kind::Bpchar(_) => Family::Padded,
            Kind::Integer(_) => Family::Integer,
            Kind::Float8 => Family::Float,
            Kind::Numeric(_) => Family::Numeric,
            Kind::Date | Kind::Timestamp(_) | Kind::Timestamptz(_) => Family::Time,
            Kind::Bool => Family::Bool,
            Kind::Uuid => Family::Uuid,
            Kind::Json => Family::Json,
            Kind::Bytea => Family::Bytea,
        }
    }

    /// Whether values are characters, of which some can be hidden.
    pub(crate) fn is_character(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Varchar(_) | Kind::Bpchar(_))
    }
}

fn valid(canonical: &[u8]) -> Result<&str, ValueError> {
    std::str::from_utf8(canonical).map_err(|_| ValueError::Invalid("UTF-8 text"))
}
