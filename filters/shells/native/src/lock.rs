//! Locks that a panic does not close.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The lock of something that every panic leaves whole.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
