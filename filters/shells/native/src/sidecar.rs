//! What all workers of the process share for one configuration of the filter.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, Weak};
use std::thread::ThreadId;

use fieldveil_engine::config::{Config, Protocol};
use fieldveil_engine::fetch::Fetch;
use fieldveil_engine::locks::lock;
use fieldveil_engine::sidecar_state::SidecarState;

use crate::log::write_audit;
use crate::main_waker;
use crate::waiter::{Fetched, Waiter};

/// One configuration of the filter, for the listeners that have it.
pub struct Sidecar {
    /// The protocol.
    pub protocol: Protocol,
    /// The engine's state.
    pub state: Arc<SidecarState>,
    /// The configuration's text, which tells it from others.
    text: Vec<u8>,
    fetches: Mutex<Fetches>,
    /// A connection of each worker that has any, to be told of each second.
    carriers: Mutex<HashMap<ThreadId, Arc<Waiter>>>,
    /// How often each key has sealed.
    key_uses: Mutex<HashMap<String, u64>>,
}

/// What is fetched: each thing once, however many wait for it.
#[derive(Default)]
struct Fetches {
    wanted: Vec<Fetch>,
    waiting: HashMap<Fetch, Vec<Weak<Waiter>>>,
}

/// The configurations in use.
static SIDECARS: Mutex<Vec<Weak<Sidecar>>> = Mutex::new(Vec::new());

/// The configurations in use.
pub fn all() -> Vec<Arc<Sidecar>> {
    lock(&SIDECARS).iter().filter_map(Weak::upgrade).collect()
}

impl Sidecar {
    /// The one of this configuration. The error says what is wrong with it.
    pub fn of(protocol: Protocol, text: &[u8]) -> Result<Arc<Self>, String> {
        let mut sidecars = lock(&SIDECARS);
        sidecars.retain(|sidecar| sidecar.strong_count() > 0);
        let mut known = sidecars.iter().filter_map(Weak::upgrade);
        if let Some(known) = known.find(|known| known.protocol == protocol && known.text == text) {
            return Ok(known);
        }
        let config = Config::from_json(text, protocol, &|name| std::env::var(name).ok());
        let config = config.map_err(|error| error.to_string())?;
        let sidecar = Arc::new(Self {
            protocol,
            state: Arc::new(match protocol {
                Protocol::Http => SidecarState::new(config),
                Protocol::Postgres | Protocol::MySql => SidecarState::of_databases(config),
            }),
            text: text.to_vec(),
            fetches: Mutex::default(),
            carriers: Mutex::default(),
            key_uses: Mutex::default(),
        });
        sidecars.push(Arc::downgrade(&sidecar));
        Ok(sidecar)
    }

    /// A connection waits for this, which is asked for unless it is already.
    pub fn wait(&self, fetch: Fetch, waiter: &Arc<Waiter>) {
        let mut fetches = lock(&self.fetches);
        let fetches = &mut *fetches;
        match fetches.waiting.entry(fetch) {
            Entry::Occupied(mut entry) => entry.get_mut().push(Arc::downgrade(waiter)),
            Entry::Vacant(entry) => {
                fetches.wanted.push(entry.key().clone());
                entry.insert(vec![Arc::downgrade(waiter)]);
                main_waker::wake();
            }
        }
    }

    /// What is to be asked for now.
    pub fn take_wanted(&self) -> Vec<Fetch> {
        std::mem::take(&mut lock(&self.fetches).wanted)
    }

    /// Tells those who wait for it what came of a fetch. Gives whether anybody waited.
    pub fn hand_out(&self, fetched: &Fetched) -> bool {
        let Some(waiting) = lock(&self.fetches).waiting.remove(&fetched.0) else { return false };
        waiting.iter().filter_map(Weak::upgrade).for_each(|waiter| waiter.give(fetched.clone()));
        true
    }

    /// Another connection of this thread is told of each second, or none.
    pub fn carry(&self, waiter: Option<Arc<Waiter>>) {
        let thread = std::thread::current().id();
        let mut carriers = lock(&self.carriers);
        match waiter {
            Some(waiter) => drop(carriers.insert(thread, waiter)),
            None => drop(carriers.remove(&thread)),
        }
    }

    /// Tells each worker that a second has passed.
    pub fn tick(&self) {
        lock(&self.carriers).values().for_each(|waiter| waiter.tick());
    }

    /// Takes in how often a worker has used a key. Gives how often all have before, and now.
    pub fn count_key(&self, statistic: String, by: u64) -> (u64, u64) {
        let mut uses = lock(&self.key_uses);
        let before = uses.get(&statistic).copied().unwrap_or_default();
        let now = before.saturating_add(by);
        uses.insert(statistic, now);
        (before, now)
    }
}

impl Drop for Sidecar {
    fn drop(&mut self) {
        // Nobody asks any more.
        self.state.principals.last_lines().iter().for_each(|line| write_audit(line));
    }
}
