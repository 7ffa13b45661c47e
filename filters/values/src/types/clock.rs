//! What `time` and the timestamps share: reading and printing the time of day, in microseconds since midnight.

use crate::ValueError;

pub(crate) const MICROS_PER_SECOND: i64 = 1_000_000;
pub(crate) const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// Longest text of a time with so many digits behind the point.
pub(crate) fn max_text_bytes(precision: Option<u32>) -> usize {
    let fraction = match usize::try_from(precision.unwrap_or(6)) {
        Ok(0) | Err(_) => 0,
        Ok(digits) => digits.saturating_add(1),
    };
    "23:59:59".len().saturating_add(fraction)
}

/// Reads `HH:MM[:SS[.ffffff]]`, up to 24:00.
pub(crate) fn parse(clock: &str, kind: &'static str) -> Result<i64, ValueError> {
    let (whole, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let two = |part: &str| {
        let digits = (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        if digits {
            part.parse::<i64>().map_err(|_| ValueError::Invalid(kind))
        } else {
            Err(ValueError::Invalid(kind))
        }
    };
    let parts = whole.split(':').map(two).collect::<Result<Vec<_>, _>>()?;
    let (hours, minutes, seconds) = match parts.as_slice() {
        [h, m] if fraction.is_empty() && !clock.contains('.') => (*h, *m, 0),
        [h, m, s] => (*h, *m, *s),
        _ => return Err(ValueError::Invalid(kind)),
    };
    if hours > 24 || minutes > 59 || seconds > 59 {
        return Err(ValueError::OutOfRange(kind));
    }
    let micros = parse_fraction(fraction, kind)?;
    let whole = hours.saturating_mul(3600).saturating_add(minutes.saturating_mul(60)).saturating_add(seconds);
    let total = whole.saturating_mul(MICROS_PER_SECOND).saturating_add(micros);
    if total > MICROS_PER_DAY { Err(ValueError::OutOfRange(kind)) } else { Ok(total) }
}

/// Digits behind the point, as microseconds. Beyond the sixth they round as in the server, which takes them for a
/// float: halves to the even.
fn parse_fraction(digits: &str, kind: &'static str) -> Result<i64, ValueError> {
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(ValueError::Invalid(kind));
    }
    match digits.len() {
        0 => Ok(0),
        1..=6 => format!("{digits:0<6}").parse().map_err(|_| ValueError::Invalid(kind)),
        7..=9 => {
            let fraction: f64 = format!("0.{digits}").parse().map_err(|_| ValueError::Invalid(kind))?;
            let micros = (fraction * 1e6).round_ties_even();
            // From 0 to 1,000,000.
            format!("{micros:.0}").parse().map_err(|_| ValueError::Invalid(kind))
        }
        _ => Err(ValueError::Unsupported("fractions of a second with more than nine digits")),
    }
}

/// Prints `HH:MM:SS[.ffffff]`, without zeros at the end of the fraction.
pub(crate) fn print(of_day: i64) -> String {
    let (seconds, fraction) = (of_day.div_euclid(MICROS_PER_SECOND), of_day.rem_euclid(MICROS_PER_SECOND));
    let (hours, rest) = (seconds.div_euclid(3600), seconds.rem_euclid(3600));
    let (minutes, seconds) = (rest.div_euclid(60), rest.rem_euclid(60));
    let mut text = format!("{hours:02}:{minutes:02}:{seconds:02}");
    if fraction != 0 {
        text.push_str(format!(".{fraction:06}").trim_end_matches('0'));
    }
    text
}
