//! What the connections of one worker's thread share.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use fieldveil_engine::Random;
use fieldveil_engine::database::CallbackOutput;
use fieldveil_engine::ports::{Level, Ports};
use fieldveil_engine::worker::Worker;
use fieldveil_shell::address::is_local;
use fieldveil_shell::random::Generator;

use crate::envoy::Server;
use crate::log::{write_audit, write_log};
use crate::memory;
use crate::sidecar::Sidecar;
use crate::waiter::Waiter;

/// Bytes of memory that stay with a worker between callbacks. Those that take more give it back.
const MAX_SPARE: usize = 256 << 10;
/// How long what exchanges of HTTP count may wait to be published.
const PUBLISH_MS: u64 = 1000;

/// What the connections of one thread share, for one configuration.
pub struct ThreadWorker {
    /// What all threads share.
    pub sidecar: Arc<Sidecar>,
    /// The engine's state.
    pub worker: Rc<RefCell<Worker>>,
    random: Rc<RefCell<Generator>>,
    /// What a connection's callback writes to: empty, but it has memory.
    spare: RefCell<CallbackOutput>,
    /// The connections of this thread.
    connections: RefCell<Vec<Arc<Waiter>>>,
    exchange_ports: OnceCell<Rc<RefCell<dyn Ports>>>,
    /// When this thread's counts were last published.
    published_ms: Cell<u64>,
}

thread_local! {
    static WORKERS: RefCell<Vec<Rc<ThreadWorker>>> = const { RefCell::new(Vec::new()) };
}

impl ThreadWorker {
    /// The one of this thread for a configuration. The error says why there can be none.
    pub fn of(sidecar: &Arc<Sidecar>) -> Result<Rc<Self>, String> {
        WORKERS.with_borrow_mut(|workers| {
            // Of a configuration that is no longer in use, this thread alone knows.
            workers.retain(|worker| Rc::strong_count(worker) > 1 || Arc::strong_count(&worker.sidecar) > 1);
            if let Some(known) = workers.iter().find(|worker| Arc::ptr_eq(&worker.sidecar, sidecar)) {
                return Ok(Rc::clone(known));
            }
            let random =
                Generator::new().map_err(|error| format!("the system gives no randomness: {error}"))?;
            let worker = Rc::new(Self {
                sidecar: Arc::clone(sidecar),
                worker: Rc::new(RefCell::new(Worker::sharing(Arc::clone(&sidecar.state)))),
                random: Rc::new(RefCell::new(random)),
                spare: RefCell::default(),
                connections: RefCell::default(),
                exchange_ports: OnceCell::new(),
                published_ms: Cell::new(0),
            });
            workers.push(Rc::clone(&worker));
            Ok(worker)
        })
    }

    /// The engine's world, for the connection to this server.
    pub fn ports(&self, server: Box<dyn Fn() -> Server>) -> Rc<RefCell<dyn Ports>> {
        Rc::new(RefCell::new(ConnectionPorts { random: Rc::clone(&self.random), server }))
    }

    /// A connection has begun.
    pub fn begin(&self, waiter: &Arc<Waiter>) {
        let mut connections = self.connections.borrow_mut();
        connections.push(Arc::clone(waiter));
        if connections.len() == 1 {
            self.sidecar.carry(Some(Arc::clone(waiter)));
        }
    }

    /// A connection has ended.
    pub fn end(&self, waiter: &Arc<Waiter>) {
        let mut connections = self.connections.borrow_mut();
        connections.retain(|known| !Arc::ptr_eq(known, waiter));
        self.sidecar.carry(connections.first().cloned());
        drop(connections);
        self.publish();
    }

    /// The engine's world, for exchanges of HTTP.
    pub fn exchange_ports(&self) -> Rc<RefCell<dyn Ports>> {
        Rc::clone(self.exchange_ports.get_or_init(|| self.ports(Box::new(Server::default))))
    }

    /// Whether clients have tokens that Envoy verifies.
    pub fn has_claims(&self) -> bool {
        let http = self.sidecar.state.config.http.as_ref();
        http.is_some_and(|http| !http.identity.jwt_payload.is_empty())
    }

    /// Counts for the process what this worker has counted, unless that was done within this second: in an exchange of HTTP, which has
    /// no tick and may stay for long.
    pub fn publish_when_due(&self) {
        let now_ms = now_ms();
        if now_ms.saturating_sub(self.published_ms.get()) >= PUBLISH_MS {
            self.published_ms.set(now_ms);
            self.publish();
        }
    }

    /// A second has passed.
    pub fn tick(&self) {
        for line in self.worker.borrow_mut().audits.lines(now_ms()) {
            write_audit(&line);
        }
        self.publish();
        let now_ms = now_ms();
        self.connections.borrow().iter().for_each(|connection| connection.wake_if_due(now_ms));
    }

    /// Counts for the process what this worker has counted.
    pub fn publish(&self) {
        let mut worker = self.worker.borrow_mut();
        let state = &self.sidecar.state;
        let limit = state.config.limits.key_uses;
        for used in worker.take_key_uses() {
            if let Some(key) = used.watched {
                let (before, now) = self.sidecar.count_key(used.statistic.clone(), used.count);
                // Of all threads the one that passes the limit says so.
                let line = if before < limit { worker.key_reached(&key, now) } else { None };
                if let Some(line) = line {
                    write_log(Level::Warn, &line);
                }
            }
            state.count(&used.statistic, used.count);
        }
        for (name, by) in worker.take_own_counts() {
            state.count(&name, by);
        }
    }

    /// Begins a callback: its buffer, empty.
    pub fn output(&self) -> CallbackOutput {
        memory::look();
        self.spare.take()
    }

    /// Gives the buffer of a callback, whose bytes were sent, to the next callback. It is emptied first.
    pub fn reuse(&self, mut output: CallbackOutput) {
        output.clear();
        if output.memory() <= MAX_SPARE {
            self.spare.replace(output);
        }
    }
}

/// Milliseconds since the Unix epoch.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or_default()
}

/// Time, randomness and log of one connection.
struct ConnectionPorts {
    random: Rc<RefCell<Generator>>,
    server: Box<dyn Fn() -> Server>,
}

impl Random for ConnectionPorts {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.random.borrow_mut().fill(bytes);
    }
}

impl Ports for ConnectionPorts {
    fn now_ms(&self) -> u64 {
        now_ms()
    }

    fn log(&self, level: Level, line: &str) {
        write_log(level, line);
    }

    fn audit(&self, line: &str) {
        write_audit(line);
    }

    fn server_is_private(&self) -> bool {
        let server = (self.server)();
        !server.tls_version.is_empty() || is_local(&server.address)
    }

    fn memory_in_use(&self) -> usize {
        memory::in_use()
    }
}
