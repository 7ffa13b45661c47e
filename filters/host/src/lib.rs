//! The filter's host: the one crate that names `proxy-wasm`, joining the engine to Envoy's callbacks.
//!
//! Each Envoy worker runs one instance of the module: a root context that holds the worker's shared state and
//! renews it on the tick, and a stream context for each connection. Nothing here reads protocol bytes; it
//! moves them between Envoy's buffers and the engine. It assumes Envoy's Wasm runtime for network filters,
//! one thread, and `failure_policy: FAIL_CLOSED`.

mod callouts;
mod log;
mod metrics;
mod ports;
mod random;
mod root;
mod stream;
mod work;

use proxy_wasm::traits::RootContext;
use proxy_wasm::types::LogLevel;

pub use crate::random::Generator;
pub use crate::work::Work;

/// Registers the PostgreSQL filter; a module's entry point calls it once.
pub fn start_postgres() {
    proxy_wasm::set_log_level(LogLevel::Info);
    proxy_wasm::set_root_context(|_| -> Box<dyn RootContext> { Box::new(root::Root::default()) });
}

/// Registers a module that does some work of its own and serves no connection. Not for a filter.
pub fn start_work<W: Work>() {
    proxy_wasm::set_log_level(LogLevel::Info);
    proxy_wasm::set_root_context(work::Worker::<W>::root);
}
