//! The engine's ports over Envoy's host calls.

use std::time::UNIX_EPOCH;

use fieldveil_engine::Random;
use fieldveil_engine::ports::{Level, Ports};
use proxy_wasm::hostcalls;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Time, randomness and log of one worker.
pub struct EnvoyPorts {
    random: ChaCha20Rng,
}

impl EnvoyPorts {
    /// Seeds the generator from the host: a host call for each IV would cost more than the sealing.
    pub fn new() -> Result<Self, getrandom::Error> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)?;
        Ok(Self { random: ChaCha20Rng::from_seed(seed) })
    }
}

impl Random for EnvoyPorts {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.random.fill_bytes(bytes);
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
}

/// Milliseconds since the Unix epoch, by Envoy's clock.
pub fn now_ms() -> u64 {
    hostcalls::get_current_time()
        .ok()
        .and_then(|now| now.duration_since(UNIX_EPOCH).ok())
        .and_then(|since| u64::try_from(since.as_millis()).ok())
        .unwrap_or_default()
}
