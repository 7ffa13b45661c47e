//! Envoy's log, and the audit in it.

use fieldveil_engine::ports::Level;
use fieldveil_shell::log::{audit_line, audit_number, line, number};
use proxy_wasm::hostcalls::log;
use proxy_wasm::types::LogLevel;

/// One log line, by the engine's loudness.
pub fn write_log(level: Level, text: &str) {
    // A log that is full must not end connections.
    let _ = log(named(number(level)), &line(text));
}

/// One line of the audit, which Envoy writes whatever its log level, but `off`.
pub fn write_audit(text: &str) {
    let _ = log(named(audit_number(log_level())), &audit_line(text));
}

/// The SDK's name of a level of Envoy's.
fn named(number: u32) -> LogLevel {
    match number {
        0..=2 => LogLevel::Info,
        3 => LogLevel::Warn,
        4 => LogLevel::Error,
        _ => LogLevel::Critical,
    }
}

/// The least level that Envoy writes. The SDK's own call has no name for `off`, and no way to say so.
#[allow(unsafe_code, reason = "a host call that the SDK makes with a type of fewer values than the host's")]
fn log_level() -> u32 {
    #[link(wasm_import_module = "env")]
    unsafe extern "C" {
        fn proxy_get_log_level(level: *mut u32) -> u32;
    }
    let mut level = 0;
    // SAFETY: the host writes four bytes to `level`, which outlives the call.
    let status = unsafe { proxy_get_log_level(&raw mut level) };
    if status == 0 { level } else { 0 }
}
