//! `json`: kept as it was written, if it is JSON.

use serde_json::value::RawValue;

use crate::ValueError;

const KIND: &str = "json";

pub(crate) fn canonicalize(text: &str) -> Result<String, ValueError> {
    serde_json::from_str::<&RawValue>(text).map_err(|_| ValueError::Invalid(KIND))?;
    Ok(text.to_owned())
}

/// `jsonb` in binary: a version byte, then text.
pub(crate) fn decode_jsonb(bytes: &[u8]) -> Result<Vec<u8>, ValueError> {
    match bytes {
        [1, text @ ..] => Ok(text.to_vec()),
        _ => Err(ValueError::Invalid("jsonb")),
    }
}
