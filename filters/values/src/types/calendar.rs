//! What `date` and the timestamps share: reading and printing days, and PostgreSQL's epoch, 2000-01-01.

use chrono::{Datelike, Days, NaiveDate};

use crate::ValueError;

/// The white space that the server's number and date readers pass over.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c'])
}

/// PostgreSQL's.
const EPOCH: NaiveDate = match NaiveDate::from_ymd_opt(2000, 1, 1) {
    Some(epoch) => epoch,
    None => NaiveDate::MIN,
};
/// The Gregorian calendar repeats after 400 years, which are so many days.
const CYCLE_YEARS: i32 = 400;
const CYCLE_DAYS: i32 = 146_097;
/// The cycle that begins with the epoch's year.
const EPOCH_CYCLE: i32 = 5;
/// The first and the last day that `date` holds: 4714-11-24 BC and 5874897-12-31.
const FIRST_DAY: i32 = -2_451_545;
const LAST_DAY: i32 = 2_145_031_948;

/// A day as days since 2000-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Day(pub(crate) i32);

/// Before or after the beginning of the calendar, which has no year 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    BC,
    AD,
}

impl Era {
    /// Takes the era from the end of a text.
    pub(crate) fn split(text: &str) -> (&str, Self) {
        let split = text.len().checked_sub(2).and_then(|at| text.split_at_checked(at));
        match split {
            Some((rest, era)) if era.eq_ignore_ascii_case("BC") && rest.ends_with(' ') => {
                (rest.trim_end_matches(' '), Self::BC)
            }
            _ => (text, Self::AD),
        }
    }

    /// What the server prints at the end.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::BC => " BC",
            Self::AD => "",
        }
    }
}

impl Day {
    /// Reads `YYYY-MM-DD`; years of four to seven digits.
    pub(crate) fn parse(text: &str, era: Era, kind: &'static str) -> Result<Self, ValueError> {
        let ambiguous = ValueError::Ambiguous { kind, remedy: "write dates as YYYY-MM-DD" };
        let mut parts = text.split('-');
        let (Some(year), Some(month), Some(day), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(ambiguous);
        };
        let digits = |part: &str, lengths: std::ops::RangeInclusive<usize>| {
            lengths.contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
        };
        if !(digits(year, 4..=7) && digits(month, 1..=2) && digits(day, 1..=2)) {
            return Err(ambiguous);
        }
        let number = |part: &str| part.parse::<u32>().map_err(|_| ValueError::Invalid(kind));
        let out_of_range = ValueError::OutOfRange(kind);
        let year = i32::try_from(number(year)?).ok().filter(|year| *year > 0).ok_or(out_of_range.clone())?;
        let year = if era == Era::BC { 1_i32.saturating_sub(year) } else { year };
        Self::from_ymd(year, number(month)?, number(day)?).ok_or(out_of_range)
    }

    /// From an astronomical year, in which 1 BC is 0.
    fn from_ymd(year: i32, month: u32, day: u32) -> Option<Self> {
        let of_cycle = year.rem_euclid(CYCLE_YEARS).checked_add(EPOCH_CYCLE.checked_mul(CYCLE_YEARS)?)?;
        let date = NaiveDate::from_ymd_opt(of_cycle, month, day)?;
        let cycles = year.div_euclid(CYCLE_YEARS).checked_sub(EPOCH_CYCLE)?;
        let days = i32::try_from(date.signed_duration_since(EPOCH).num_days()).ok()?;
        let days = cycles.checked_mul(CYCLE_DAYS)?.checked_add(days)?;
        (FIRST_DAY..=LAST_DAY).contains(&days).then_some(Self(days))
    }

    /// Prints `YYYY-MM-DD`, and the era that belongs behind all else.
    pub(crate) fn print(self, kind: &'static str) -> Result<(String, Era), ValueError> {
        let out_of_range = || ValueError::OutOfRange(kind);
        if !(FIRST_DAY..=LAST_DAY).contains(&self.0) {
            return Err(out_of_range());
        }
        let of_cycle = u64::try_from(self.0.rem_euclid(CYCLE_DAYS)).map_err(|_| out_of_range())?;
        let date = EPOCH.checked_add_days(Days::new(of_cycle)).ok_or_else(out_of_range)?;
        let cycles = self.0.div_euclid(CYCLE_DAYS);
        let year = date.year().saturating_add(cycles.saturating_mul(CYCLE_YEARS));
        let (year, era) = if year > 0 { (year, Era::AD) } else { (1_i32.saturating_sub(year), Era::BC) };
        Ok((format!("{year:04}-{:02}-{:02}", date.month(), date.day()), era))
    }
}

/// The words that stand for no finite date.
pub(crate) fn infinity(text: &str) -> Option<&'static str> {
    match text.to_ascii_lowercase().as_str() {
        "infinity" | "+infinity" => Some("infinity"),
        "-infinity" => Some("-infinity"),
        _ => None,
    }
}
