//! `DOUBLE` as the server prints it (`my_gcvt`): the shortest digits that read back exactly, of those the nearest and on
//! a tie the even ones, with an exponent only where more than fifteen zeros or digits would stand on one side of the
//! point.

use crate::types::float;

/// Exponents of ten from which and up to which any number is printed without one (`MAX_DECPT_FOR_F_FORMAT`).
const LEAST_PLAIN: i32 = -15;
const MOST_PLAIN: i32 = 14;

pub(super) fn print(value: f64) -> String {
    let first = format!("{value:e}");
    // Rust's may go up on a tie; only their number is used.
    let digits = first.bytes().take_while(|b| *b != b'e').filter(u8::is_ascii_digit).count();
    let nearest = format!("{value:.places$e}", places = digits.saturating_sub(1));
    let scientific = if nearest.parse() == Ok(value) { nearest } else { first };
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    match exponent.parse() {
        Ok(exponent)
            if exponent >= LEAST_PLAIN && (exponent <= MOST_PLAIN || has_fraction(digits, exponent)) =>
        {
            float::plain(mantissa, exponent)
        }
        _ => scientific,
    }
}

/// Whether any of the digits stands behind the point.
fn has_fraction(digits: usize, exponent: i32) -> bool {
    usize::try_from(exponent).is_ok_and(|exponent| digits > exponent.saturating_add(1))
}
