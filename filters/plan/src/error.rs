//! Why a policy's answer cannot be a plan.

/// A policy's answer that cannot be used; each names the place in it and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// OPA answered, but the decision is undefined for this input.
    #[error(
        "the policy is undefined: OPA answered without a result; check the decision's path and `data.fieldveil.problems.found`"
    )]
    Undefined,
    /// Longer than [`crate::MAX_PLAN_BYTES`].
    #[error("the plan has {0} bytes, more than {max}; name fewer fields", max = crate::limits::MAX_PLAN_BYTES)]
    TooLong(usize),
    /// More than [`crate::MAX_FIELDS`].
    #[error("the plan has {0} fields, more than {max}; name fewer fields", max = crate::limits::MAX_FIELDS)]
    TooManyFields(usize),
    /// More than [`crate::MAX_ROUTES`].
    #[error("the plan has {0} routes, more than {max}; name fewer routes", max = crate::limits::MAX_ROUTES)]
    TooManyRoutes(usize),
    /// Not JSON of the plan's shape.
    #[error("the plan is not of its schema: {0}")]
    Shape(String),
    /// A value at a place that cannot be.
    #[error("{place}: {reason}")]
    Value {
        /// Path in the answer, such as `fields[3].relation`.
        place: String,
        /// What is wrong there and what to write instead.
        reason: String,
    },
}

/// The error for a value at a place.
pub(crate) fn wrong(place: impl Into<String>, reason: impl Into<String>) -> PlanError {
    PlanError::Value { place: place.into(), reason: reason.into() }
}

/// Checks that a number is at least 1 and at most `limit`.
pub(crate) fn check_range(place: &str, value: u32, limit: u32) -> Result<(), PlanError> {
    match value {
        1.. if value <= limit => Ok(()),
        _ => Err(wrong(place, format!("{value} is not between 1 and {limit}"))),
    }
}
