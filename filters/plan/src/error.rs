//! Why an answer is no plan.

use thiserror::Error;

use crate::plan::{MAX_FIELDS, MAX_PLAN_BYTES};

/// Why an answer is no plan. All of them are the policy's fault, and each says what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The answer is longer than [`MAX_PLAN_BYTES`].
    #[error("the plan has {len} bytes, above the limit of {MAX_PLAN_BYTES}: split the catalog by database")]
    TooLarge {
        /// Its length in bytes.
        len: usize,
    },
    /// The answer is no JSON.
    #[error(
        "the plan is not JSON (line {line}, column {column}): check that the policy's URL is OPA's data API"
    )]
    NotJson {
        /// Line of the first fault, from 1.
        line: usize,
        /// Column of the first fault, from 1.
        column: usize,
    },
    /// OPA answered without a result: nothing defines the decision for this input.
    #[error(
        "policy undefined: OPA has no result for this principal; check that the policy is loaded, that its path is \
         the configured one, and that the catalog speaks of this database"
    )]
    Undefined,
    /// More than [`MAX_FIELDS`] fields.
    #[error("fields: {count} fields, above the limit of {MAX_FIELDS}; split the catalog by database")]
    TooManyFields {
        /// How many there are.
        count: usize,
    },
    /// A part of the plan is missing or not one of the things it can be.
    #[error("{path}: {reason}; {remedy}")]
    Invalid {
        /// Where, such as `fields[3].read.treatment`.
        path: String,
        /// What is wrong.
        reason: String,
        /// What to do.
        remedy: String,
    },
    /// Two fields speak of one column.
    #[error("{path}: the column is in {first} already; say each column once")]
    DuplicateColumn {
        /// The later field, such as `fields[3]`.
        path: String,
        /// The earlier one.
        first: String,
    },
    /// Fields of one label are stored in different ways, so that their values could not be compared or copied.
    #[error(
        "{path}: label {label:?} has another {what} than in {first}; give the fields one {what}, or two labels"
    )]
    LabelConflict {
        /// The later field, such as `fields[3]`.
        path: String,
        /// The earlier one.
        first: String,
        /// The label they share.
        label: String,
        /// What differs: `protection`, `keyset`, `type` or `tenant`.
        what: &'static str,
    },
}
