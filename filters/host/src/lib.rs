//! The filter's host, which joins the engine to Envoy's callbacks and alone makes Envoy's calls. Of `proxy-wasm` the modules use
//! the macro of the entry point only.
//!
//! Each Envoy worker runs one instance of the module: a root context that holds the worker's shared state and
//! renews it on the tick, and a context for each connection, or for each exchange of HTTP. Nothing here reads protocol bytes;
//! it moves them between Envoy's buffers and the engine. It assumes Envoy's Wasm runtime for network or HTTP filters, one
//! thread, and `failure_policy: FAIL_RELOAD` (or `FAIL_CLOSED`, never `FAIL_OPEN`); for HTTP also `allow_on_headers_stop_iteration`.

mod callouts;
mod calls;
mod claims;
mod exchange;
mod fetches;
mod kept_budgets;
mod log;
mod memory;
mod metrics;
mod ports;
mod root;
mod shared;
mod stream;
mod work;

use proxy_wasm::types::LogLevel;

pub use crate::work::{Work, clock, read_vm_configuration};
pub use fieldveil_shell::random::Generator;

/// Registers the PostgreSQL filter; a module's entry point calls it once.
pub fn start_postgres() {
    proxy_wasm::set_log_level(LogLevel::Info);
    proxy_wasm::set_root_context(root::Root::<root::Postgres>::root);
}

/// Registers the filter of MySQL and MariaDB; a module's entry point calls it once.
pub fn start_mysql() {
    proxy_wasm::set_log_level(LogLevel::Info);
    proxy_wasm::set_root_context(root::Root::<root::MySql>::root);
}

/// Registers the filter of JSON over HTTP; a module's entry point calls it once.
pub fn start_json() {
    proxy_wasm::set_log_level(LogLevel::Info);
    proxy_wasm::set_root_context(root::Root::<root::Json>::root);
}

/// Registers a module that does some work of its own and serves no connection. Not for a filter.
pub fn start_work<W: Work>() {
    proxy_wasm::set_log_level(LogLevel::Info);
    proxy_wasm::set_root_context(work::Worker::<W>::root);
}
