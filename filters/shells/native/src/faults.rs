//! Panics in hooks, each of which ended what the hook was about.

use std::sync::atomic::{AtomicU64, Ordering};

static FAULTS: AtomicU64 = AtomicU64::new(0);

/// There was one more.
pub fn count() {
    FAULTS.fetch_add(1, Ordering::Relaxed);
}

/// How many there were since the last time that this was asked.
pub fn take() -> u64 {
    FAULTS.swap(0, Ordering::Relaxed)
}
