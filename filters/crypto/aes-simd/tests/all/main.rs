//! AES in vectors, against the vectors of others and the plain implementation.
//!
//! One program for all files: each would link the whole crate again.

mod batches;
mod differential;
mod known_answers;
mod wycheproof;
