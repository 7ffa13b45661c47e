//! What connections wait for. However many wait for the same, it is asked for once: by the root context, which outlives them, and
//! gives each of them the answer.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Weak;

use fieldveil_engine::fetch::Fetch;
use proxy_wasm::hostcalls::{dequeue_shared_queue, enqueue_shared_queue, register_shared_queue};
use proxy_wasm::types::Status;

/// A connection that waits for an answer.
pub trait Awaiting {
    /// The answer has come and the worker has taken it, or the error says why not. The connection goes on.
    fn take_answer(&self, fetch: &Fetch, result: &Result<(), String>);
}

/// What is waited for, and by whom.
pub struct Fetches {
    /// Envoy calls the root context when something was put here.
    queue: u32,
    /// What the root context has not asked for yet.
    wanted: Vec<Fetch>,
    awaiting: HashMap<Fetch, Vec<Weak<dyn Awaiting>>>,
}

impl Fetches {
    /// Of the worker with this number, which tells its queue from those of others.
    pub fn of_worker(number: u64) -> Result<Self, Status> {
        let queue = register_shared_queue(&format!("fieldveil.fetches.{number:016x}"))?;
        Ok(Self { queue, wanted: Vec::new(), awaiting: HashMap::new() })
    }

    /// This connection waits for the answer to `fetch`, which is asked for unless it is already.
    pub fn wait(&mut self, fetch: Fetch, who: Weak<dyn Awaiting>) -> Result<(), (Fetch, String)> {
        let entry = match self.awaiting.entry(fetch) {
            Entry::Occupied(mut entry) => {
                entry.get_mut().push(who);
                return Ok(());
            }
            Entry::Vacant(entry) => entry,
        };
        if self.wanted.is_empty()
            && let Err(status) = enqueue_shared_queue(self.queue, Some(b"."))
        {
            return Err((
                entry.into_key(),
                format!("Envoy did not take a call of the root context ({status:?})"),
            ));
        }
        self.wanted.push(entry.key().clone());
        entry.insert(vec![who]);
        Ok(())
    }

    /// What is to be asked for now.
    pub fn take_wanted(&mut self) -> Vec<Fetch> {
        while let Ok(Some(_)) = dequeue_shared_queue(self.queue) {}
        std::mem::take(&mut self.wanted)
    }

    /// Who waits for the answer to `fetch`; from now on nobody does.
    pub fn take_awaiting(&mut self, fetch: &Fetch) -> Vec<Weak<dyn Awaiting>> {
        self.awaiting.remove(fetch).unwrap_or_default()
    }
}
