//! The engine's ports over Envoy's host calls.

use std::time::UNIX_EPOCH;

use fieldveil_engine::Random;
use fieldveil_engine::ports::{Level, Ports};
use fieldveil_shell::address::is_local;
use fieldveil_shell::random::Generator;
use proxy_wasm::hostcalls;

/// Time, randomness and log of one worker.
pub struct EnvoyPorts {
    random: Generator,
}

impl EnvoyPorts {
    /// With a generator of its own.
    pub fn new() -> Result<Self, getrandom::Error> {
        Ok(Self { random: Generator::new()? })
    }
}

impl Random for EnvoyPorts {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.random.fill(bytes);
    }
}

impl Ports for EnvoyPorts {
    fn now_ms(&self) -> u64 {
        now_ms()
    }

    fn log(&self, level: Level, line: &str) {
        crate::log::write_log(level, line);
    }

    fn audit(&self, line: &str) {
        crate::log::write_audit(line);
    }

    fn server_is_private(&self) -> bool {
        let property =
            |name| hostcalls::get_property(vec!["upstream", name]).ok().flatten().unwrap_or_default();
        !property("tls_version").is_empty() || is_local(&String::from_utf8_lossy(&property("address")))
    }

    fn memory_in_use(&self) -> usize {
        crate::memory::in_use()
    }
}

/// Milliseconds since the Unix epoch, by Envoy's clock.
pub fn now_ms() -> u64 {
    hostcalls::get_current_time()
        .ok()
        .and_then(|now| now.duration_since(UNIX_EPOCH).ok())
        .and_then(|since| u64::try_from(since.as_millis()).ok())
        .unwrap_or_default()
}
