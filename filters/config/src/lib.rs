//! The filter's configuration, as Envoy hands it over: one JSON document, unknown names refused.
//!
//! It is read once in each start of a worker, so this crate is built for size. It reads no environment itself: what a
//! document says is there, it asks its caller for. It assumes nothing of the document but its length, which Envoy holds.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod config;
mod http;
mod range;
mod workload;

pub use self::config::{AuditConfig, Config, ConfigError, KeySource, Limits, PolicySource, Protocol};
pub use self::http::{HttpConfig, HttpLimits, Identity};
pub use self::workload::Environment;
