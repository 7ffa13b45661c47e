//! One type a file, all of one shape: `canonicalize` from text, `encode` to binary, `decode` from binary.

pub(crate) mod boolean;
pub(crate) mod bytea;
pub(crate) mod calendar;
pub(crate) mod character;
pub(crate) mod clock;
pub(crate) mod date;
pub(crate) mod float;
pub(crate) mod integer;
pub(crate) mod json;
pub(crate) mod jsonb;
pub(crate) mod numeric;
pub(crate) mod time;
pub(crate) mod timestamp;
pub(crate) mod uuid;

use crate::array::{self, text};
use crate::{ValueError, oid};

/// The text form of a binary value of the type that the client said it sends.
pub fn decode_binary(type_oid: u32, bytes: &[u8]) -> Result<Vec<u8>, ValueError> {
    let text = match type_oid {
        of_text if is_its_text(of_text) => return Ok(bytes.to_vec()),
        oid::JSONB => return jsonb::decode(bytes),
        oid::INT2 => integer::decode(bytes, integer::Width::Two)?,
        oid::INT4 => integer::decode(bytes, integer::Width::Four)?,
        oid::INT8 => integer::decode(bytes, integer::Width::Eight)?,
        oid::BOOL => boolean::decode(bytes)?,
        oid::FLOAT4 => float::decode4(bytes)?,
        oid::FLOAT8 => float::decode8(bytes)?,
        oid::NUMERIC => numeric::decode(bytes)?,
        oid::DATE => date::decode(bytes)?,
        oid::TIME => time::decode(bytes)?,
        oid::TIMESTAMP => timestamp::decode(bytes, timestamp::Zone::Without)?,
        oid::TIMESTAMPTZ => timestamp::decode(bytes, timestamp::Zone::With)?,
        oid::UUID => uuid::decode(bytes)?,
        oid::BYTEA => bytea::decode(bytes),
        other => {
            let element_oid = oid::element_of(other).ok_or(ValueError::UnsupportedOid(other))?;
            return decode_array(element_oid, bytes);
        }
    };
    Ok(text.into_bytes())
}

/// The text of a binary array of elements of this type.
fn decode_array(element_oid: u32, bytes: &[u8]) -> Result<Vec<u8>, ValueError> {
    let array = array::parse_binary(Some(element_oid), bytes)?.1;
    Ok(text::print(&array.map(|element| decode_binary(element_oid, &element))?))
}

/// A fixed number of bytes.
pub(crate) fn exactly<const N: usize>(bytes: &[u8], kind: &'static str) -> Result<[u8; N], ValueError> {
    bytes.try_into().map_err(|_| ValueError::Invalid(kind))
}

/// Whether a value of the type has the same bytes in binary form as in text form.
pub(crate) fn is_its_text(type_oid: u32) -> bool {
    matches!(type_oid, oid::TEXT | oid::VARCHAR | oid::BPCHAR | oid::NAME | oid::UNKNOWN | oid::JSON)
}
