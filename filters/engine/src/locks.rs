//! Locks of what the threads of one process share.
//!
//! A thread that panicked with a lock leaves it poisoned. The others continue with what it guards: a worker that stops for
//! that would end the connections of all.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Locks what threads share, and waits for the thread that has it.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks a cache, unless another thread has it. The caller then does without the cache, and waits for nobody.
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
