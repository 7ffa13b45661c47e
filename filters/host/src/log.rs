//! Envoy's log, and the audit in it.

use fieldveil_engine::ports::Level;
use proxy_wasm::hostcalls::log;
use proxy_wasm::types::LogLevel;

/// One log line, by the engine's loudness.
pub fn write_log(level: Level, line: &str) {
    let level = match level {
        Level::Info => LogLevel::Info,
        Level::Warn => LogLevel::Warn,
        Level::Error => LogLevel::Error,
    };
    // A log that is full must not end connections.
    let _ = log(level, &format!("fieldveil: {line}"));
}

/// One line of the audit: `info`, or as loud as it must be so that Envoy writes it whatever its log level, but `off`.
pub fn write_audit(line: &str) {
    let level = match log_level() {
        0..=2 => LogLevel::Info,
        3 => LogLevel::Warn,
        4 => LogLevel::Error,
        _ => LogLevel::Critical,
    };
    let _ = log(level, &format!("fieldveil-audit: {line}"));
}

/// The least level that Envoy writes: 0 is trace, 6 is off. The SDK's own call has no name for 6, and no way to say so.
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
