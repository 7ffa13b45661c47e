//! The randomness of nonces, which the caller provides.

/// A source of unpredictable bytes.
pub trait Random {
    /// Fills `bytes`.
    fn fill(&mut self, bytes: &mut [u8]);
}
