//! `float8`: the shortest digits that read back exactly, laid out as the server does.

use super::calendar::trim;
use super::exactly;
use crate::ValueError;

const KIND: &str = "float8";

fn parse(text: &str) -> Result<f64, ValueError> {
    let word = trim(text).to_ascii_lowercase();
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(&word);
    match unsigned {
        "nan" if unsigned.len() == word.len() => return Ok(f64::NAN),
        "inf" | "infinity" => {
            return Ok(if word.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY });
        }
        _ => {}
    }
    if !unsigned.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'+' | b'-')) {
        return Err(ValueError::Invalid(KIND));
    }
    let value: f64 = word.parse().map_err(|_| ValueError::Invalid(KIND))?;
    let mantissa = unsigned.split('e').next().unwrap_or_default();
    let lost = value == 0.0 && mantissa.bytes().any(|b| matches!(b, b'1'..=b'9'));
    if value.is_infinite() || lost { Err(ValueError::OutOfRange(KIND)) } else { Ok(value) }
}

fn print(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    // The server's layout: plain from 1e-4 up to, not including, 1e15.
    if (-4..15).contains(&exponent) {
        return format!("{value}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

pub(crate) fn canonicalize(text: &str) -> Result<String, ValueError> {
    parse(text).map(print)
}

pub(crate) fn encode(text: &str) -> Result<Vec<u8>, ValueError> {
    parse(text).map(|value| value.to_be_bytes().to_vec())
}

pub(crate) fn decode8(bytes: &[u8]) -> Result<String, ValueError> {
    Ok(print(f64::from_be_bytes(exactly(bytes, KIND)?)))
}

pub(crate) fn decode4(bytes: &[u8]) -> Result<String, ValueError> {
    Ok(print(f64::from(f32::from_be_bytes(exactly(bytes, "float4")?))))
}
