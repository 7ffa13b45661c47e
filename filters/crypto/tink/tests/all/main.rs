//! Tink keysets: what they seal, open and derive, against the vectors of others and of ours.
//!
//! One program for all files: each would link the whole crate again.

mod batches;
mod buffers;
mod frozen;
mod keysets;
mod known_answers;
mod prf;
