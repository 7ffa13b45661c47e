//! Parameters whose type the client names itself: what the server's assignment cast would make of them.
//!
//! A driver that sends a `float8` for a `numeric(10,2)` gets what `float8` holds in 15 digits; one that sends a
//! `bool` for a `text` gets `true`. The sealed value must be the same, so the cast is done here, or refused.

use std::borrow::Cow;

use super::{Family, Kind};
use crate::types::{
    boolean, bytea, date, decode_binary, float, integer, is_its_text, jsonb, numeric, time, timestamp, uuid,
};
use crate::value_use::ValueUse;
use crate::{ValueError, oid};

/// Digits that a `float4` and a `float8` surely hold (`FLT_DIG`, `DBL_DIG`).
const FLOAT4_DIGITS: usize = 6;
const FLOAT8_DIGITS: usize = 15;
/// Bytes of a `name` (`NAMEDATALEN` - 1); the server cuts what is longer.
const MAX_NAME_BYTES: usize = 63;

impl Kind {
    pub(crate) fn read_parameter(
        self,
        use_: ValueUse,
        client_oid: u32,
        binary: bool,
        bytes: &[u8],
    ) -> Result<Cow<'_, [u8]>, ValueError> {
        let own = matches!(client_oid, 0 | oid::UNKNOWN) || client_oid == self.oid();
        let read_as = if client_oid == 0 { self.oid() } else { client_oid };
        let text = match binary && !is_its_text(read_as) {
            true => Cow::Owned(decode_binary(read_as, bytes)?),
            false => Cow::Borrowed(bytes),
        };
        if own {
            return Ok(text);
        }
        let text = String::from_utf8(text.into_owned()).map_err(|_| ValueError::Invalid("UTF-8 text"))?;
        if use_ == ValueUse::Search && compares_otherwise(client_oid, self, &text) {
            return Err(ValueError::NotAssignable { from: client_oid, to: self.family_name() });
        }
        assign(client_oid, self, text).map(|text| Cow::Owned(text.into_bytes()))
    }
}

/// Whether the server compares a column with a parameter of the type `from` in another way than with a value of the
/// column's own type, or has no operator for the two.
fn compares_otherwise(from: u32, column: Kind, text: &str) -> bool {
    match (column, from) {
        // As text: trailing spaces count, and the column's are gone.
        (Kind::Bpchar(_), oid::TEXT | oid::NAME) => text.ends_with(' '),
        // As bpchar, in which trailing spaces count on neither side.
        (Kind::Bpchar(_), oid::VARCHAR | oid::BPCHAR) => false,
        (Kind::Varchar(_), oid::BPCHAR) => true,
        (Kind::Text, oid::BPCHAR) => false,
        (Kind::Text | Kind::Varchar(_), oid::TEXT | oid::VARCHAR | oid::NAME) => false,
        (Kind::Integer(_), oid::INT2 | oid::INT4 | oid::INT8 | oid::NUMERIC) => false,
        // As float8 otherwise: 0.3 is not 0.30000000000000004, though that is stored as 0.3.
        (Kind::Numeric(_), oid::INT2 | oid::INT4 | oid::INT8) => false,
        (Kind::Timestamp(_) | Kind::Timestamptz(_), oid::DATE) => false,
        // As a timestamp, of which a date is the midnight. With a zone it would be by the session's.
        (Kind::Date, oid::TIMESTAMP) => !is_midnight(text),
        (Kind::Timestamptz(_), oid::TIMESTAMP) => false,
        _ => true,
    }
}

fn is_midnight(text: &str) -> bool {
    let canonical = timestamp::canonicalize(text, None, timestamp::Zone::Without);
    canonical.is_ok_and(|text| text.ends_with(" 00:00:00") || text.ends_with("infinity"))
}

/// Text of a value of the type `from`, in any form that the type takes, as a column of `to` gets it.
fn assign(from: u32, column: Kind, text: String) -> Result<String, ValueError> {
    let to = column.family();
    let refused = Err(ValueError::NotAssignable { from, to: column.family_name() });
    match from {
        oid::NAME if text.len() > MAX_NAME_BYTES => refused,
        // To other than characters the server refuses these; as text they are read one way only.
        oid::TEXT | oid::VARCHAR | oid::NAME => Ok(text),
        oid::BPCHAR if to == Family::Characters => Ok(text.trim_end_matches(' ').to_owned()),
        oid::BPCHAR => Ok(text),
        oid::BOOL if to.is_characters() => {
            Ok(if boolean::canonicalize(&text)? == "t" { "true" } else { "false" }.to_owned())
        }
        oid::INT2 if to.is_number() || to.is_characters() => {
            integer::canonicalize(&text, integer::Width::Two)
        }
        oid::INT4 if to.is_number() || to.is_characters() => {
            integer::canonicalize(&text, integer::Width::Four)
        }
        oid::INT8 if to.is_number() || to.is_characters() => {
            integer::canonicalize(&text, integer::Width::Eight)
        }
        oid::NUMERIC if to.is_number() || to.is_characters() => numeric::canonicalize(&text, None),
        oid::FLOAT4 if to == Family::Float => float::parse4(&text).map(float::print),
        oid::FLOAT4 if to == Family::Numeric => Ok(float::to_numeric(float::parse4(&text)?, FLOAT4_DIGITS)),
        oid::FLOAT8 if to == Family::Numeric => Ok(float::to_numeric(float::parse(&text)?, FLOAT8_DIGITS)),
        oid::FLOAT8 if to.is_characters() => float::canonicalize(&text),
        oid::DATE if to == Family::Time || to.is_characters() => date::canonicalize(&text),
        oid::TIME if to == Family::Clock || to.is_characters() => time::canonicalize(&text, None),
        oid::TIMESTAMP if to == Family::Time || to.is_characters() => {
            timestamp::canonicalize(&text, None, timestamp::Zone::Without)
        }
        oid::TIMESTAMPTZ if to == Family::Time => timestamp::canonicalize(&text, None, timestamp::Zone::With),
        oid::UUID if to.is_characters() => uuid::canonicalize(&text),
        oid::BYTEA if to.is_characters() => bytea::canonicalize(&text, None),
        oid::JSON if to.is_characters() || matches!(to, Family::Json | Family::Jsonb) => Ok(text),
        oid::JSONB if to == Family::Jsonb => Ok(text),
        oid::JSONB if to.is_characters() || to == Family::Json => jsonb::canonicalize(&text, usize::MAX),
        _ => refused,
    }
}
