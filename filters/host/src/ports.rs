//! The engine's ports over Envoy's host calls.

use std::net::SocketAddr;
use std::time::UNIX_EPOCH;

use fieldveil_engine::Random;
use fieldveil_engine::ports::{Level, Ports};
use proxy_wasm::hostcalls;

use crate::random::Generator;

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

/// Whether an address as Envoy writes it is of this machine: loopback, or a Unix socket by its path or its abstract name.
fn is_local(address: &str) -> bool {
    match address.parse::<SocketAddr>() {
        Ok(address) => address.ip().to_canonical().is_loopback(),
        Err(_) => address.starts_with(['/', '@']),
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

#[cfg(test)]
mod tests {
    use super::is_local;

    #[test]
    fn loopback_and_unix_sockets_are_local_and_nothing_else_is() {
        for address in
            ["127.0.0.1:3306", "[::1]:3306", "[::ffff:127.0.0.1]:3306", "/run/mysqld.sock", "@mysqld"]
        {
            assert!(is_local(address), "{address}");
        }
        for address in ["", "10.0.0.7:3306", "[2001:db8::1]:3306", "envoy://internal/1", "localhost:3306"] {
            assert!(!is_local(address), "{address}");
        }
    }
}
