//! Envoy's log, and the audit in it.

use std::sync::OnceLock;

use fieldveil_engine::ports::Level;
use fieldveil_shell::log::{audit_line, audit_number, line, number};

/// Where lines go.
#[derive(Clone, Copy)]
pub struct Log {
    /// Writes a line of this level.
    pub write: fn(u32, &str),
    /// The least level that is written.
    pub least: fn() -> u32,
}

static LOG: OnceLock<Log> = OnceLock::new();

/// Says where lines go; the first call counts.
pub fn set_log(log: Log) {
    let _ = LOG.set(log);
}

/// One log line, by the engine's loudness.
pub fn write_log(level: Level, text: &str) {
    if let Some(log) = LOG.get() {
        (log.write)(number(level), &line(text));
    }
}

/// One line of the audit, which Envoy writes whatever its log level, but `off`.
pub fn write_audit(text: &str) {
    if let Some(log) = LOG.get() {
        (log.write)(audit_number((log.least)()), &audit_line(text));
    }
}
