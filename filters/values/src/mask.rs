//! Masks: what of a value may be seen. The result is a value of the same type.
//!
//! `policies/schemas/masks/data.json` describes the masks, and the tests here compare it with this code.

use std::str::FromStr;

use crate::DeclaredType;

/// Stands for a character that is hidden.
const HIDDEN: char = '*';
/// What `last4` shows at most.
const SHOWN_LAST: usize = 4;

/// Most of what `partial` shows on either side.
const MAX_SHOWN: u8 = 64;
/// Most characters of what `partial` puts in the place of the rest.
const MAX_PADDING: usize = 64;

/// A mask by its name in the policy. `docs/reference/masks.md` has what each makes of which values.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// `partial(FIRST,"PADDING",LAST)`, as SQL Server has it: of `partial(2,"XX",1)` `Johnson` becomes `JoXXn`.
    Partial(Partial),
}

/// What `partial` shows. A value with fewer than twice the characters that it would show becomes the padding alone, so
/// that never more than half is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partial {
    first: u8,
    last: u8,
    padding: Box<str>,
}

/// A mask's name that is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "it is not a known mask; known are last4, first1, email, year and partial(FIRST,\"PADDING\",LAST) with FIRST and LAST from 0 to {MAX_SHOWN}, and PADDING of 1 to {MAX_PADDING} characters without double quotes, backslashes and control characters"
)]
pub struct UnknownMask;

macro_rules! plain {
    ($($name:literal => $mask:ident,)+) => {
        /// The mask without parameters that has this name.
        fn plain(name: &str) -> Option<Mask> {
            match name {
                $($name => Some(Mask::$mask),)+
                _ => None,
            }
        }

        /// The names that [`plain`] knows.
        #[cfg(test)]
        const PLAIN: &[&str] = &[$($name),+];
    };
}

plain! {
    "last4" => Last4,
    "first1" => First1,
    "email" => Email,
    "year" => Year,
}

impl FromStr for Mask {
    type Err = UnknownMask;

    fn from_str(name: &str) -> Result<Self, UnknownMask> {
        plain(name).or_else(|| Partial::parse(name).map(Self::Partial)).ok_or(UnknownMask)
    }
}

impl Mask {
    /// Whether a masked value of the type is a value of the type.
    pub fn applies_to(&self, declared: &DeclaredType) -> bool {
        match self {
            Self::Last4 | Self::First1 | Self::Email | Self::Partial(_) => declared.is_character(),
            Self::Year => declared.has_year(),
        }
    }

    /// The masked form of a canonical text of the type. What is longer than `varchar(n)` or `char(n)` allows is cut.
    pub fn apply(&self, declared: &DeclaredType, canonical: &str) -> String {
        let mut masked = match self {
            Self::Last4 => last4(canonical),
            Self::First1 => {
                canonical.chars().enumerate().map(|(i, c)| if i == 0 { c } else { HIDDEN }).collect()
            }
            Self::Email => email(canonical).unwrap_or_else(|| "***".to_owned()),
            Self::Year => year(canonical),
            Self::Partial(partial) => partial.apply(canonical),
        };
        if let Some((end, _)) = declared.max_characters().and_then(|most| masked.char_indices().nth(most)) {
            masked.truncate(end);
        }
        masked
    }

    /// Whether it may show this text in place of some value: then somebody who writes the text may have read it here.
    pub fn may_show(&self, declared: &DeclaredType, text: &str) -> bool {
        match self {
            Self::Partial(partial) => partial.may_show(text),
            Self::Year => self.apply(declared, text) == text,
            // Where nothing is hidden, it is the value itself.
            Self::Last4 | Self::First1 | Self::Email => {
                text.contains(HIDDEN) && self.apply(declared, text) == text
            }
        }
    }
}

impl Partial {
    fn may_show(&self, text: &str) -> bool {
        let (first, last) = (usize::from(self.first), usize::from(self.last));
        let length = self.padding.chars().count();
        let is_padding = text.chars().skip(first).take(length).eq(self.padding.chars());
        text == &*self.padding
            || (is_padding && text.chars().count() == first.saturating_add(length).saturating_add(last))
    }

    fn parse(text: &str) -> Option<Self> {
        let (first, rest) = text.strip_prefix("partial(")?.split_once(",\"")?;
        let (padding, last) = rest.split_once("\",")?;
        let plain = |c: char| !matches!(c, '"' | '\\') && !c.is_control();
        let fits = (1..=MAX_PADDING).contains(&padding.chars().count()) && padding.chars().all(plain);
        let (first, last) = (shown(first)?, shown(last.strip_suffix(')')?)?);
        fits.then(|| Self { first, last, padding: padding.into() })
    }

    fn apply(&self, text: &str) -> String {
        let shown = usize::from(self.first).saturating_add(usize::from(self.last));
        let length = text.chars().count();
        if length < shown.saturating_mul(2) {
            return self.padding.to_string();
        }
        let first = text.chars().take(usize::from(self.first));
        let last = text.chars().skip(length.saturating_sub(usize::from(self.last)));
        first.chain(self.padding.chars()).chain(last).collect()
    }
}

fn shown(number: &str) -> Option<u8> {
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse().ok().filter(|shown| digits && *shown <= MAX_SHOWN)
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
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    /// The description of the masks that policies, command and filter share.
    fn described() -> Value {
        serde_json::from_str(include_str!("../../../policies/schemas/masks/data.json")).unwrap()
    }

    fn names(described: &Value) -> BTreeSet<&str> {
        described["masks"].as_object().unwrap().keys().map(String::as_str).collect()
    }

    #[test]
    fn described_masks_are_those_of_the_code() {
        let mut known: BTreeSet<&str> = PLAIN.iter().copied().collect();
        known.insert("partial");
        let described = described();
        assert_eq!(names(&described), known);
        let told = UnknownMask.to_string();
        for name in known {
            assert!(told.contains(name), "{name} is missing in: {told}");
            let example = &described["masks"][name]["example"];
            let [format, value, shown] =
                ["format", "value", "shown"].map(|key| example[key].as_str().unwrap());
            let row = [format, value, shown];
            assert!(
                documented().any(|[mask, _, of, to]| [mask, of, to] == row),
                "docs/reference/masks.md has not {row:?}"
            );
        }
    }

    #[test]
    fn described_masks_apply_to_the_types_that_are_described() {
        let described = described();
        let types: Vec<(&str, &str)> = described["types"]
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(group, types)| {
                types.as_array().unwrap().iter().map(move |of| (&**group, of.as_str().unwrap()))
            })
            .collect();
        for mask in described["masks"].as_object().unwrap().values() {
            let parsed: Mask = mask["example"]["format"].as_str().unwrap().parse().unwrap();
            for (group, declared) in &types {
                let applies = parsed.applies_to(&declared.parse().unwrap());
                assert_eq!(applies, mask["types"] == **group, "{mask} of {declared}");
            }
        }
    }

    /// Name of the mask, type, value and what becomes of it: the rows of the tables in `docs/reference/masks.md`.
    fn documented() -> impl Iterator<Item = [&'static str; 4]> {
        include_str!("../../../docs/reference/masks.md").lines().filter_map(|line| {
            let cells: Vec<&str> = line.strip_prefix("| `")?.strip_suffix("` |")?.split("` | `").collect();
            cells.try_into().ok()
        })
    }

    fn apply(mask: &str, declared: &str, value: &str) -> String {
        mask.parse::<Mask>().unwrap().apply(&declared.parse().unwrap(), value)
    }

    /// `fieldveil` rewrites a column only where such values come back as they are.
    #[test]
    fn no_mask_leaves_a_probe_as_it_is() {
        let described = described();
        for mask in described["masks"].as_object().unwrap().values() {
            let (declared, probe) = match mask["types"].as_str().unwrap() {
                "characters" => ("text", "K7QZB2MXN5T3LRWAJ6DHVFYEPC"),
                "dates" => ("date", "2001-02-03"),
                other => panic!("it does not probe {other}"),
            };
            let format = mask["example"]["format"].as_str().unwrap();
            assert_ne!(apply(format, declared, probe), probe, "{format}");
        }
    }

    #[test]
    fn documented_outputs_are_those_of_the_masks() {
        for [mask, declared, value, shown] in documented() {
            assert!(
                mask.parse::<Mask>().unwrap().applies_to(&declared.parse().unwrap()),
                "{mask} {declared}"
            );
            assert_eq!(apply(mask, declared, value), shown, "{mask} of {declared} {value}");
        }
        for mask in names(&described()) {
            assert!(documented().filter(|row| row[0].starts_with(mask)).count() > 2, "{mask}");
        }
    }

    #[test]
    fn nothing_is_made_of_an_empty_value_but_what_hides_every_value() {
        for (mask, shown) in [("last4", ""), ("first1", ""), ("email", "***"), ("partial(1,\"-\",0)", "-")] {
            assert_eq!(apply(mask, "text", ""), shown);
        }
    }

    #[test]
    fn first_year_that_is_held_begins_with_its_first_day() {
        assert_eq!(apply("year", "timestamp", "4714-12-31 10:00:00 BC"), "4714-11-24 00:00:00 BC");
        assert_eq!(apply("year", "date", "-infinity"), "-infinity");
    }

    #[test]
    fn partial_is_read_at_its_limits() {
        let padding = "€".repeat(64);
        for text in [
            "partial(0,\"x\",0)".to_owned(),
            format!("partial(64,\"{padding}\",64)"),
            "partial(1,\"a,b)(\",2)".to_owned(),
        ] {
            assert!(text.parse::<Mask>().is_ok(), "{text}");
        }
    }

    #[test]
    fn what_is_no_partial_is_no_mask() {
        let long = format!("partial(1,\"{}\",1)", "x".repeat(65));
        for text in [
            "partial",
            "partial()",
            "partial(1,\"x\")",
            "partial(1,x,1)",
            "partial(1,\"\",1)",
            "partial(65,\"x\",1)",
            "partial(1,\"x\",65)",
            "partial(-1,\"x\",1)",
            "partial(+1,\"x\",1)",
            "partial(,\"x\",1)",
            "partial(1,\"x\",)",
            "partial(1, \"x\",1)",
            "partial(1,\"x\", 1)",
            " partial(1,\"x\",1)",
            "partial(1,\"x\",1) ",
            "partial(1,\"x\",1",
            "partial(1,\"a\\b\",1)",
            "partial(1,\"a\"b\",1)",
            "partial(1,\"a\nb\",1)",
            "partial(1,\"a\u{85}b\",1)",
            "PARTIAL(1,\"x\",1)",
            "partial(1,'x',1)",
            "partial(256,\"x\",1)",
            &long,
        ] {
            assert_eq!(text.parse::<Mask>(), Err(UnknownMask), "{text}");
        }
    }
}
