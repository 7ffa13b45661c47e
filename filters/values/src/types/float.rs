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
/// more, and go up on a tie: there they are made anew.
fn shortest(value: f64) -> String {
    let first = format!("{value:e}");
    let Some(digits) = Digits::read(&first) else { return first };
    let binary = Binary::of(value);
    if !binary.has_edge_at(digits) && !binary.is_between(digits) {
        return first;
    }
    let count = first.bytes().take_while(|b| *b != b'e').filter(u8::is_ascii_digit).count();
    let at = |places: usize| format!("{value:.places$e}");
    let places = count.saturating_sub(1);
    // Below a power of two the nearest may read as another number, where the one that is farther off above does not.
    [at(places), first]
        .into_iter()
        .chain((count..=16).map(at))
        .find(|text| {
            let is_on_edge = Digits::read(text).is_none_or(|digits| binary.has_edge_at(digits));
            !is_on_edge && text.parse() == Ok(value)
        })
        .unwrap_or_else(|| at(16))
}

/// `number` times ten to the `exponent`.
#[derive(Clone, Copy)]
struct Digits {
    number: u64,
    exponent: i32,
}

impl Digits {
    /// Of a number that Rust printed, its sign aside; none of what is not finite.
    fn read(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.trim_start_matches('-').split_once('e')?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = whole.bytes().chain(fraction.bytes());
        let number = digits
            .map(|digit| u64::from(digit & 15))
            .try_fold(0_u64, |number, digit| number.checked_mul(10)?.checked_add(digit))?;
        let exponent: i32 = exponent.parse().ok()?;
        Some(Self { number, exponent: exponent.checked_sub(i32::try_from(fraction.len()).ok()?)? })
    }

    /// Whether it is `number` times two to the `exponent`. Factors of five that do not fit are none of either side: where
    /// two are equal, five times less than 25 divides the one or the other.
    fn is(self, number: u64, exponent: i32) -> bool {
        let fives = 5_u128.checked_pow(self.exponent.unsigned_abs());
        let times = |number: u64| fives.and_then(|fives| u128::from(number).checked_mul(fives));
        let sides = match self.exponent < 0 {
            true => Some(u128::from(self.number)).zip(times(number)),
            false => times(self.number).zip(Some(u128::from(number))),
        };
        let odd = |number: u128, twos: i32| {
            let zeros = number.trailing_zeros();
            let exponent = i64::from(twos).saturating_add(i64::from(zeros));
            (number.checked_shr(zeros), exponent)
        };
        sides.is_some_and(|(left, right)| odd(left, self.exponent) == odd(right, exponent))
    }
}

/// The size of a `float8`, exactly: `number` times two to the `exponent`.
#[derive(Clone, Copy)]
struct Binary {
    number: u64,
    exponent: i32,
}

impl Binary {
    const LEAST_NORMAL: u64 = 1 << 52;

    /// IEEE 754: 52 bits of fraction, 11 of an exponent that is kept with 1,075 added. No fraction is below a bit of its own
    /// unless the number is subnormal.
    fn of(value: f64) -> Self {
        let bits = value.to_bits();
        let fraction = bits & (Self::LEAST_NORMAL - 1);
        let biased = i32::try_from((bits >> 52) & 0x7ff).unwrap_or_default();
        let number = if biased == 0 { fraction } else { fraction | Self::LEAST_NORMAL };
        Self { number, exponent: biased.max(1).saturating_sub(1075) }
    }

    /// Whether the digits stand half way to the number's neighbour, above or below. Below a power of two that is nearer.
    fn has_edge_at(self, digits: Digits) -> bool {
        let Self { number, exponent } = self;
        let (half, quarter) = (exponent.saturating_sub(1), exponent.saturating_sub(2));
        let is_power = number == Self::LEAST_NORMAL;
        let below = match is_power {
            true => digits.is(number.saturating_mul(4).saturating_sub(1), quarter),
            false => digits.is(number.saturating_mul(2).saturating_sub(1), half),
        };
        below || digits.is(number.saturating_mul(2).saturating_add(1), half)
    }

    /// Whether it is half way between the digits and the next of so many, above or below.
    fn is_between(self, digits: Digits) -> bool {
        let twice = digits.number.saturating_mul(2);
        [twice.saturating_add(1), twice.saturating_sub(1)]
            .into_iter()
            .any(|number| Digits { number, ..digits }.is(self.number, self.exponent.saturating_add(1)))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_on_an_edge_or_between_two_decimals_is_printed_as_the_server_prints_it() {
        for (bits, text) in [
            (0x3e70_0000_0000_0000, "5.960464477539063e-08"),
            (0x3d30_0000_0000_0000, "5.684341886080802e-14"),
            (0x0060_0000_0000_0000, "7.120236347223045e-307"),
            (0x44b5_2d02_c7e1_4af6, "9.999999999999999e+22"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x44b3_0ee8_e717_9044, "9e+22"),
            (0x4340_0000_0000_0000, "9.007199254740992e+15"),
            (0x4170_0000_0004_0000, "16777216.000976562"),
            (0x42f0_0000_0000_0002, "281474976710656.1"),
            (0x4310_0000_0000_0001, "1.1258999068426242e+15"),
            (0x4310_0000_0000_0003, "1.1258999068426248e+15"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x0010_0000_0000_0000, "2.2250738585072014e-308"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0x447c_7e83_209e_90b2, "8.409999999999999e+21"),
            (0x43b0_0000_0000_0000, "1.152921504606847e+18"),
            (0x44c0_0000_0000_0000, "1.5111572745182865e+23"),
            (0x3fd3_3333_3333_3334, "0.30000000000000004"),
            (0x4373_fbe8_5edc_8fff, "8.999999999999998e+16"),
        ] {
            assert_eq!(print(f64::from_bits(bits)), text);
        }
    }
}
