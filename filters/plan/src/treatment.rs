//! What a principal gets on read, and the budget of what is revealed.

use serde::Deserialize;

use crate::PlanError;
use crate::error::{check_range, wrong};

/// Rows of a budget.
const MAX_BUDGET_ROWS: u32 = 1_000_000_000;
/// Seconds of a budget: a day.
const MAX_BUDGET_SECONDS: u32 = 86_400;

/// What a principal gets on read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Treatment {
    /// The value; with a budget of so many rows only.
    Reveal {
        /// None for any number of rows.
        budget: Option<Budget>,
    },
    /// The value under a mask.
    Mask {
        /// The mask's name.
        format: String,
    },
    /// What is stored.
    Conceal,
    /// NULL.
    Null,
    /// An error.
    Refuse,
}

/// How many rows with a label's values are revealed to one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Rows within any [`Self::per_seconds`] on end.
    pub rows: u32,
    /// The window, in seconds.
    pub per_seconds: u32,
    /// What the rows past it get.
    pub then: Then,
}

/// What rows past a budget get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Then {
    /// The value under a mask.
    Mask {
        /// The mask's name.
        format: String,
    },
    /// NULL.
    Null,
    /// An error.
    Refuse,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Reveal,
    Mask,
    Conceal,
    Null,
    Refuse,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawTreatment {
    treatment: Word,
    format: Option<String>,
    budget: Option<RawBudget>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBudget {
    rows: u32,
    per_seconds: u32,
    then: Box<RawTreatment>,
}

impl RawTreatment {
    /// The treatment that stands at `place`.
    pub(crate) fn check(self, place: &str) -> Result<Treatment, PlanError> {
        let Self { treatment, format, budget } = self;
        match (&treatment, &budget) {
            (Word::Reveal, _) | (_, None) => {}
            _ => return Err(wrong(format!("{place}.budget"), "only reveal has one; leave it out")),
        }
        Ok(match (treatment, format) {
            (Word::Mask, Some(format)) => Treatment::Mask { format },
            (Word::Mask, None) => {
                return Err(wrong(format!("{place}.format"), "mask needs one, such as \"last4\""));
            }
            (_, Some(_)) => return Err(wrong(format!("{place}.format"), "only mask has one; leave it out")),
            (Word::Reveal, None) => {
                let place = format!("{place}.budget");
                Treatment::Reveal { budget: budget.map(|budget| budget.check(&place)).transpose()? }
            }
            (Word::Conceal, None) => Treatment::Conceal,
            (Word::Null, None) => Treatment::Null,
            (Word::Refuse, None) => Treatment::Refuse,
        })
    }
}

impl RawBudget {
    fn check(self, place: &str) -> Result<Budget, PlanError> {
        check_range(&format!("{place}.rows"), self.rows, MAX_BUDGET_ROWS)?;
        check_range(&format!("{place}.per_seconds"), self.per_seconds, MAX_BUDGET_SECONDS)?;
        let then = match self.then.check(&format!("{place}.then"))? {
            Treatment::Mask { format } => Then::Mask { format },
            Treatment::Null => Then::Null,
            Treatment::Refuse => Then::Refuse,
            // What is stored is of another type than what is revealed, in the same result.
            Treatment::Reveal { .. } | Treatment::Conceal => {
                return Err(wrong(format!("{place}.then"), "it is none of mask, null and refuse"));
            }
        };
        Ok(Budget { rows: self.rows, per_seconds: self.per_seconds, then })
    }
}
