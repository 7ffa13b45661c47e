//! The types that a policy can declare, by any of their SQL spellings: scalars, and arrays of them as `T[]`.

mod array;
mod parameter;

use std::borrow::Cow;
use std::str::FromStr;

use crate::kind::Kind;
use crate::types::{integer, numeric};
use crate::value_use::ValueUse;
use crate::{ValueError, oid};

/// A scalar, or an array of scalars of any bounds and up to six dimensions: as in the server, the type does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Scalar(Kind),
    Array(Kind),
}

/// A declared type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredType {
    pub(crate) shape: Shape,
    name: String,
}

/// Longest `varchar(n)` and `char(n)` (the server's `MaxAttrSize`).
const MAX_LENGTH: u32 = 10_485_760;

impl FromStr for DeclaredType {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let lower = text.to_ascii_lowercase();
        let words = lower.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        let shape = match words.strip_suffix("[]") {
            Some(element) => Shape::Array(scalar(element.trim_end())?),
            None => Shape::Scalar(scalar(&words)?),
        };
        Ok(Self { shape, name: words })
    }
}

/// `policies/schemas/types/data.json` lists the names that a policy may use.
fn scalar(words: &str) -> Result<Kind, ValueError> {
    let (base, modifiers, tail) = split_modifiers(words)?;
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
    Ok(match base.as_str() {
        "text" | "tinytext" | "mediumtext" | "longtext" => plain(Kind::Text)?,
        "varchar" | "character varying" => Kind::Varchar(length(None)?),
        "bpchar" => Kind::Bpchar(length(None)?),
        "char" | "character" => Kind::Bpchar(length(Some(1))?),
        "int2" | "smallint" => plain(Kind::Integer(integer::Width::Two))?,
        "int4" | "integer" | "int" => plain(Kind::Integer(integer::Width::Four))?,
        "int8" | "bigint" => plain(Kind::Integer(integer::Width::Eight))?,
        "bool" | "boolean" => plain(Kind::Bool)?,
        "tinyint" if modifiers == [1] => Kind::Bool,
        "float8" | "double precision" | "double" => plain(Kind::Float8)?,
        "numeric" | "decimal" => Kind::Numeric(numeric::Modifier::new(&modifiers)?),
        "date" => plain(Kind::Date)?,
        "time" | "time without time zone" => Kind::Time(precision()?),
        "timestamp" | "timestamp without time zone" => Kind::Timestamp(precision()?),
        // MySQL's, which has no fraction unless told.
        "datetime" => Kind::Timestamp(precision()?.or(Some(0))),
        "timestamptz" | "timestamp with time zone" => Kind::Timestamptz(precision()?),
        "uuid" => plain(Kind::Uuid)?,
        "json" => plain(Kind::Json)?,
        "jsonb" => plain(Kind::Jsonb)?,
        "bytea" | "tinyblob" | "blob" | "mediumblob" | "longblob" => plain(Kind::Bytea(None))?,
        "varbinary" => Kind::Bytea(Some(length(None)?.ok_or(ValueError::UnknownType)?)),
        _ => return Err(ValueError::UnknownType),
    })
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

    /// The type of the elements, of an array.
    pub fn element_type(&self) -> Option<Self> {
        match self.shape {
            Shape::Scalar(_) => None,
            Shape::Array(kind) => {
                let name = self.name.strip_suffix("[]").unwrap_or(&self.name).trim_end().to_owned();
                Some(Self { shape: Shape::Scalar(kind), name })
            }
        }
    }

    /// The type of the elements, or of the scalar.
    fn element(&self) -> Kind {
        match self.shape {
            Shape::Scalar(kind) | Shape::Array(kind) => kind,
        }
    }

    fn scalar(&self) -> Option<Kind> {
        match self.shape {
            Shape::Scalar(kind) => Some(kind),
            Shape::Array(_) => None,
        }
    }

    pub(crate) fn is_array(&self) -> bool {
        self.scalar().is_none()
    }

    /// The type's OID.
    pub fn oid(&self) -> u32 {
        match self.shape {
            Shape::Scalar(kind) => kind.oid(),
            // Every scalar type has arrays; 0 is no type.
            Shape::Array(kind) => oid::array_of(kind.oid()).unwrap_or_default(),
        }
    }

    /// `pg_type.typlen`: bytes, or -1 for a varying length.
    pub fn size(&self) -> i16 {
        self.scalar().map_or(-1, Kind::size)
    }

    /// The type modifier as RowDescription has it, -1 for none. That of an array is its elements'.
    pub fn modifier(&self) -> i32 {
        self.element().modifier()
    }

    /// Bytes of the longest canonical text in UTF-8, none where no modifier and no range bounds it.
    pub fn max_text_bytes(&self) -> Option<usize> {
        self.scalar()?.max_text_bytes()
    }

    /// Characters of the longest value, none where no length bounds it.
    pub(crate) fn max_characters(&self) -> Option<usize> {
        self.scalar()?.max_characters()
    }

    /// The canonical text of a value given as text in any form that is read one way only.
    pub fn canonicalize(&self, text: &[u8]) -> Result<Vec<u8>, ValueError> {
        self.canonicalize_for(ValueUse::Store, text)
    }

    /// [`Self::canonicalize`] for what the value is for.
    ///
    /// Storing rounds and cuts, comparing does not: `2.675` is not the `2.68` that a `numeric(10,2)` makes of it.
    /// What is looked for and no stored value can equal is refused.
    pub fn canonicalize_for(&self, use_: ValueUse, text: &[u8]) -> Result<Vec<u8>, ValueError> {
        self.canonical_within(use_, text, usize::MAX).map(Cow::into_owned)
    }

    /// [`Self::canonicalize_for`], without a copy where the text is canonical, or begins with what is; refused where it takes
    /// more than `most` bytes. That is seen while it is printed: a short text can stand for a long one, as `1e4000` does.
    pub fn canonical_within<'t>(
        &self,
        use_: ValueUse,
        text: &'t [u8],
        most: usize,
    ) -> Result<Cow<'t, [u8]>, ValueError> {
        match self.shape {
            Shape::Scalar(kind) => kind.canonicalize_for(use_, text, most),
            Shape::Array(kind) => array::canonicalize(kind, use_, text, most).map(Cow::Owned),
        }
    }

    /// Whether values that the server holds equal have one canonical text, so that comparing sealed values is
    /// comparing values. Not so for `float8` (0 and -0), `numeric` without a scale (1.5 and 1.50), `json`, `jsonb`
    /// (numbers in it), `bpchar` without a length, which shows the trailing spaces that it does not compare, and
    /// arrays of these.
    pub fn has_one_text(&self) -> bool {
        self.element().has_one_text()
    }

    /// What a client gets in text format for a canonical text.
    pub fn encode_text(&self, canonical: &[u8]) -> Result<Vec<u8>, ValueError> {
        match self.shape {
            Shape::Scalar(kind) => kind.encode_text(canonical),
            Shape::Array(_) => Ok(canonical.to_vec()),
        }
    }

    /// Whether what a client gets in text format is the canonical text as it is.
    pub fn shows_canonical(&self) -> bool {
        self.scalar().is_none_or(Kind::shows_canonical)
    }

    /// What a client gets in binary format for a canonical text.
    pub fn encode_binary(&self, canonical: &[u8]) -> Result<Vec<u8>, ValueError> {
        match self.shape {
            Shape::Scalar(kind) => kind.encode_binary(canonical),
            Shape::Array(kind) => array::encode_binary(kind, canonical),
        }
    }

    /// Whether values are dates or timestamps.
    pub(crate) fn has_year(&self) -> bool {
        self.scalar().is_some_and(Kind::has_year)
    }

    /// Whether values are characters, of which some can be hidden.
    pub(crate) fn is_character(&self) -> bool {
        self.scalar().is_some_and(Kind::is_character)
    }
}
