//! The filter's randomness.

use fieldveil_engine::Random;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A generator that is seeded once from the system: a host call for each IV would cost more than the sealing.
pub struct Generator(ChaCha20Rng);

impl Generator {
    /// Seeded by the host; outside Envoy, by the operating system.
    pub fn new() -> Result<Self, getrandom::Error> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)?;
        Ok(Self(ChaCha20Rng::from_seed(seed)))
    }
}

impl Random for Generator {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }
}
