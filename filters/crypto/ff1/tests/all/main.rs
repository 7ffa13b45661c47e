//! Format-preserving encryption, against the vectors of others and by its properties.
//!
//! One program for all files: each would link the whole crate again.

mod known_answers;
mod properties;
