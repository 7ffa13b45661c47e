//! `json`: kept as it was written, if it is JSON.

use serde_json::value::RawValue;

use crate::ValueError;

const KIND: &str = "json";

pub(crate) fn canonicalize(text: &str) -> Result<String, ValueError> {
    serde_json::from_str::<&RawValue>(text).map_err(|_| ValueError::Invalid(KIND))?;
    Ok(text.to_owned())
}
