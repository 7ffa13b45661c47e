//! How much of a body is taken, and kept.

use fieldveil_config::{Config, HttpConfig};
use fieldveil_json_stream::Limits;

use super::problem::Side;
use super::treat;

/// The configured limits of bodies.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BodyLimits {
    /// Bytes of a body that are held with its head.
    pub(super) held: usize,
    /// Bytes of a body that are kept while plan and keys are awaited.
    pub(super) waiting: usize,
    depth: usize,
    key_bytes: usize,
    value_bytes: usize,
}

impl BodyLimits {
    pub(super) fn of(config: &Config, http: &HttpConfig) -> Self {
        Self {
            held: http.limits.held_body_bytes,
            waiting: http.limits.waiting_body_bytes,
            depth: http.limits.json_depth,
            key_bytes: http.limits.json_key_bytes,
            value_bytes: config.limits.protected_value_bytes,
        }
    }

    /// What a rewriter takes.
    pub(super) fn of_json(self, side: Side) -> Limits {
        let value_bytes = match side {
            Side::Request => self.value_bytes,
            Side::Response => treat::longest_stored(self.value_bytes),
        };
        Limits { depth: self.depth, key_bytes: self.key_bytes, value_bytes }
    }
}
