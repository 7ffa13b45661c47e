//! What the server makes of a given value in a column of a declared type in strict mode, or compares with one.

use std::borrow::Cow;

use super::column::precision;
use super::given::Given;
use super::moment::{self, Clock, Moment};
use super::{Settings, double};
use crate::kind::Kind;
use crate::types::integer::Width;
use crate::types::{bytea, float, integer, numeric};
use crate::{ValueError, ValueUse};

/// Digits up to which each decimal is a `double` of its own (`DBL_DIG`).
const DOUBLE_DIGITS: u32 = 15;
/// The first integer whose neighbour is the same `double`.
const FIRST_INEXACT: f64 = 9_007_199_254_740_992.0;

/// A column, and what for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub kind: Kind,
    pub use_: ValueUse,
    pub settings: &'a Settings,
}

impl Place<'_> {
    /// The canonical text.
    pub fn assign<'v>(self, given: &Given<'v>) -> Result<Cow<'v, [u8]>, ValueError> {
        if let Given::String(bytes) = given {
            return self.string(bytes);
        }
        let text = match self.kind {
            Kind::Text | Kind::Varchar(_) | Kind::Bpchar(_) => self.characters(given)?,
            Kind::Integer(_) | Kind::Bool => self.integral(given)?,
            Kind::Float8 => self.float(given)?,
            Kind::Numeric(modifier) => self.decimal(given, modifier)?,
            Kind::Date | Kind::Timestamp(_) => self.date_or_moment(given)?,
            Kind::Time(_) => self.time(given)?,
            Kind::Json | Kind::Jsonb => match given {
                Given::Integer(number) => return self.canonical(number.to_string()),
                _ => return Err(self.refused(given)),
            },
            Kind::Bytea(_) => match given {
                Given::Integer(number) if self.use_ == ValueUse::Store => {
                    bytea::decode(number.to_string().as_bytes())
                }
                _ => return Err(self.refused(given)),
            },
            // Any other is taken from strings alone.
            _ => return Err(self.refused(given)),
        };
        self.canonical(text)
    }

    fn refused(self, given: &Given<'_>) -> ValueError {
        ValueError::NotTaken { from: given.name(), to: self.kind.family_name() }
    }

    /// What is given is text that is read one way only.
    fn canonical<'t>(self, text: impl Into<Cow<'t, str>>) -> Result<Cow<'t, [u8]>, ValueError> {
        let text = text.into();
        // Whether they count, the column's collation says; a stored value has none.
        let is_padded = matches!(self.kind, Kind::Bpchar(_)) && text.ends_with(' ');
        if is_padded && self.use_ == ValueUse::Search {
            return Err(ValueError::NeverStored);
        }
        match text {
            Cow::Borrowed(text) => self.kind.canonicalize_for(self.use_, text.as_bytes(), usize::MAX),
            Cow::Owned(text) => {
                let canonical = self.kind.canonicalize_for(self.use_, text.as_bytes(), usize::MAX)?;
                Ok(Cow::Owned(canonical.into_owned()))
            }
        }
    }

    fn string<'v>(self, bytes: &'v [u8]) -> Result<Cow<'v, [u8]>, ValueError> {
        if matches!(self.kind, Kind::Bytea(_)) {
            return self.canonical(bytea::decode(bytes));
        }
        self.text(std::str::from_utf8(bytes).map_err(|_| ValueError::Invalid("UTF-8 text"))?)
    }

    /// A string, or a number written as one.
    pub fn text<'t>(self, text: &'t str) -> Result<Cow<'t, [u8]>, ValueError> {
        let canonical = match self.kind {
            Kind::Integer(_) | Kind::Bool => self.whole(text)?,
            Kind::Float8 => self.double(finite(text)?),
            Kind::Uuid if text.starts_with('{') => return Err(ValueError::Invalid("UUID")),
            Kind::Numeric(_) => {
                numeric::digits(text).map(|_| text.to_owned()).ok_or(ValueError::Invalid("DECIMAL"))?
            }
            Kind::Date | Kind::Timestamp(_) => self.moment(Moment::parse(text)?)?,
            Kind::Time(p) => self.clock(moment::parse_clock(text)?, p)?,
            _ => return self.canonical(text),
        };
        self.canonical(canonical)
    }

    fn characters(self, given: &Given<'_>) -> Result<String, ValueError> {
        // A number or date is compared with a string as a number or date, of which many strings are one.
        if self.use_ == ValueUse::Search {
            return Err(self.refused(given));
        }
        Ok(match given {
            Given::Integer(number) => number.to_string(),
            Given::Double(number) if self.settings.mariadb => double::print(number + 0.0),
            Given::Double(number) => double::print(*number),
            Given::Decimal(text) => numeric::canonicalize(text, None)?,
            // MySQL forgets the fraction of the one, and prints some digits of the other's.
            Given::Datetime(Moment { clock, .. }) | Given::Time(clock)
                if digits(*clock) > 0 && !self.settings.mariadb =>
            {
                return Err(self.refused(given));
            }
            Given::Date(moment) => moment::date_text(moment.day),
            Given::Datetime(Moment { day, clock }) => {
                format!("{} {}", moment::date_text(*day), moment::clock_text(clock.micros, digits(*clock)))
            }
            Given::Time(clock) => moment::clock_text(clock.micros, digits(*clock)),
            Given::String(_) => return Err(self.refused(given)),
        })
    }

    /// An integer, or a boolean, which is one that is 0 or 1.
    fn integral(self, given: &Given<'_>) -> Result<String, ValueError> {
        match given {
            Given::Integer(number) => self.whole(&number.to_string()),
            Given::Decimal(text) => self.whole(text),
            Given::Double(number) => {
                let whole = number.round_ties_even();
                if self.use_ == ValueUse::Search && whole != *number {
                    return Err(ValueError::NeverStored);
                }
                // Several integers are this double.
                if self.use_ == ValueUse::Search && whole.abs() >= FIRST_INEXACT {
                    return Err(self.refused(given));
                }
                self.whole(&format!("{whole:.0}"))
            }
            _ => Err(self.refused(given)),
        }
    }

    /// A number in decimal digits, rounded to an integer with halves away from zero.
    fn whole(self, text: &str) -> Result<String, ValueError> {
        let (whole, exact) = numeric::integral(text)?;
        if self.use_ == ValueUse::Search && !exact {
            return Err(ValueError::NeverStored);
        }
        match self.kind {
            Kind::Bool => match whole.as_str() {
                "0" => Ok("f".to_owned()),
                "1" => Ok("t".to_owned()),
                _ => Err(ValueError::OutOfRange("BOOLEAN, which is 0 or 1")),
            },
            Kind::Integer(width) => integer::canonicalize(&whole, width),
            _ => integer::canonicalize(&whole, Width::Eight),
        }
    }

    fn float(self, given: &Given<'_>) -> Result<String, ValueError> {
        match given {
            Given::Integer(number) => Ok(number.to_string()),
            Given::Double(number) => Ok(self.double(*number)),
            Given::Decimal(text) => Ok(self.double(finite(text)?)),
            _ => Err(self.refused(given)),
        }
    }

    /// MariaDB stores no negative zero.
    fn double(self, number: f64) -> String {
        float::print(if self.settings.mariadb { number + 0.0 } else { number })
    }

    fn decimal(self, given: &Given<'_>, modifier: Option<numeric::Modifier>) -> Result<String, ValueError> {
        match given {
            Given::Integer(number) => Ok(number.to_string()),
            Given::Decimal(text) => numeric::canonicalize(text, None),
            // Several decimals of more digits are the same double, as which they are compared.
            Given::Double(_)
                if self.use_ == ValueUse::Search
                    && modifier.is_none_or(|modifier| modifier.precision() > DOUBLE_DIGITS) =>
            {
                Err(self.refused(given))
            }
            Given::Double(number) => Ok(double::print(*number)),
            _ => Err(self.refused(given)),
        }
    }

    fn date_or_moment(self, given: &Given<'_>) -> Result<String, ValueError> {
        match given {
            Given::Date(moment) | Given::Datetime(moment) => self.moment(*moment),
            // Other numbers are of two-digit years.
            Given::Integer(number @ (10_000_101..=99_991_231 | 10_000_101_000_000..=99_991_231_235_959)) => {
                self.moment(Moment::parse(&number.to_string())?)
            }
            _ => Err(self.refused(given)),
        }
    }

    fn moment(self, moment: Moment) -> Result<String, ValueError> {
        let Self { kind, use_, settings } = self;
        match kind {
            Kind::Timestamp(p) => Ok(moment.fit(precision(p), use_, settings)?.text()),
            _ if use_ == ValueUse::Search && moment.clock != Clock::MIDNIGHT => Err(ValueError::NeverStored),
            // The time of day goes; MySQL rounds its fraction before.
            _ if settings.mariadb => Ok(moment::date_text(moment.day)),
            _ => Ok(moment::date_text(moment.fit(0, use_, settings)?.day)),
        }
    }

    fn time(self, given: &Given<'_>) -> Result<String, ValueError> {
        let Kind::Time(precision) = self.kind else { return Err(self.refused(given)) };
        match given {
            Given::Time(clock) => self.clock(*clock, precision),
            Given::Datetime(moment) if self.use_ == ValueUse::Store => self.clock(moment.clock, precision),
            _ => Err(self.refused(given)),
        }
    }

    fn clock(self, clock: Clock, p: Option<u32>) -> Result<String, ValueError> {
        let micros = clock.fit(precision(p), self.use_, self.settings)?;
        Ok(crate::types::clock::print(micros))
    }
}

/// Digits behind the point that the server prints of a given time: all or none.
fn digits(clock: Clock) -> u32 {
    if clock.micros % crate::types::clock::MICROS_PER_SECOND == 0 { 0 } else { 6 }
}

/// A number that a `DOUBLE` holds.
fn finite(text: &str) -> Result<f64, ValueError> {
    let value = float::parse(text)?;
    if value.is_finite() { Ok(value) } else { Err(ValueError::Invalid("DOUBLE")) }
}
