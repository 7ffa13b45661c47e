//! Measures what the filter takes to seal and to open one value, and for a whole transaction of a session. It is never a part
//! of the filter.
//!
//! | work | what is called |
//! | --- | --- |
//! | [`Sealing`] | what the filter calls for each value of a protected column, for every protection and key type |
//! | [`Sessions`] | what Envoy's callbacks call, for a transaction's bytes of both sides |
//! | [`counted`] | the same, the same way each time: a program of its own, whose instructions Valgrind counts |
//!
//! The same work is a program (`bench-sealing`, its configuration on standard input, a line for each measurement on
//! standard output) and a module that Envoy loads (a line each in its log). It assumes a clock that does not go back
//! and nothing else to do for its thread. Keys are the test keys that the tests of the envelope have.

#![cfg_attr(
    test,
    allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)
)]
// The macro's entry point has no documentation.
#![allow(missing_docs)]

mod cases;
pub mod counted;
mod keys;
mod measurement;
mod sealing;
pub mod sessions;
mod timing;

pub use measurement::Measurement;
pub use sealing::Sealing;
pub use sessions::Sessions;

#[cfg(target_os = "wasi")]
proxy_wasm::main! {{
    fieldveil_host::start_work::<Measurement>();
}}
