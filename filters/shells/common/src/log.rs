//! How lines stand in Envoy's log.

use fieldveil_engine::ports::Level;

/// The levels of Envoy's log by number: 0 is trace, 6 is off.
const INFO: u32 = 2;
const WARN: u32 = 3;
const ERROR: u32 = 4;
const CRITICAL: u32 = 5;

/// Envoy's number for how loud a line is.
pub fn number(level: Level) -> u32 {
    match level {
        Level::Info => INFO,
        Level::Warn => WARN,
        Level::Error => ERROR,
    }
}

/// The text of a log line.
pub fn line(text: &str) -> String {
    format!("fieldveil: {text}")
}

/// The text of a line of the audit.
pub fn audit_line(text: &str) -> String {
    format!("fieldveil-audit: {text}")
}

/// The number for a line of the audit where Envoy writes nothing below `least`: `info`, or as loud as it must be so that Envoy
/// writes it whatever its log level, but `off`.
pub fn audit_number(least: u32) -> u32 {
    least.clamp(INFO, CRITICAL)
}
