//! Values of the declared types as JSON: what a client sends or gets, and the text that is sealed.
//!
//! | type | JSON |
//! | --- | --- |
//! | text, varchar, bpchar, date, time, timestamp, timestamptz, uuid, bytea | a string that holds the text |
//! | int2, int4, int8, numeric, float8 | a number, every digit kept; `NaN` and the infinities are strings |
//! | bool | `true` or `false` |
//! | json, jsonb | any value but `null` |
//! | arrays of these | arrays, as deep as they have dimensions; those of json and jsonb have one |
//!
//! `null` is no value: it is never sealed, and stays. Bounds of a database's array that do not begin at 1 are not told.

mod arrays;

use fieldveil_json_stream::{Kind, StringText, read_string, write_string};
use fieldveil_values::{DeclaredType, oid};
use serde_json::value::RawValue;

/// What a database and JavaScript call the numbers that JSON has not.
const NOT_FINITE: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];

/// Why a JSON value is not one of the declared type. It holds no part of the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// Another kind of value.
    #[error("it is {found} and must be {expected}")]
    Kind {
        /// What stands there.
        found: &'static str,
        /// What must stand there.
        expected: &'static str,
    },
    /// A string with half of a surrogate pair, which is no Unicode text.
    #[error("it is a string that is no Unicode text")]
    NotUnicode,
    /// Arrays in an array that differ in length or depth, or are empty.
    #[error("its arrays are of different lengths or depths, or hold empty ones")]
    Ragged,
    /// More than the database's arrays hold.
    #[error("its arrays are deeper than 6 levels or hold more than 65,536 elements")]
    TooManyElements,
}

/// An opened text that is no value of the declared type, as when that has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("what it holds is not of its declared type")]
pub struct NotOfType;

/// What the values of a type are in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    String,
    Number { finite: bool },
    Boolean,
    Any,
}

impl Form {
    fn of(scalar: &DeclaredType) -> Self {
        match scalar.oid() {
            oid::INT2 | oid::INT4 | oid::INT8 => Self::Number { finite: true },
            oid::NUMERIC | oid::FLOAT8 => Self::Number { finite: false },
            oid::BOOL => Self::Boolean,
            oid::JSON | oid::JSONB => Self::Any,
            _ => Self::String,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Number { .. } => "a number",
            Self::Boolean => "true or false",
            Self::Any => "a value",
        }
    }

    fn mismatch(self, kind: Kind) -> Mismatch {
        Mismatch::Kind { found: name_of(kind), expected: self.name() }
    }

    fn to_text(self, kind: Kind, json: &[u8]) -> Result<StringText<'_>, Mismatch> {
        match (self, kind) {
            (Self::String, Kind::String) => read_string(json).map_err(|_| Mismatch::NotUnicode),
            (Self::Number { finite: false }, Kind::String) => {
                let text = read_string(json).map_err(|_| self.mismatch(kind))?;
                if NOT_FINITE.contains(&&*text) { Ok(text) } else { Err(self.mismatch(kind)) }
            }
            (Self::Number { .. }, Kind::Number)
            | (Self::Boolean, Kind::True | Kind::False)
            | (Self::Any, _) => Ok(StringText::Plain(json)),
            _ => Err(self.mismatch(kind)),
        }
    }

    fn write(self, text: &[u8], out: &mut Vec<u8>) -> Result<(), NotOfType> {
        let text = std::str::from_utf8(text).map_err(|_| NotOfType)?;
        match self {
            Self::String => write_string(text, out),
            Self::Number { finite: false } if NOT_FINITE.contains(&text.as_bytes()) => {
                write_string(text, out)
            }
            Self::Boolean => match text {
                "t" => out.extend_from_slice(b"true"),
                "f" => out.extend_from_slice(b"false"),
                _ => return Err(NotOfType),
            },
            // This is checked, for what is no JSON would not stay within its place in the body.
            Self::Number { .. } | Self::Any => {
                let json: &RawValue = serde_json::from_str(text).map_err(|_| NotOfType)?;
                let is_number = kind_of(json) == Kind::Number;
                if matches!(self, Self::Number { .. }) && !is_number {
                    return Err(NotOfType);
                }
                out.extend_from_slice(json.get().as_bytes());
            }
        }
        Ok(())
    }
}

/// The text of a JSON value, in a form that the declared type's canonical text is made of; None for `null`. It is copied only
/// where it does not stand in the JSON as it is.
pub fn to_text<'j>(
    declared: &DeclaredType,
    kind: Kind,
    json: &'j [u8],
) -> Result<Option<StringText<'j>>, Mismatch> {
    match declared.element_type() {
        _ if kind == Kind::Null => Ok(None),
        None => Form::of(declared).to_text(kind, json).map(Some),
        Some(element) if kind == Kind::Array => {
            arrays::to_text(Form::of(&element), json).map(|text| Some(StringText::Unescaped(text)))
        }
        Some(_) => Err(Mismatch::Kind { found: name_of(kind), expected: "an array" }),
    }
}

/// Whether values of the type are strings that hold their text, and nothing else.
pub fn holds_text(declared: &DeclaredType) -> bool {
    declared.element_type().is_none() && Form::of(declared) == Form::String
}

/// The JSON of a canonical text of the declared type.
pub fn to_json(declared: &DeclaredType, text: &[u8]) -> Result<Vec<u8>, NotOfType> {
    let mut json = Vec::with_capacity(text.len().saturating_add(2));
    match declared.element_type() {
        None => Form::of(declared).write(text, &mut json)?,
        Some(element) => arrays::write(&element, text, &mut json)?,
    }
    Ok(json)
}

fn kind_of(json: &RawValue) -> Kind {
    match json.get().as_bytes().first() {
        Some(b'"') => Kind::String,
        Some(b't') => Kind::True,
        Some(b'f') => Kind::False,
        Some(b'n') => Kind::Null,
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        _ => Kind::Number,
    }
}

fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::String => "a string",
        Kind::Number => "a number",
        Kind::True | Kind::False => "true or false",
        Kind::Null => "null",
        Kind::Object => "an object",
        Kind::Array => "an array",
    }
}
