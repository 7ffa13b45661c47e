//! A connection, as other threads know it: what it is told lies here until its own thread takes it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fieldveil_engine::fetch::Fetch;
use fieldveil_engine::locks::lock;

use crate::envoy::Wake;

/// What came of a fetch: the state has taken the answer, or the error says why not.
pub type Fetched = (Fetch, Result<(), String>);

/// One connection, for other threads.
pub struct Waiter {
    waker: Box<dyn Wake>,
    fetched: Mutex<Vec<Fetched>>,
    ticks: AtomicBool,
    /// When it wants to be woken, milliseconds since the Unix epoch; 0 for not at all.
    deadline_ms: AtomicU64,
}

impl Waiter {
    /// Of the connection that this wakes.
    pub fn new(waker: Box<dyn Wake>) -> Self {
        Self {
            waker,
            fetched: Mutex::default(),
            ticks: AtomicBool::new(false),
            deadline_ms: AtomicU64::new(0),
        }
    }

    /// Has its own thread call it.
    pub fn wake(&self) {
        self.waker.wake();
    }

    /// It wants to be woken within a second after this time, or not at all.
    pub fn set_deadline(&self, deadline_ms: Option<u64>) {
        self.deadline_ms.store(deadline_ms.unwrap_or_default(), Ordering::Relaxed);
    }

    /// Wakes it if the time is past that it named.
    pub fn wake_if_due(&self, now_ms: u64) {
        let deadline_ms = self.deadline_ms.load(Ordering::Relaxed);
        if deadline_ms != 0 && now_ms >= deadline_ms {
            self.wake();
        }
    }

    /// Tells it what came of a fetch.
    pub fn give(&self, fetched: Fetched) {
        lock(&self.fetched).push(fetched);
        self.wake();
    }

    /// Tells its worker that a second has passed.
    pub fn tick(&self) {
        self.ticks.store(true, Ordering::Relaxed);
        self.wake();
    }

    /// Whether a second has passed; asked on its own thread.
    pub fn take_tick(&self) -> bool {
        self.ticks.swap(false, Ordering::Relaxed)
    }

    /// What came of fetches; asked on its own thread.
    pub fn take_fetched(&self) -> Vec<Fetched> {
        std::mem::take(&mut *lock(&self.fetched))
    }
}
