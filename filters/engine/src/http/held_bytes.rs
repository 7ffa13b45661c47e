//! What the worker is told of the bytes that an exchange holds.

use super::problem::Problem;
use super::surroundings::Surroundings;
use crate::memory::MAX_WORKER;

/// The bytes of one exchange that the worker knows to be held. They are given back when this is dropped.
pub(super) struct HeldBytes {
    surroundings: Surroundings,
    reported: usize,
}

impl HeldBytes {
    /// Of an exchange that holds nothing yet.
    pub(super) fn new(surroundings: Surroundings) -> Self {
        Self { surroundings, reported: 0 }
    }

    /// Tells the worker how much is held now. The error says that it is more than is left for all exchanges.
    pub(super) fn report(&mut self, now: usize) -> Result<(), Problem> {
        let before = std::mem::replace(&mut self.reported, now);
        let is_within = self.surroundings.worker.borrow_mut().holds(before, now);
        if now <= before {
            return Ok(());
        }
        if is_within { self.surroundings.check_memory(MAX_WORKER) } else { Err(Problem::no_memory()) }
    }

    /// Tells the worker that nothing is held any more.
    pub(super) fn give_back(&mut self) {
        let before = std::mem::take(&mut self.reported);
        self.surroundings.worker.borrow_mut().holds(before, 0);
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.give_back();
    }
}
