//! Dates and times of day as MySQL reads and prints them: years 1 to 9999, microseconds.

use chrono::{Datelike, NaiveDate};

use super::Settings;
use crate::types::calendar::trim;
use crate::types::clock::{self, MICROS_PER_DAY, MICROS_PER_SECOND};
use crate::{ValueError, ValueUse};

const DATETIME: &str = "DATE or DATETIME";
const TIME: &str = "TIME";
/// Digits of a fraction that are kept.
const FRACTION_DIGITS: usize = 6;

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clock {
    /// Since midnight, of which 24:00 is the last.
    pub micros: i64,
    /// Whether it was written with digits beyond the microseconds.
    pub finer: bool,
}

impl Clock {
    pub const MIDNIGHT: Self = Self { micros: 0, finer: false };

    /// With `precision` digits behind the point, as the server makes it. What is looked for is as it is, or nowhere.
    pub fn fit(self, precision: u32, use_: ValueUse, settings: &Settings) -> Result<i64, ValueError> {
        let scale = 10_i64.pow(6_u32.saturating_sub(precision));
        let rest = self.micros.checked_rem(scale).unwrap_or_default();
        let cut = self.micros.saturating_sub(rest);
        if rest == 0 && !self.finer {
            return Ok(self.micros);
        }
        match use_ {
            ValueUse::Search => Err(ValueError::NeverStored),
            ValueUse::Store if settings.truncates_fractions => Ok(cut),
            ValueUse::Store if self.finer => {
                Err(ValueError::Unsupported("fractions of a second with more than six digits"))
            }
            ValueUse::Store if rest >= scale / 2 => Ok(cut.saturating_add(scale)),
            ValueUse::Store => Ok(cut),
        }
    }
}

/// A day and a time of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    pub day: NaiveDate,
    pub clock: Clock,
}

impl Moment {
    /// [`Clock::fit`], which may yield the next day.
    pub fn fit(self, precision: u32, use_: ValueUse, settings: &Settings) -> Result<Self, ValueError> {
        let micros = self.clock.fit(precision, use_, settings)?;
        let day = if micros < MICROS_PER_DAY { Some(self.day) } else { self.day.succ_opt() };
        let day = day.filter(|day| day.year() <= 9999).ok_or(ValueError::OutOfRange(DATETIME))?;
        Ok(Self { day, clock: Clock { micros: micros.rem_euclid(MICROS_PER_DAY), finer: false } })
    }

    /// The canonical text of a timestamp.
    pub fn text(self) -> String {
        format!("{} {}", date_text(self.day), clock::print(self.clock.micros))
    }

    /// Reads a date, with or without a time of day behind it.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        let text = trim(text);
        if let Some((whole, fraction)) = compact(text) {
            let (date, time) = whole.split_at_checked(8).ok_or(ValueError::Invalid(DATETIME))?;
            let clock =
                if time.is_empty() { Clock::MIDNIGHT } else { compact_clock(time, fraction, DATETIME)? };
            let day = numbers_day([part(date, 0, 4)?, part(date, 4, 6)?, part(date, 6, 8)?])?;
            return Self { day, clock }.within_day();
        }
        let (date, rest) =
            text.split_at_checked(text.find([' ', 'T']).unwrap_or(text.len())).unwrap_or((text, ""));
        let day = separated_day(date)?;
        let time = rest.strip_prefix('T').unwrap_or_else(|| rest.trim_start_matches(' '));
        let clock = match (time, rest) {
            ("", "") => Clock::MIDNIGHT,
            (time, _) => separated_clock(time, DATETIME)?,
        };
        Self { day, clock }.within_day()
    }

    /// 24:00 is no time of a day.
    fn within_day(self) -> Result<Self, ValueError> {
        if self.clock.micros < MICROS_PER_DAY { Ok(self) } else { Err(ValueError::OutOfRange(DATETIME)) }
    }

    /// From the binary protocol: year, month, day; hour, minute, second; microseconds. What is zero may be left out.
    pub fn decode(bytes: &[u8]) -> Result<Self, ValueError> {
        let invalid = ValueError::Invalid(DATETIME);
        let (date, time) = match bytes {
            [] => return Err(ZERO),
            [date @ .., _, _, _] if bytes.len() == 7 => (date, bytes.get(4..)),
            _ if matches!(bytes.len(), 4 | 11) => (bytes.get(..4).unwrap_or_default(), bytes.get(4..)),
            _ => return Err(invalid),
        };
        let [low, high, month, day] = *date else { return Err(invalid) };
        let year = u32::from(u16::from_le_bytes([low, high]));
        let day = numbers_day([year, u32::from(month), u32::from(day)])?;
        Self { day, clock: decode_clock(time.unwrap_or_default(), DATETIME)? }.within_day()
    }

    /// The value of a binary row, without its length.
    pub fn encode(self) -> Vec<u8> {
        let mut bytes = date_bytes(self.day);
        if self.clock.micros != 0 {
            bytes.extend(clock_bytes(self.clock.micros));
        }
        bytes
    }
}

const ZERO: ValueError =
    ValueError::Unsupported("a date whose year, month or day is 0, such as 0000-00-00; store NULL");

/// Eight digits, or fourteen with or without a fraction behind them; a `T` may stand between date and time.
fn compact(text: &str) -> Option<(String, &str)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = match whole.split_once('T') {
        Some((date, time)) if date.len() == 8 && time.len() == 6 => format!("{date}{time}"),
        Some(_) => return None,
        None => whole.to_owned(),
    };
    let known = digits.len() == 14 || (digits.len() == 8 && whole.len() == text.len());
    (known && digits.bytes().all(|b| b.is_ascii_digit())).then_some((digits, fraction))
}

fn part(digits: &str, from: usize, to: usize) -> Result<u32, ValueError> {
    digits.get(from..to).and_then(|d| d.parse().ok()).ok_or(ValueError::Invalid(DATETIME))
}

fn separated_day(text: &str) -> Result<NaiveDate, ValueError> {
    let parts: Vec<&str> = text.split(['-', '/', '.']).collect();
    let digits = |part: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
    };
    match parts.as_slice() {
        [year, month, day] if digits(year, 4..=4) && digits(month, 1..=2) && digits(day, 1..=2) => {
            numbers_day([part(year, 0, 4)?, part(month, 0, month.len())?, part(day, 0, day.len())?])
        }
        [year, ..] if digits(year, 1..=8) => {
            Err(ValueError::Ambiguous { kind: DATETIME, remedy: "write dates as YYYY-MM-DD" })
        }
        _ => Err(ValueError::Invalid(DATETIME)),
    }
}

fn numbers_day([year, month, day]: [u32; 3]) -> Result<NaiveDate, ValueError> {
    if year == 0 || month == 0 || day == 0 {
        return Err(ZERO);
    }
    let year = i32::try_from(year).ok().filter(|year| *year <= 9999);
    year.and_then(|year| NaiveDate::from_ymd_opt(year, month, day)).ok_or(ValueError::OutOfRange(DATETIME))
}

/// `HH:MM[:SS[.ffffff]]`
fn separated_clock(text: &str, kind: &'static str) -> Result<Clock, ValueError> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let (fraction, finer) = fraction_of(fraction, kind)?;
    let point = if text.contains('.') { "." } else { "" };
    // Fractions are of seconds alone.
    Ok(Clock { micros: clock::parse(&format!("{whole}{point}{fraction}"), kind)?, finer })
}

/// `HHMMSS`, and a fraction.
fn compact_clock(digits: &str, fraction: &str, kind: &'static str) -> Result<Clock, ValueError> {
    let two = |at: usize| digits.get(at..at.saturating_add(2)).ok_or(ValueError::Invalid(kind));
    separated_clock(&format!("{}:{}:{}.{fraction}", two(0)?, two(2)?, two(4)?), kind)
}

/// The digits that count, and whether any other than zeros stand behind them.
fn fraction_of<'a>(digits: &'a str, kind: &'static str) -> Result<(&'a str, bool), ValueError> {
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(ValueError::Invalid(kind));
    }
    let (kept, rest) = digits.split_at_checked(FRACTION_DIGITS).unwrap_or((digits, ""));
    Ok((kept, rest.bytes().any(|b| b != b'0')))
}

/// Reads a time of day: with colons, or six digits.
pub(super) fn parse_clock(text: &str) -> Result<Clock, ValueError> {
    let text = trim(text);
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if text.starts_with('-') || whole.split(':').next().is_some_and(|hours| hours.len() == 3) {
        return Err(OUTSIDE);
    }
    if whole.len() == 6 && whole.bytes().all(|b| b.is_ascii_digit()) {
        return compact_clock(whole, fraction, TIME);
    }
    separated_clock(text, TIME)
}

const OUTSIDE: ValueError =
    ValueError::OutOfRange("a time of day; declare text for times below 00:00 or above 24:00");

/// From the binary protocol: a sign, days, hour, minute, second, microseconds.
pub(super) fn decode_time(bytes: &[u8]) -> Result<Clock, ValueError> {
    let (sign, days, clock) = match bytes {
        [] => return Ok(Clock::MIDNIGHT),
        [sign, a, b, c, d, clock @ ..] if matches!(clock.len(), 3 | 7) => {
            (*sign, u32::from_le_bytes([*a, *b, *c, *d]), clock)
        }
        _ => return Err(ValueError::Invalid(TIME)),
    };
    let clock = decode_clock(clock, TIME)?;
    let micros = i64::from(days).saturating_mul(MICROS_PER_DAY).saturating_add(clock.micros);
    if (sign != 0 && micros != 0) || micros > MICROS_PER_DAY {
        Err(OUTSIDE)
    } else {
        Ok(Clock { micros, ..clock })
    }
}

fn decode_clock(bytes: &[u8], kind: &'static str) -> Result<Clock, ValueError> {
    let ([h, m, s], micros) = match *bytes {
        [] => return Ok(Clock::MIDNIGHT),
        [h, m, s] => ([h, m, s], 0),
        [h, m, s, a, b, c, d] => ([h, m, s], u32::from_le_bytes([a, b, c, d])),
        _ => return Err(ValueError::Invalid(kind)),
    };
    if h > 23 || m > 59 || s > 59 || i64::from(micros) >= MICROS_PER_SECOND {
        return Err(ValueError::OutOfRange(kind));
    }
    let seconds = i64::from(h).saturating_mul(3600).saturating_add(i64::from(m).saturating_mul(60));
    let seconds = seconds.saturating_add(i64::from(s));
    let micros = seconds.saturating_mul(MICROS_PER_SECOND).saturating_add(i64::from(micros));
    Ok(Clock { micros, finer: false })
}

/// The canonical text of a date.
pub(super) fn date_text(day: NaiveDate) -> String {
    format!("{:04}-{:02}-{:02}", day.year(), day.month(), day.day())
}

pub(super) fn date_bytes(day: NaiveDate) -> Vec<u8> {
    let byte = |number: u32| u8::try_from(number).unwrap_or_default();
    let mut bytes = u16::try_from(day.year()).unwrap_or_default().to_le_bytes().to_vec();
    bytes.extend([byte(day.month()), byte(day.day())]);
    bytes
}

/// Hour, minute and second, and microseconds if there are any.
fn clock_bytes(micros: i64) -> Vec<u8> {
    let (seconds, micros) = (micros.div_euclid(MICROS_PER_SECOND), micros.rem_euclid(MICROS_PER_SECOND));
    let byte = |number: i64| u8::try_from(number).unwrap_or_default();
    let minutes = seconds.div_euclid(60);
    let mut bytes =
        vec![byte(minutes.div_euclid(60)), byte(minutes.rem_euclid(60)), byte(seconds.rem_euclid(60))];
    if micros != 0 {
        bytes.extend(u32::try_from(micros).unwrap_or_default().to_le_bytes());
    }
    bytes
}

/// A `TIME` of a binary row, without its length.
pub(super) fn encode_time(micros: i64) -> Vec<u8> {
    if micros == 0 {
        return Vec::new();
    }
    let days = u32::try_from(micros.div_euclid(MICROS_PER_DAY)).unwrap_or_default();
    let mut bytes = vec![0];
    bytes.extend(days.to_le_bytes());
    bytes.extend(clock_bytes(micros.rem_euclid(MICROS_PER_DAY)));
    bytes
}

/// With as many digits behind the point as the type has.
pub(super) fn clock_text(micros: i64, precision: u32) -> String {
    let whole = micros.div_euclid(MICROS_PER_SECOND).saturating_mul(MICROS_PER_SECOND);
    let mut text = clock::print(whole);
    if precision > 0 {
        let fraction = format!("{:06}", micros.rem_euclid(MICROS_PER_SECOND));
        text.push('.');
        text.extend(fraction.chars().take(usize::try_from(precision).unwrap_or_default()));
    }
    text
}
