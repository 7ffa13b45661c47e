//! The parts of a connection to a database that do not depend on its protocol: plan, keys, values and audit. The modules
//! `postgres` and `mysql` each own a [`Core`] and add their protocol.
//!
//! | what | file |
//! | --- | --- |
//! | bytes arrive, and responses to what was fetched | `connection.rs` |
//! | the bytes of a message that is not whole are held | `inbox.rs` |
//! | bytes that pass unchanged are counted | `unchanged.rs` |
//! | where the connection comes from | `client.rs` |
//! | the principal, plan and keys | `policy.rs` |
//! | how much memory the connection keeps | `memory_use.rs` |
//! | the server's catalog, and its age | `../server_catalog.rs`, `catalog_state.rs` |
//! | a text is checked against plan and catalog | `check.rs` |
//! | the result of that check | `checked_text.rs` |
//! | values are sealed | `seal.rs` |
//! | rows wait for values that are sealed together | `batched_rows.rs` |
//! | a row is treated | `treat.rs` |
//! | the server says who the session is for | `identity.rs` |
//! | the server gets words in the place of tokens | `../token_words.rs` |
//! | a budget is spent | `budgeted.rs` |
//! | what happens is counted | `audited.rs` |

mod audited;
mod batched_rows;
mod budgeted;
mod catalog_state;
mod check;
mod checked_text;
mod client;
mod connection;
mod identity;
mod inbox;
mod memory_use;
mod policy;
mod seal;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod testing;
mod treat;
mod unchanged;

use std::cell::RefCell;
use std::rc::Rc;

pub(crate) use self::audited::SessionAudit;
pub(crate) use self::batched_rows::BatchedRows;
pub(crate) use self::catalog_state::CatalogState;
pub(crate) use self::checked_text::CheckedText;
pub use self::client::Client;
pub(crate) use self::connection::WireProtocol;
pub use self::connection::{Connection, Duplex};
pub(crate) use self::identity::{Replaced, SessionIdentity};
pub(crate) use self::memory_use::MemoryUse;
pub(crate) use self::policy::{PlanChange, PolicyGate, Renewed, Unready};
pub(crate) use self::seal::{Place, misplaced, value_use};
pub(crate) use self::treat::{ClientForm, Costs, RowError, RowTreatment, Tally, Treated};
use crate::audit::Ended;
use crate::client_error::ClientError;
use crate::fetch::Fetch;
use crate::output_limit::{OutputLimit, OutputTooLong};
use crate::ports::{Level, Ports};
use crate::value_buffers::Buffers;
use crate::worker::Worker;

/// A message of at most so many bytes is held until it can be read whole. A longer one passes if nothing in it is protected,
/// and is refused if something may be.
pub const MAX_HELD: usize = 16 << 20;

/// The output of one callback. It holds opened values: no `Debug`.
#[derive(Default)]
pub struct CallbackOutput {
    /// So many of the bytes that came pass unchanged, and nothing else was written for the side that they go to. If it is 0, the
    /// bytes for that side are below.
    pub unchanged: usize,
    /// Bytes for the server. In a callback with the server's bytes they are what must be sent ahead of the client's next bytes.
    pub to_server: Vec<u8>,
    /// Bytes for the client.
    pub to_client: Vec<u8>,
    /// What the host must fetch, whose responses it gives to the session's `answered`.
    pub fetch: Vec<Fetch>,
    /// Whether the session waited for the server and no longer does, so that the host must give it the client's bytes again.
    pub resume: bool,
    /// Whether the host must close the connection on both sides.
    pub close: bool,
}

impl CallbackOutput {
    /// Empties it and overwrites what it held, but keeps its memory.
    pub fn clear(&mut self) {
        for bytes in [&mut self.to_server, &mut self.to_client] {
            bytes.fill(0);
            // The compiler must not leave this out where the memory is freed right afterwards.
            std::hint::black_box(&mut *bytes);
            bytes.clear();
        }
        self.fetch.clear();
        (self.unchanged, self.resume, self.close) = (0, false, false);
    }

    /// Counts the bytes of memory that it has.
    pub fn memory(&self) -> usize {
        self.to_server.capacity().saturating_add(self.to_client.capacity())
    }
}

/// The result of reading the next message of either side. A number of bytes may exceed those that have arrived.
pub(crate) enum Step {
    /// So many of the bytes that have arrived were read, and what goes on in their place was written.
    Took(usize),
    /// The same; what follows them is not read as a message.
    TookHead(usize, Unread),
    /// So many bytes pass unchanged, behind what was written.
    Pass(usize),
    /// So many bytes are dropped.
    Drop(usize),
    /// More bytes are needed, or the session waits.
    More,
}

/// The rest of a message of which only the head was read.
pub(crate) enum Unread {
    /// So many bytes pass unchanged.
    Pass(usize),
    /// So many bytes are read piece by piece, as they arrive.
    Pieces(usize),
}

/// Why the client's bytes are held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    No,
    /// They wait for this many fetches.
    Fetches(usize),
    /// They wait for the server's response to a query of the filter's: for the session's identity, or the catalog.
    Server,
    /// They wait for pending responses.
    Answers,
}

/// The parts of one connection that do not depend on its protocol.
///
/// Large: it joins the parts of a connection, and has a method for each event of all of them.
pub(crate) struct Core {
    pub worker: Rc<RefCell<Worker>>,
    pub ports: Rc<RefCell<dyn Ports>>,
    /// The time of this callback.
    pub now_ms: u64,
    pub waiting: Waiting,
    pub policy: PolicyGate,
    pub catalog: CatalogState,
    pub identity: SessionIdentity,
    pub memory: MemoryUse,
    pub audit: SessionAudit,
    /// The worker's buffers, while this callback treats values.
    buffers: Option<Box<Buffers>>,
    /// How many bytes of values this callback may still write.
    output_limit: OutputLimit,
}

impl Core {
    /// Makes the core of a new connection of this client.
    pub fn new(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<dyn Ports>>, client: Client) -> Self {
        let audit = SessionAudit::new(&worker, &ports);
        let memory = MemoryUse::new(&worker, &ports, &client.source);
        let policy = PolicyGate::new(&worker, client);
        Self {
            worker,
            ports,
            now_ms: 0,
            waiting: Waiting::No,
            policy,
            catalog: CatalogState::default(),
            identity: SessionIdentity::default(),
            memory,
            audit,
            buffers: None,
            output_limit: OutputLimit::default(),
        }
    }

    /// Begins a callback. Within it neither the clock nor the principal's plan and keys change.
    pub fn begin_callback(&mut self) {
        self.now_ms = self.ports.borrow().now_ms();
        self.policy.begin_callback();
        self.audit.begin_callback(self.now_ms);
    }

    /// Begins a callback with the server's bytes. The time matters only where something is protected or was asked for.
    pub fn begin_answer(&mut self) {
        if self.policy.protects() || self.is_waiting() {
            self.begin_callback();
        }
    }

    /// Notes how many bytes this callback reads, which limits how many bytes of values it may write.
    pub fn begin_output(&mut self, bytes: usize) {
        self.output_limit = OutputLimit::of(bytes);
    }

    /// Counts bytes of a value that were written.
    pub fn charge_output(&mut self, bytes: usize) -> Result<(), ClientError> {
        self.output_limit.take(bytes).map_err(|OutputTooLong(limit)| ClientError::output_too_long(limit))
    }

    /// Ends a callback. `held` is how many bytes of messages that are not whole the session holds, `in_flight` how many its
    /// pending responses take.
    pub fn end_callback(&mut self, held: usize, in_flight: usize, out: &mut CallbackOutput) {
        if let Err(line) = self.memory.report(held, in_flight) {
            self.log(Level::Error, line);
            out.close = true;
        }
        if out.close {
            self.audit.note_end(Ended::Filter);
        }
        self.wipe_buffers();
        self.audit.write();
    }

    /// Ends the connection: the last lines of its audit are written. A second call does nothing.
    pub fn end(&mut self, how: Ended) {
        self.begin_callback();
        self.audit.end(how);
        self.wipe_buffers();
        self.audit.write();
    }

    fn wipe_buffers(&mut self) {
        if let Some(mut buffers) = self.buffers.take() {
            buffers.wipe();
            self.worker.borrow_mut().buffers = Some(buffers);
        }
    }

    /// Whether the client's bytes are to be held back.
    pub fn is_waiting(&self) -> bool {
        self.waiting != Waiting::No
    }

    /// Has these fetched before the client's next byte is read.
    pub fn wait_for(&mut self, fetches: Vec<Fetch>, out: &mut CallbackOutput) {
        self.waiting = Waiting::Fetches(fetches.len());
        out.fetch = fetches;
    }

    /// A fetch that this session asked for has ended; the worker has taken its answer, or `result` says why
    /// not. When [`Self::is_waiting`] turns false, give the session the client's bytes again.
    pub fn answered(&mut self, fetch: &Fetch, result: Result<(), String>) {
        if let Err(reason) = result {
            self.policy.note_failure(fetch, reason);
        }
        if let Waiting::Fetches(outstanding) = self.waiting {
            self.waiting = match outstanding.saturating_sub(1) {
                0 => Waiting::No,
                left => Waiting::Fetches(left),
            };
        }
    }

    /// Notes that the server has let the client in.
    pub fn authenticated(&mut self) {
        self.audit.note_authenticated();
        if self.policy.hold_plan(self.now_ms) {
            self.memory.belongs_to(&self.policy.input.session.user);
        }
    }

    /// Counts the bytes that a session of any protocol holds: the catalog while it is read, and tokens.
    pub fn bytes_of_state(&self) -> usize {
        self.catalog.bytes().saturating_add(self.identity.words.bytes())
    }

    pub fn log(&self, level: Level, line: &str) {
        self.ports.borrow().log(level, line);
    }
}
