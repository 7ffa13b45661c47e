//! What the contexts of one worker share: the worker, its ports, its statistics and a spare output.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use fieldveil_engine::database::CallbackOutput;
use fieldveil_engine::ports::{Level, Ports};
use fieldveil_engine::worker::Worker;

use crate::fetches::Fetches;
use crate::kept_budgets;
use crate::log::write_log;
use crate::metrics::Metrics;

/// Bytes of memory that stay with a worker between callbacks. Those that take more give it back.
const MAX_SPARE: usize = 256 << 10;

/// What the contexts of one worker share.
#[derive(Clone)]
pub struct Shared {
    /// The engine's state.
    pub worker: Rc<RefCell<Worker>>,
    /// The engine's world.
    pub ports: Rc<RefCell<dyn Ports>>,
    /// The worker's statistics.
    pub metrics: Rc<RefCell<Metrics>>,
    /// The name under which Envoy's `jwt_authn` leaves claims; empty: no claims count.
    pub jwt_payload: Arc<str>,
    /// What connections wait for.
    pub fetches: Rc<RefCell<Fetches>>,
    /// Streams that have had their last word and are to be closed on the next tick.
    pub closing: Rc<RefCell<Vec<u32>>>,
    /// What a connection's callback writes to: empty, but it has memory.
    pub spare: Rc<RefCell<CallbackOutput>>,
}

impl Shared {
    /// Gives the buffer of a callback, whose bytes were sent, to the next callback. It is emptied first.
    pub fn reuse(&self, mut output: CallbackOutput) {
        output.clear();
        if output.memory() <= MAX_SPARE {
            self.spare.replace(output);
        }
    }

    /// Shares what a callback has spent of budgets: before it puts back what they were spent on, so that a trap gives none back.
    pub fn keep_budgets(&self) {
        kept_budgets::keep(&mut self.worker.borrow_mut());
    }

    /// Moves what was counted into Envoy's statistics: on every tick, and when a connection ends. Each counter is a call of the
    /// host, which is too much for every callback.
    pub fn publish(&self) {
        let mut worker = self.worker.borrow_mut();
        let mut metrics = self.metrics.borrow_mut();
        for used in worker.take_key_uses() {
            let counter = metrics.count(used.statistic, used.count);
            let Some((key, counter)) = used.watched.zip(counter) else { continue };
            let line = Metrics::total(counter).and_then(|total| worker.key_reached(&key, total));
            if let Some(line) = line {
                write_log(Level::Warn, &line);
            }
        }
        metrics.add(worker.take_counts());
    }
}
