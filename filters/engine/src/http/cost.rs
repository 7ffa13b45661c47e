//! How long a value of a body takes, in ordinary values: the worker serves nobody else meanwhile.

use fieldveil_json_stream::{Found, Kind};
use fieldveil_values::oid;

use crate::field::CompiledField;

/// Elements of arrays and members of objects that take as long as a value of their own. An array or an object is one too.
const PARTS_PER_VALUE: usize = 2;
/// Digits that an exponent stands for and that are made as fast as a value, though they need not be printed: of `1e-4096` a
/// `numeric(5,2)` keeps none.
const DIGITS_PER_VALUE: usize = 1024;
/// Characters of a `float8` that are read as fast as a value: where many of them decide how it is rounded.
const FLOAT_BYTES_PER_VALUE: usize = 32;
/// Characters of an exponent that are read. One of more is not of any type.
const EXPONENT_BYTES: usize = 6;

/// What this value of the field costs.
pub(super) fn of(field: &CompiledField, found: &Found<'_>) -> usize {
    // Without its quotes.
    let text = field.cost(found.json.len().saturating_sub(2));
    let parts = match found.kind {
        Kind::Array | Kind::Object => {
            found.json.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count()
        }
        _ => 0,
    };
    let scalar = field.declared.element_type().map_or_else(|| field.declared.oid(), |element| element.oid());
    let digits = match (found.kind, scalar) {
        (Kind::Number | Kind::Array | Kind::Object, oid::NUMERIC | oid::JSONB) => digits(found.json),
        _ => 0,
    };
    let long = if scalar == oid::FLOAT8 { long_numbers(found.json) } else { 0 };
    let costs = [parts / PARTS_PER_VALUE, digits / DIGITS_PER_VALUE, long];
    costs.into_iter().fold(text, usize::saturating_add)
}

/// What numbers with many digits cost.
fn long_numbers(json: &[u8]) -> usize {
    let numbers = json.split(|byte| *byte == b',');
    numbers.map(|number| number.len() / FLOAT_BYTES_PER_VALUE).fold(0, usize::saturating_add)
}

/// The digits that the exponents of all numbers stand for.
fn digits(json: &[u8]) -> usize {
    let after = json.split(|byte| matches!(byte, b'e' | b'E')).skip(1);
    let exponent = |part: &[u8]| {
        let part = part.strip_prefix(b"-").or_else(|| part.strip_prefix(b"+")).unwrap_or(part);
        let digits = part.iter().take_while(|byte| byte.is_ascii_digit()).take(EXPONENT_BYTES);
        digits.fold(0_usize, |sum, byte| sum.saturating_mul(10).saturating_add(usize::from(byte & 15)))
    };
    after.map(exponent).fold(0, usize::saturating_add)
}
