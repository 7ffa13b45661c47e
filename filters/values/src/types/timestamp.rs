//! `timestamp` and `timestamptz`: ISO, microseconds, UTC, and both infinities.

use super::calendar::{Day, infinity, trim};
use super::exactly;
use crate::ValueError;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Zone {
    Without,
    With,
}

impl Zone {
    fn kind(self) -> &'static str {
        match self {
            Self::Without => "timestamp",
            Self::With => "timestamptz",
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            Self::Without => "",
            Self::With => "+00",
        }
    }
}

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// Microseconds since 2000-01-01 00:00, in UTC for a timestamp with a zone.
fn parse(text: &str, zone: Zone) -> Result<i64, ValueError> {
    let kind = zone.kind();
    let invalid = || ValueError::Invalid(kind);
    let date_end = text.find([' ', 'T', 't']).unwrap_or(text.len());
    let (date, rest) = text.split_at_checked(date_end).ok_or_else(invalid)?;
    let must_have_clock = rest.starts_with(['T', 't']);
    let rest = rest.get(1..).unwrap_or_default().trim_start_matches(' ');
    // The server reads `T-12` as twelve o'clock, and refuses a T that nothing or a zone follows.
    if must_have_clock && !rest.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(invalid());
    }
    let day = Day::parse(date, kind)?;
    let clock_end =
        rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | '.'))).unwrap_or(rest.len());
    let (clock, offset) = rest.split_at_checked(clock_end).ok_or_else(invalid)?;
    let offset = offset.trim_start_matches(' ');
    let micros = parse_clock(clock, kind)?;
    let offset = match (zone, offset) {
        (Zone::Without, "") => 0,
        (Zone::Without, _) => {
            return Err(ValueError::Ambiguous {
                kind,
                remedy: "leave the zone out, the server would ignore it",
            });
        }
        (Zone::With, "") => {
            return Err(ValueError::Ambiguous { kind, remedy: "end it with a zone such as +00 or Z" });
        }
        (Zone::With, offset) => parse_offset(offset).ok_or_else(invalid)?,
    };
    i64::from(day.0)
        .checked_mul(MICROS_PER_DAY)
        .and_then(|total| total.checked_add(micros))
        .and_then(|total| total.checked_sub(offset))
        .ok_or(ValueError::OutOfRange(kind))
}

/// `HH:MM[:SS[.ffffff]]`, or nothing for midnight.
fn parse_clock(clock: &str, kind: &'static str) -> Result<i64, ValueError> {
    if clock.is_empty() {
        return Ok(0);
    }
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
    if hours > 23 || minutes > 59 || seconds > 59 {
        return Err(ValueError::OutOfRange(kind));
    }
    if !fraction.bytes().all(|b| b.is_ascii_digit()) || fraction.len() > 6 {
        return Err(ValueError::Unsupported("fractions of a second with more than six digits"));
    }
    let scale =
        10_i64.saturating_pow(6_u32.saturating_sub(u32::try_from(fraction.len()).unwrap_or_default()));
    let micros = if fraction.is_empty() {
        0
    } else {
        fraction.parse::<i64>().unwrap_or_default().saturating_mul(scale)
    };
    let whole = hours.saturating_mul(3600).saturating_add(minutes.saturating_mul(60)).saturating_add(seconds);
    Ok(whole.saturating_mul(MICROS_PER_SECOND).saturating_add(micros))
}

/// `Z`, `UTC`, `+HH`, `+HHMM`, `+HH:MM`, `+HH:MM:SS`, as microseconds east.
fn parse_offset(offset: &str) -> Option<i64> {
    if matches!(offset.to_ascii_lowercase().as_str(), "z" | "utc") {
        return Some(0);
    }
    let (sign, digits) = match offset.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let parts: Vec<&str> = match digits.len() {
        4 if !digits.contains(':') => vec![digits.get(..2)?, digits.get(2..)?],
        _ => digits.split(':').collect(),
    };
    let numbers: Option<Vec<i64>> = parts
        .iter()
        .map(|p| if p.len() == 2 && p.bytes().all(|b| b.is_ascii_digit()) { p.parse().ok() } else { None })
        .collect();
    let (hours, minutes, seconds) = match numbers?.as_slice() {
        [h] => (*h, 0, 0),
        [h, m] => (*h, *m, 0),
        [h, m, s] => (*h, *m, *s),
        _ => return None,
    };
    // The server's MAX_TZDISP_HOUR.
    if hours > 15 || minutes > 59 || seconds > 59 {
        return None;
    }
    let total = hours.checked_mul(3600)?.checked_add(minutes.checked_mul(60)?)?.checked_add(seconds)?;
    total.checked_mul(MICROS_PER_SECOND)?.checked_mul(sign)
}

/// Rounds to `precision` digits, halves away from the epoch, as the server's `AdjustTimestampForTypmod`.
fn round(micros: i64, precision: Option<u32>) -> Option<i64> {
    let scale = 10_i64.pow(6_u32.checked_sub(precision.unwrap_or(6))?);
    let half = scale / 2;
    let magnitude = micros.checked_abs()?.checked_add(half)?;
    let rounded = magnitude.checked_sub(magnitude.checked_rem(scale)?)?;
    rounded.checked_mul(micros.signum())
}

fn print(micros: i64, zone: Zone) -> Result<String, ValueError> {
    let out_of_range = || ValueError::OutOfRange(zone.kind());
    let days = i32::try_from(micros.div_euclid(MICROS_PER_DAY)).map_err(|_| out_of_range())?;
    let of_day = micros.rem_euclid(MICROS_PER_DAY);
    let (seconds, fraction) = (of_day.div_euclid(MICROS_PER_SECOND), of_day.rem_euclid(MICROS_PER_SECOND));
    let (hours, rest) = (seconds.div_euclid(3600), seconds.rem_euclid(3600));
    let (minutes, seconds) = (rest.div_euclid(60), rest.rem_euclid(60));
    let mut text = format!("{} {hours:02}:{minutes:02}:{seconds:02}", Day(days).print()?);
    if fraction != 0 {
        text.push_str(format!(".{fraction:06}").trim_end_matches('0'));
    }
    text.push_str(zone.suffix());
    Ok(text)
}

pub(crate) fn canonicalize(text: &str, precision: Option<u32>, zone: Zone) -> Result<String, ValueError> {
    let text = trim(text);
    if let Some(word) = infinity(text) {
        return Ok(word.to_owned());
    }
    let micros = round(parse(text, zone)?, precision).ok_or(ValueError::OutOfRange(zone.kind()))?;
    print(micros, zone)
}

pub(crate) fn encode(text: &str, zone: Zone) -> Result<Vec<u8>, ValueError> {
    let micros = match text {
        "infinity" => i64::MAX,
        "-infinity" => i64::MIN,
        _ => parse(text, zone)?,
    };
    Ok(micros.to_be_bytes().to_vec())
}

pub(crate) fn decode(bytes: &[u8], zone: Zone) -> Result<String, ValueError> {
    match i64::from_be_bytes(exactly(bytes, zone.kind())?) {
        i64::MAX => Ok("infinity".to_owned()),
        i64::MIN => Ok("-infinity".to_owned()),
        micros => print(micros, zone),
    }
}
