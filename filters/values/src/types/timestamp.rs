//! `timestamp` and `timestamptz`: ISO, microseconds, UTC, and both infinities.

use super::calendar::{Day, Era, infinity, trim};
use super::clock::{self, MICROS_PER_DAY, MICROS_PER_SECOND};
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

/// The first microsecond that is held, 4714-11-24 00:00 BC, and the first that is not, 294277-01-01 00:00.
const FIRST: i64 = -211_813_488_000_000_000;
const END: i64 = 9_223_371_331_200_000_000;

/// Longest text: `4714-11-24 23:59:59.999999+00 BC`, with fewer digits behind the point if so declared.
pub(crate) fn max_text_bytes(precision: Option<u32>, zone: Zone) -> usize {
    let (date, era) = ("4714-11-24 ".len(), Era::BC.suffix().len());
    date.saturating_add(clock::max_text_bytes(precision))
        .saturating_add(zone.suffix().len())
        .saturating_add(era)
}

/// Microseconds since 2000-01-01 00:00, in UTC for a timestamp with a zone.
fn parse(text: &str, zone: Zone) -> Result<i64, ValueError> {
    let kind = zone.kind();
    let invalid = || ValueError::Invalid(kind);
    let (text, era) = Era::split(text);
    let date_end = text.find([' ', 'T', 't']).unwrap_or(text.len());
    let (date, rest) = text.split_at_checked(date_end).ok_or_else(invalid)?;
    let must_have_clock = rest.starts_with(['T', 't']);
    let rest = rest.get(1..).unwrap_or_default().trim_start_matches(' ');
    // The server reads `T-12` as twelve o'clock, and refuses a T that nothing or a zone follows.
    if must_have_clock && !rest.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(invalid());
    }
    let day = Day::parse(date, era, kind)?;
    let clock_end =
        rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | '.'))).unwrap_or(rest.len());
    let (clock, offset) = rest.split_at_checked(clock_end).ok_or_else(invalid)?;
    let offset = offset.trim_start_matches(' ');
    let micros = if clock.is_empty() { 0 } else { clock::parse(clock, kind)? };
    // A fraction may round to the day's end, which is the next day; 24:00 itself is not taken.
    if micros >= MICROS_PER_DAY && clock.starts_with("24") {
        return Err(ValueError::OutOfRange(kind));
    }
    let offset = match (zone, offset) {
        (Zone::Without, "") => 0,
        // As the server does: drivers send one with every timestamp.
        (Zone::Without, ignored) => parse_offset(ignored).map(|_| 0).ok_or_else(invalid)?,
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

/// Whether what stands behind a date is a time of day, a zone, or both: a `date` takes them and looks at neither.
pub(crate) fn may_follow_date(rest: &str) -> bool {
    Era::split(rest).0 == rest && parse(&format!("2000-01-01{rest}"), Zone::Without).is_ok()
}

/// `Z`, `UTC`, `+HH`, `+HHMM`, `+HH:MM`, `+HH:MM:SS`, as microseconds east.
pub(crate) fn parse_offset(offset: &str) -> Option<i64> {
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
    let kind = zone.kind();
    let out_of_range = || ValueError::OutOfRange(kind);
    if !(FIRST..END).contains(&micros) {
        return Err(out_of_range());
    }
    let days = i32::try_from(micros.div_euclid(MICROS_PER_DAY)).map_err(|_| out_of_range())?;
    let of_day = micros.rem_euclid(MICROS_PER_DAY);
    let (date, era) = Day(days).print(kind)?;
    Ok(format!("{date} {}{}{}", clock::print(of_day), zone.suffix(), era.suffix()))
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
