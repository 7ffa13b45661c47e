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
    #[error("the plan has {0} bytes, more than {max}; name fewer fields", max = crate::MAX_PLAN_BYTES)]
    TooLong(usize),
    /// More than [`crate::MAX_FIELDS`].
    #[error("the plan has {0} fields, more than {max}; name fewer fields", max = crate::MAX_FIELDS)]
    TooManyFields(usize),
    /// More than [`crate::MAX_ROUTES`].
    #[error("the plan has {0} routes, more than {max}; name fewer routes", max = crate::MAX_ROUTES)]
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
