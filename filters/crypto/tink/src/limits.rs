//! The largest keyset that is read.

/// Keys a keyset may hold: rotation leaves a few, and each costs memory in every worker.
pub(crate) const MAX_KEYS: usize = 256;
