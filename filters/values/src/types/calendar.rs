//! What `date` and the timestamps share: reading and printing days, and PostgreSQL's epoch, 2000-01-01.

use chrono::{Datelike, NaiveDate};

use crate::ValueError;

/// The white space that the server's number and date readers pass over.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c'])
}

/// Days from 0001-01-01 (day 1) to 2000-01-01.
const EPOCH_DAYS: i32 = 730_120;

/// A day as days since 2000-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Day(pub(crate) i32);

impl Day {
    /// Reads `YYYY-MM-DD`; years of four to six digits.
    pub(crate) fn parse(text: &str, kind: &'static str) -> Result<Self, ValueError> {
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
        if !(digits(year, 4..=6) && digits(month, 1..=2) && digits(day, 1..=2)) {
            return Err(ambiguous);
        }
        let number = |part: &str| part.parse::<u32>().map_err(|_| ValueError::Invalid(kind));
        let year = i32::try_from(number(year)?).map_err(|_| ValueError::OutOfRange(kind))?;
        if year == 0 {
            return Err(ValueError::OutOfRange(kind));
        }
        NaiveDate::from_ymd_opt(year, number(month)?, number(day)?)
            .map(Self::from_date)
            .ok_or(ValueError::OutOfRange(kind))
    }

    fn from_date(date: NaiveDate) -> Self {
        Self(date.num_days_from_ce().saturating_sub(EPOCH_DAYS))
    }

    fn date(self) -> Option<NaiveDate> {
        NaiveDate::from_num_days_from_ce_opt(self.0.checked_add(EPOCH_DAYS)?).filter(|date| date.year() > 0)
    }

    /// Prints `YYYY-MM-DD`.
    pub(crate) fn print(self) -> Result<String, ValueError> {
        let date = self.date().ok_or(ValueError::Unsupported("dates before year 1 or after year 262142"))?;
        Ok(format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day()))
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
