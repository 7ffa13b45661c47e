//! Reading and rewriting JSON, piece by piece.
//!
//! One program for all files: each would link the whole crate again.

mod common;
mod framings;
mod matcher;
mod path;
mod properties;
mod rewriter;
mod string;
mod suite;
