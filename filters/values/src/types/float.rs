//! `float8`: the shortest digits that read back exactly, laid out as the server does.

use super::calendar::trim;
use super::exactly;
use crate::ValueError;

const KIND: &str = "float8";
/// A sign, seventeen digits, their point and an exponent of three digits, as in `-1.7976931348623157e+308`.
pub(crate) const MAX_TEXT_BYTES: usize = 24;

pub(crate) fn parse(text: &str) -> Result<f64, ValueError> {
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

/// The shortest digits that lie strictly within the interval of numbers that read as `value`, and of those the
/// nearest, on a tie the even ones. Rust's own may lie on the interval's edge, where the server takes one digit
/// more, and go up on a tie; only their number is used.
fn shortest(value: f64) -> String {
    let first = format!("{value:e}");
    let digits = first.bytes().take_while(|b| *b != b'e').filter(u8::is_ascii_digit).count();
    (digits.saturating_sub(1)..=16)
        .map(|places| format!("{value:.places$e}"))
        .find(|text| is_within(text, value))
        .unwrap_or(first)
}

/// Whether a little more and a little less than `text` read as `value` too.
fn is_within(text: &str, value: f64) -> bool {
    let Some((mantissa, exponent)) = text.split_once('e') else { return true };
    let point = if mantissa.contains('.') { "" } else { "." };
    let more = format!("{mantissa}{point}{}1e{exponent}", "0".repeat(30));
    let less = format!("{}e{exponent}", just_below(&format!("{mantissa}{point}{}", "0".repeat(30))));
    [more, less].iter().all(|text| text.parse() == Ok(value))
}

/// The digits less one in the last place.
fn just_below(mantissa: &str) -> String {
    let mut bytes = mantissa.as_bytes().to_vec();
    for byte in bytes.iter_mut().rev() {
        match *byte {
            b'0' => *byte = b'9',
            b'1'..=b'9' => {
                *byte = byte.saturating_sub(1);
                break;
            }
            _ => {}
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// The number without an exponent.
pub(crate) fn plain(mantissa: &str, exponent: i32) -> String {
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let places = usize::try_from(exponent.unsigned_abs()).unwrap_or_default();
    if exponent < 0 {
        return format!("{sign}0.{}{digits}", "0".repeat(places.saturating_sub(1)));
    }
    let whole = places.saturating_add(1);
    match digits.split_at_checked(whole) {
        Some((before, "")) => format!("{sign}{before}"),
        Some((before, after)) => format!("{sign}{before}.{after}"),
        None => format!("{sign}{digits}{}", "0".repeat(whole.saturating_sub(digits.len()))),
    }
}

pub(crate) fn print(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let scientific = shortest(value);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    // The server's layout: plain from 1e-4 up to, not including, 1e15.
    if (-4..15).contains(&exponent) {
        return plain(mantissa, exponent);
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

/// A `float4`, as the server widens it.
pub(crate) fn parse4(text: &str) -> Result<f64, ValueError> {
    let wide = parse(text)?;
    if !wide.is_finite() {
        return Ok(wide);
    }
    // Read anew: to round twice is not to round once.
    let narrow: f32 = trim(text).parse().map_err(|_| ValueError::Invalid("float4"))?;
    let lost = narrow.is_infinite() || (narrow == 0.0 && wide != 0.0);
    if lost { Err(ValueError::OutOfRange("float4")) } else { Ok(f64::from(narrow)) }
}

/// A float as the text of the `numeric` that the server casts it to: so many digits as its type surely holds.
pub(crate) fn to_numeric(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return print(value);
    }
    let scientific = format!("{value:.places$e}", places = digits.saturating_sub(1));
    match scientific.split_once('e') {
        Some((mantissa, exponent)) => format!("{}e{exponent}", mantissa.trim_end_matches('0')),
        None => scientific,
    }
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
