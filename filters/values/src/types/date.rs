//! `date`: ISO, years before the first with `BC` behind, and both infinities. A time of day and a zone are passed over,
//! as the server does.

use super::calendar::{Day, Era, infinity, trim};
use super::{exactly, timestamp};
use crate::ValueError;

const KIND: &str = "date";
/// Longest of `5874897-12-31` and `4714-11-24 BC`.
pub(crate) const MAX_TEXT_BYTES: usize = 13;

fn parse(text: &str) -> Result<Day, ValueError> {
    let (text, era) = Era::split(text);
    let end = text.find([' ', 'T', 't']).unwrap_or(text.len());
    match text.split_at_checked(end) {
        Some((date, rest)) if rest.is_empty() || timestamp::may_follow_date(rest) => {
            Day::parse(date, era, KIND)
        }
        _ => Err(ValueError::Invalid(KIND)),
    }
}

fn print(day: Day) -> Result<String, ValueError> {
    let (text, era) = day.print(KIND)?;
    Ok(text + era.suffix())
}

pub(crate) fn canonicalize(text: &str) -> Result<String, ValueError> {
    let text = trim(text);
    match infinity(text) {
        Some(word) => Ok(word.to_owned()),
        None => print(parse(text)?),
    }
}

pub(crate) fn encode(text: &str) -> Result<Vec<u8>, ValueError> {
    let days = match text {
        "infinity" => i32::MAX,
        "-infinity" => i32::MIN,
        _ => parse(text)?.0,
    };
    Ok(days.to_be_bytes().to_vec())
}

pub(crate) fn decode(bytes: &[u8]) -> Result<String, ValueError> {
    match i32::from_be_bytes(exactly(bytes, KIND)?) {
        i32::MAX => Ok("infinity".to_owned()),
        i32::MIN => Ok("-infinity".to_owned()),
        days => print(Day(days)),
    }
}
