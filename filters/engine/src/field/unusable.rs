//! Why a plan cannot be made ready for use.

use fieldveil_plan::PlanField;

use super::CompiledField;

/// A plan that cannot be used, with the place in it and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct UnusablePlan {
    place: String,
    reason: String,
}

impl UnusablePlan {
    pub(crate) fn new(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { place: place.into(), reason: reason.into() }
    }

    /// Makes a field ready that stands at `place` of the plan.
    pub(crate) fn field(place: &str, spec: PlanField) -> Result<CompiledField, Self> {
        let label = spec.label.clone();
        CompiledField::new(spec).map_err(|reason| Self::new(format!("{place} (label {label})"), reason))
    }
}
