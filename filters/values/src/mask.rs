//! Masks: what of a value may be seen. The result is a value of the same type.

use std::str::FromStr;

use crate::DeclaredType;

/// Stands for a character that is hidden.
const HIDDEN: char = '*';
/// What `last4` shows at most.
const SHOWN_LAST: usize = 4;

/// A mask by its name in the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mask {
    /// The last four characters: `123-45-6789` becomes `***-**-6789`. Hyphens and spaces stay. A value of
    /// eight characters or fewer is hidden whole, so that never more than half is shown.
    Last4,
    /// The first character and the length: `Alice` becomes `A****`.
    First1,
    /// The first characters of mailbox and domain and the last label: `alice@example.com` becomes
    /// `a***@e***.com`. What is no address becomes `***`.
    Email,
    /// 1 January of the year: `1980-05-17` becomes `1980-01-01`. For dates and timestamps.
    Year,
}

/// A mask's name that is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is not a known mask; known are last4, first1, email, year")]
pub struct UnknownMask;

impl FromStr for Mask {
    type Err = UnknownMask;

    fn from_str(name: &str) -> Result<Self, UnknownMask> {
        match name {
            "last4" => Ok(Self::Last4),
            "first1" => Ok(Self::First1),
            "email" => Ok(Self::Email),
            "year" => Ok(Self::Year),
            _ => Err(UnknownMask),
        }
    }
}

impl Mask {
    /// Whether a masked value of the type is a value of the type.
    pub fn applies_to(&self, declared: &DeclaredType) -> bool {
        match self {
            Self::Last4 | Self::First1 | Self::Email => declared.is_character(),
            Self::Year => declared.has_year(),
        }
    }

    /// The masked form of a canonical text.
    pub fn apply(&self, canonical: &str) -> String {
        match self {
            Self::Last4 => last4(canonical),
            Self::First1 => {
                canonical.chars().enumerate().map(|(i, c)| if i == 0 { c } else { HIDDEN }).collect()
            }
            Self::Email => email(canonical).unwrap_or_else(|| "***".to_owned()),
            Self::Year => year(canonical),
        }
    }
}

fn last4(text: &str) -> String {
    let length = text.chars().count();
    let shown = if length > SHOWN_LAST.saturating_mul(2) { SHOWN_LAST } else { 0 };
    let hidden = length.saturating_sub(shown);
    let keep = |index: usize, c: char| index >= hidden || matches!(c, '-' | ' ');
    text.chars().enumerate().map(|(index, c)| if keep(index, c) { c } else { HIDDEN }).collect()
}

fn email(text: &str) -> Option<String> {
    let (mailbox, domain) = text.rsplit_once('@')?;
    let (name, top) = domain.rsplit_once('.')?;
    let (first, second) = (mailbox.chars().next()?, name.chars().next()?);
    let plain = !top.is_empty() && top.chars().all(char::is_alphanumeric);
    plain.then(|| format!("{first}***@{second}***.{top}"))
}

fn year(text: &str) -> String {
    let Some((year, rest)) = text.split_once('-').filter(|(year, _)| !year.is_empty()) else {
        // The infinities have no year.
        return text.to_owned();
    };
    let (rest, era) = rest.strip_suffix(" BC").map_or((rest, ""), |rest| (rest, " BC"));
    // The first year that is held begins with its first day that is.
    let first = if year == "4714" && !era.is_empty() { "11-24" } else { "01-01" };
    let clock = match rest.split_once(' ') {
        None => "",
        Some((_, time)) if time.ends_with("+00") => " 00:00:00+00",
        Some(_) => " 00:00:00",
    };
    format!("{year}-{first}{clock}{era}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last4_never_shows_more_than_half() {
        let cases = [
            ("123-45-6789", "***-**-6789"),
            ("4111 1111 1111 1234", "**** **** **** 1234"),
            ("12345678", "********"),
            ("123456789", "*****6789"),
            ("abc", "***"),
            ("", ""),
            ("ÄÖÜäöüßéèê", "******ßéèê"),
        ];
        for (value, masked) in cases {
            assert_eq!(Mask::Last4.apply(value), masked);
        }
    }

    #[test]
    fn email_shows_first_characters_and_the_last_label() {
        let cases = [
            ("alice@example.com", "a***@e***.com"),
            ("a@b.co.uk", "a***@b***.uk"),
            ("not an address", "***"),
            ("@example.com", "***"),
            ("alice@localhost", "***"),
        ];
        for (value, masked) in cases {
            assert_eq!(Mask::Email.apply(value), masked);
        }
    }

    #[test]
    fn first1_and_year_are_values_of_the_type() {
        assert_eq!(Mask::First1.apply("Alice"), "A****");
        assert_eq!(Mask::Year.apply("1980-05-17"), "1980-01-01");
        assert_eq!(Mask::Year.apply("1980-05-17 10:00:00.5+00"), "1980-01-01 00:00:00+00");
        assert_eq!(Mask::Year.apply("1980-05-17 10:00:00"), "1980-01-01 00:00:00");
        assert_eq!(Mask::Year.apply("-infinity"), "-infinity");
        assert_eq!(Mask::Year.apply("0044-03-15 BC"), "0044-01-01 BC");
        assert_eq!(Mask::Year.apply("0044-03-15 10:00:00+00 BC"), "0044-01-01 00:00:00+00 BC");
        assert_eq!(Mask::Year.apply("4714-12-31 10:00:00 BC"), "4714-11-24 00:00:00 BC");
    }
}
