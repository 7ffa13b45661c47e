//! Numbers in the claims of tokens, of which Envoy knows doubles alone.

use serde_json::{Number, Value};

/// Doubles below are whole numbers one by one: 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// What is a whole number comes back as one, however it was written.
pub fn number(number: f64) -> Value {
    #[allow(clippy::cast_possible_truncation, reason = "a whole number below 2^53 fits")]
    if number.fract() == 0.0 && number.abs() < EXACT {
        return Value::from(number as i64);
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}
