//! Walks comparisons: what a protected column may be compared with.

pub(super) mod multi_key;
pub(crate) mod operand;
pub(crate) mod predicate;
