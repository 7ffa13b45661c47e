//! What a principal gets of a field, with masks parsed and budgets ready.

use std::sync::Arc;

use fieldveil_plan::{PlanField, Then, Treatment};
use fieldveil_values::{DeclaredType, Mask};

use crate::budgets::Allowance;

/// What a principal gets of one field, with the mask parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadTreatment {
    /// The value.
    Reveal,
    /// The value under a mask.
    Mask(Mask),
    /// What is stored.
    Conceal,
    /// NULL.
    Null,
    /// Nothing: the statement is refused.
    Refuse,
}

/// How many rows are revealed, and what becomes of those past it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// The label, whose values all spend the same budget.
    pub label: Arc<str>,
    /// How many rows, in which time.
    pub allowance: Allowance,
    /// What the others get: a mask, NULL, or nothing.
    pub then: ReadTreatment,
}

impl ReadTreatment {
    /// Its name in statistics and the audit line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Reveal => "revealed",
            Self::Mask(_) => "masked",
            Self::Conceal => "concealed",
            Self::Null => "nulled",
            Self::Refuse => "refused",
        }
    }

    /// Its name in policies.
    pub fn policy_name(&self) -> &'static str {
        match self {
            Self::Reveal => "reveal",
            Self::Mask(_) => "mask",
            Self::Conceal => "conceal",
            Self::Null => "null",
            Self::Refuse => "refuse",
        }
    }

    /// Whether it may yield this canonical text, or NULL, in place of a value.
    pub(super) fn shows_instead(&self, declared: &DeclaredType, canonical: Option<&str>) -> bool {
        match (self, canonical) {
            (Self::Null, None) => true,
            (Self::Mask(mask), Some(text)) => mask.may_show(declared, text),
            _ => false,
        }
    }

    /// Whether values may be looked for: who may test guesses may learn values, so only who sees at least a part of
    /// them.
    pub fn searchable(&self) -> bool {
        matches!(self, Self::Reveal | Self::Mask(_))
    }

    /// As the policy said it, with the budget of what is revealed.
    pub(super) fn of(spec: &PlanField, declared: &DeclaredType) -> Result<(Self, Option<Budget>), String> {
        let read = match &spec.read {
            Treatment::Reveal { budget: None } => Self::Reveal,
            Treatment::Reveal { budget: Some(budget) } => {
                let then = match &budget.then {
                    Then::Mask { format } => Self::masked("read.budget.then.format", format, declared)?,
                    Then::Null => Self::Null,
                    Then::Refuse => Self::Refuse,
                };
                let allowance = Allowance { rows: budget.rows, per_seconds: budget.per_seconds };
                let label = Arc::from(spec.label.as_str());
                return Ok((Self::Reveal, Some(Budget { label, allowance, then })));
            }
            Treatment::Conceal => Self::Conceal,
            Treatment::Null => Self::Null,
            Treatment::Refuse => Self::Refuse,
            Treatment::Mask { format } => Self::masked("read.format", format, declared)?,
        };
        Ok((read, None))
    }

    fn masked(place: &str, format: &str, declared: &DeclaredType) -> Result<Self, String> {
        let mask: Mask = format.parse().map_err(|e| format!("{place} {format:?}: {e}"))?;
        if !mask.applies_to(declared) {
            return Err(format!("{place} {format:?} does not apply to type {}", declared.name()));
        }
        Ok(Self::Mask(mask))
    }
}
