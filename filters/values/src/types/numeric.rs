//! `numeric`: decimal digits of any number, kept with the scale they came with, or rounded to the declared one.

use super::calendar::trim;
use crate::ValueError;

const KIND: &str = "numeric";
/// Digits on either side of the point: far below the server's 131,072, so that a value stays small.
const MAX_DIGITS: usize = 4096;

/// `numeric(precision, scale)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Modifier {
    precision: u32,
    scale: u32,
}

impl Modifier {
    /// From what stands in the parentheses, if anything.
    pub(crate) fn new(modifiers: &[u32]) -> Result<Option<Self>, ValueError> {
        let (precision, scale) = match modifiers {
            [] => return Ok(None),
            [precision] => (*precision, 0),
            [precision, scale] => (*precision, *scale),
            _ => return Err(ValueError::UnknownType),
        };
        let known = (1..=1000).contains(&precision) && scale <= precision;
        if known { Ok(Some(Self { precision, scale })) } else { Err(ValueError::UnknownType) }
    }

    /// Bytes of the longest text: a sign, digits and their point; `NaN` if that is longer.
    pub(crate) fn max_text_bytes(self) -> usize {
        let whole = self.precision.saturating_sub(self.scale).max(1);
        let fraction = if self.scale > 0 { self.scale.saturating_add(1) } else { 0 };
        let longest = whole.saturating_add(fraction).saturating_add(1);
        usize::try_from(longest).unwrap_or(usize::MAX).max("NaN".len())
    }

    /// Digits in all.
    pub(crate) fn precision(self) -> u32 {
        self.precision
    }

    /// Digits behind the point.
    pub(crate) fn scale(self) -> u32 {
        self.scale
    }

    /// Precision and scale in one word, as the server packs them.
    pub(crate) fn packed(self) -> u32 {
        (self.precision << 16) | self.scale
    }
}

/// A finite number: decimal digits in ASCII, most significant first, of which the last `scale` are behind the point.
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    scale: usize,
}

impl Decimal {
    fn parse(text: &str) -> Result<Self, ValueError> {
        let invalid = || ValueError::Invalid(KIND);
        let out_of_range = || ValueError::OutOfRange(KIND);
        let (negative, unsigned) = match text.split_at_checked(1) {
            Some(("-", rest)) => (true, rest),
            Some(("+", rest)) => (false, rest),
            _ => (false, text),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().map_err(|_| invalid())?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction) {
            return Err(invalid());
        }
        let length = |part: &str| i64::try_from(part.len()).map_err(|_| out_of_range());
        let limit = u64::try_from(MAX_DIGITS).map_err(|_| out_of_range())?;
        let scale = length(fraction)?.checked_sub(exponent).ok_or_else(out_of_range)?;
        if scale.unsigned_abs() > limit || whole.len().saturating_add(fraction.len()) > MAX_DIGITS {
            return Err(out_of_range());
        }
        let mut digits = [whole.as_bytes(), fraction.as_bytes()].concat();
        let scale = usize::try_from(scale).or_else(|_| {
            let zeros = usize::try_from(scale.unsigned_abs()).map_err(|_| out_of_range())?;
            digits.resize(digits.len().saturating_add(zeros), b'0');
            Ok(0)
        })?;
        let mut decimal = Self { negative, digits, scale };
        decimal.normalize();
        Ok(decimal)
    }

    /// One digit at least before the point, no leading zero beyond it, no negative zero.
    fn normalize(&mut self) {
        let least = self.scale.saturating_add(1);
        let missing = least.saturating_sub(self.digits.len());
        if missing > 0 {
            self.digits = [vec![b'0'; missing], std::mem::take(&mut self.digits)].concat();
        }
        let leading = self.digits.iter().take_while(|d| **d == b'0').count();
        self.digits.drain(..leading.min(self.digits.len().saturating_sub(least)));
        self.negative &= self.digits.iter().any(|d| *d != b'0');
    }

    /// To `scale` digits behind the point, halves away from zero.
    fn round(&mut self, scale: usize) {
        if scale >= self.scale {
            self.digits.resize(self.digits.len().saturating_add(scale.saturating_sub(self.scale)), b'0');
        } else {
            let keep = self.digits.len().saturating_sub(self.scale.saturating_sub(scale));
            let up = self.digits.get(keep).is_some_and(|d| *d >= b'5');
            self.digits.truncate(keep);
            let mut carry = up;
            for digit in self.digits.iter_mut().rev() {
                if !carry {
                    break;
                }
                carry = *digit == b'9';
                *digit = if carry { b'0' } else { digit.saturating_add(1) };
            }
            if carry {
                self.digits.insert(0, b'1');
            }
        }
        self.scale = scale;
        self.normalize();
    }

    fn whole_digits(&self) -> usize {
        let whole = self.digits.len().saturating_sub(self.scale);
        if whole == 1 && self.digits.first() == Some(&b'0') { 0 } else { whole }
    }

    fn print(&self) -> String {
        let point = self.digits.len().saturating_sub(self.scale);
        let mut text = String::with_capacity(self.digits.len().saturating_add(2));
        if self.negative {
            text.push('-');
        }
        let digits = std::str::from_utf8(&self.digits).unwrap_or_default();
        let (whole, fraction) = digits.split_at_checked(point).unwrap_or((digits, ""));
        text.push_str(whole);
        if !fraction.is_empty() {
            text.push('.');
            text.push_str(fraction);
        }
        text
    }
}

/// The words that are no finite number.
fn special(text: &str) -> Option<&'static str> {
    match text.to_ascii_lowercase().as_str() {
        "nan" => Some("NaN"),
        "inf" | "infinity" | "+inf" | "+infinity" => Some("Infinity"),
        "-inf" | "-infinity" => Some("-Infinity"),
        _ => None,
    }
}

pub(crate) fn canonicalize(text: &str, modifier: Option<Modifier>) -> Result<String, ValueError> {
    let text = trim(text);
    if let Some(word) = special(text) {
        return match (word, modifier) {
            ("NaN", _) | (_, None) => Ok(word.to_owned()),
            _ => Err(ValueError::OutOfRange(KIND)),
        };
    }
    let mut decimal = Decimal::parse(text)?;
    if let Some(Modifier { precision, scale }) = modifier {
        decimal.round(usize::try_from(scale).unwrap_or_default());
        if decimal.whole_digits() > usize::try_from(precision.saturating_sub(scale)).unwrap_or_default() {
            return Err(ValueError::OutOfRange(KIND));
        }
    }
    Ok(decimal.print())
}

/// Whether it is a finite number that is held.
pub(crate) fn check(text: &str) -> Result<(), ValueError> {
    Decimal::parse(text).map(drop)
}

/// Whether the modifier leaves the number as large as it is.
pub(crate) fn is_exact(text: &str, modifier: Modifier) -> Result<bool, ValueError> {
    let text = trim(text);
    if special(text).is_some() {
        return Ok(true);
    }
    let decimal = Decimal::parse(text)?;
    let beyond = decimal.scale.saturating_sub(usize::try_from(modifier.scale).unwrap_or_default());
    Ok(decimal.digits.iter().rev().take(beyond).all(|digit| *digit == b'0'))
}

/// A number's digits, zeros before it aside, and those behind the point; none for what is no finite number.
pub(crate) fn digits(text: &str) -> Option<(usize, usize)> {
    let decimal = Decimal::parse(trim(text)).ok()?;
    Some((decimal.whole_digits().saturating_add(decimal.scale), decimal.scale))
}

/// A finite number rounded to an integer, halves away from zero, and whether it was one.
pub(crate) fn integral(text: &str) -> Result<(String, bool), ValueError> {
    let mut decimal = Decimal::parse(trim(text))?;
    let exact = decimal.digits.iter().rev().take(decimal.scale).all(|digit| *digit == b'0');
    decimal.round(0);
    Ok((decimal.print(), exact))
}

/// Sign words of the binary form.
const POSITIVE: u16 = 0x0000;
const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xC000;
const POSITIVE_INFINITY: u16 = 0xD000;
const NEGATIVE_INFINITY: u16 = 0xF000;
/// The scale that the server sends with an infinity.
const INFINITY_SCALE: u16 = 0x20;

/// Number of base-10,000 digits, weight of the first, sign, scale, digits.
pub(crate) fn encode(text: &str) -> Result<Vec<u8>, ValueError> {
    let out_of_range = || ValueError::OutOfRange(KIND);
    let header = |count: u16, weight: i16, sign: u16, scale: u16| {
        [count.to_be_bytes(), weight.to_be_bytes(), sign.to_be_bytes(), scale.to_be_bytes()].concat()
    };
    match special(text) {
        Some("NaN") => return Ok(header(0, 0, NAN, 0)),
        Some("Infinity") => return Ok(header(0, 0, POSITIVE_INFINITY, INFINITY_SCALE)),
        Some(_) => return Ok(header(0, 0, NEGATIVE_INFINITY, INFINITY_SCALE)),
        None => {}
    }
    let decimal = Decimal::parse(text)?;
    let point = decimal.digits.len().saturating_sub(decimal.scale);
    let lead = point.next_multiple_of(4).saturating_sub(point);
    let mut padded = vec![b'0'; lead];
    padded.extend_from_slice(&decimal.digits);
    padded.resize(padded.len().next_multiple_of(4), b'0');
    let groups: Vec<u16> = padded
        .as_chunks::<4>()
        .0
        .iter()
        .map(|group| {
            group.iter().fold(0_u16, |sum, d| sum.saturating_mul(10).saturating_add(u16::from(*d & 15)))
        })
        .collect();
    let first = groups.iter().position(|g| *g != 0);
    let last = groups.iter().rposition(|g| *g != 0);
    let significant = first.zip(last).and_then(|(first, last)| groups.get(first..=last)).unwrap_or_default();
    let whole_groups = point.saturating_add(lead) / 4;
    let weight = match first {
        Some(first) => i64::try_from(whole_groups)
            .ok()
            .and_then(|w| w.checked_sub(i64::try_from(first).ok()?))
            .and_then(|w| w.checked_sub(1)),
        None => Some(0),
    };
    let weight = weight.and_then(|w| i16::try_from(w).ok()).ok_or_else(out_of_range)?;
    let count = u16::try_from(significant.len()).map_err(|_| out_of_range())?;
    let scale = u16::try_from(decimal.scale).map_err(|_| out_of_range())?;
    let mut bytes = header(count, weight, if decimal.negative { NEGATIVE } else { POSITIVE }, scale);
    for group in significant {
        bytes.extend_from_slice(&group.to_be_bytes());
    }
    Ok(bytes)
}

pub(crate) fn decode(bytes: &[u8]) -> Result<String, ValueError> {
    let invalid = || ValueError::Invalid(KIND);
    let (words, rest) = bytes.as_chunks::<2>();
    let mut words = words.iter().map(|w| u16::from_be_bytes(*w));
    if !rest.is_empty() {
        return Err(invalid());
    }
    let mut next = || words.next().ok_or_else(invalid);
    let (count, weight, sign, scale) = (next()?, next()?.cast_signed(), next()?, usize::from(next()?));
    let groups: Vec<u16> = words.collect();
    if groups.len() != usize::from(count) || groups.iter().any(|g| *g > 9999) {
        return Err(invalid());
    }
    let negative = match sign {
        POSITIVE => false,
        NEGATIVE => true,
        NAN => return Ok("NaN".to_owned()),
        POSITIVE_INFINITY => return Ok("Infinity".to_owned()),
        NEGATIVE_INFINITY => return Ok("-Infinity".to_owned()),
        _ => return Err(invalid()),
    };
    let before = i32::from(weight).saturating_add(1).saturating_mul(4);
    if usize::try_from(before.unsigned_abs()).unwrap_or(usize::MAX) > MAX_DIGITS || scale > MAX_DIGITS {
        return Err(ValueError::OutOfRange(KIND));
    }
    // Groups before the first that is sent are zero when the value is below one.
    let mut digits = vec![b'0'; usize::try_from(before.saturating_neg()).unwrap_or_default()];
    for group in groups {
        let mut rest = group;
        let mut four = [b'0'; 4];
        for digit in four.iter_mut().rev() {
            *digit |= u8::try_from(rest % 10).unwrap_or_default();
            rest /= 10;
        }
        digits.extend_from_slice(&four);
    }
    let point = usize::try_from(before).unwrap_or_default();
    // Trailing zeros are not sent; what is sent beyond the scale is cut, as the server does.
    digits.resize(point.saturating_add(scale), b'0');
    let mut decimal = Decimal { negative, digits, scale };
    decimal.normalize();
    Ok(decimal.print())
}
