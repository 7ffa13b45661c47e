//! How long the filter takes to seal and to open one value: what it calls for each value of a protected column, for
//! every protection and key type, natively and in Envoy's WebAssembly runtime. For measuring, never a part of the
//! filter.
//!
//! The same work is a program (`bench-sealing`, its configuration on standard input, a line for each measurement on
//! standard output) and a module that Envoy loads (a line each in its log). It assumes a clock that does not go back
//! and nothing else to do for its thread. Keys are the test keys that the tests of the envelope have.

#![cfg_attr(test, allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used))]
// The macro's entry point has no documentation.
#![allow(missing_docs)]

mod cases;
mod keys;
mod sealing;
mod timing;

pub use sealing::Sealing;

#[cfg(target_os = "wasi")]
proxy_wasm::main! {{
    fieldveil_host::start_work::<Sealing>();
}}
