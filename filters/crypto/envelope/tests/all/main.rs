//! Envelopes: frozen vectors of each version, and their properties.
//!
//! One program for all files: each would link the whole crate again.

mod properties;
mod vectors;
